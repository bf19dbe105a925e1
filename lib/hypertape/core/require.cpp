#include "hypertape/core/require.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "hypertape/core/parallel.hpp"

namespace hypertape {

namespace {

/// Whether every exponent is below that of infinity, whose next one is a carry into the sign. On integers and without a
/// comparison, because that is what compilers vectorise for every processor: as fast as the numbers can be read.
bool all_finite(const double* v, Index size) {
  constexpr std::uint64_t exponent = 0x7ff0000000000000u, one = 0x0010000000000000u, sign = 0x8000000000000000u;
  std::uint64_t seen = 0;
  for (Index i = 0; i < size; ++i) seen |= (std::bit_cast<std::uint64_t>(v[i]) & exponent) + one;
  return (seen & sign) == 0;
}

bool all_finite(const Vec& v, int threads) {
  constexpr Index chunks = max_threads, short_vector = 1 << 18;  // shorter ones take less time than waking threads
  if (threads <= 1 || v.size() <= short_vector) return all_finite(v.data(), v.size());
  std::array<bool, chunks> finite{};
  for_each_chunk(chunks, threads, [&](Index c, int) {
    const Index begin = c * v.size() / chunks, end = (c + 1) * v.size() / chunks;
    finite[static_cast<std::size_t>(c)] = all_finite(v.data() + begin, end - begin);
  });
  return std::all_of(finite.begin(), finite.end(), [](bool of_chunk) { return of_chunk; });
}

}  // namespace

void require_size(std::string_view where, std::string_view name, const Vec& v, Index expected) {
  require(v.size() == expected, where, ": ", name, " has ", v.size(), " entries, expected ", expected);
}

void require_vector(std::string_view where, std::string_view name, const Vec& v, Index expected, int threads) {
  require_size(where, name, v, expected);
  if (all_finite(v, threads)) return;
  Index i = 0;
  while (std::isfinite(v[i])) ++i;
  throw NotFinite(text(where, ": ", name, "[", i, "] = ", v[i], ", must be finite"));
}

}  // namespace hypertape
