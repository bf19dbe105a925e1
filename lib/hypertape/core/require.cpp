#include "hypertape/core/require.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace hypertape {

namespace {

/// Whether every exponent is below that of infinity, whose next one is a carry into the sign. On integers and without a
/// comparison, because that is what compilers vectorise for every processor: as fast as the numbers can be read.
bool all_finite(const Vec& v) {
  constexpr std::uint64_t exponent = 0x7ff0000000000000u, one = 0x0010000000000000u, sign = 0x8000000000000000u;
  std::uint64_t seen = 0;
  for (Index i = 0; i < v.size(); ++i) seen |= (std::bit_cast<std::uint64_t>(v.data()[i]) & exponent) + one;
  return (seen & sign) == 0;
}

}  // namespace

void require_vector(std::string_view where, std::string_view name, const Vec& v, Index expected) {
  require(v.size() == expected, where, ": ", name, " has ", v.size(), " entries, expected ", expected);
  if (all_finite(v)) return;
  Index i = 0;
  while (std::isfinite(v[i])) ++i;
  throw NotFinite(text(where, ": ", name, "[", i, "] = ", v[i], ", must be finite"));
}

}  // namespace hypertape
