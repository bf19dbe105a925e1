#include <doctest/doctest.h>

#include <vector>

#include "support/every_set.hpp"

using namespace hypertape;

TEST_CASE("rows become packs and packs rows, for every width and number of rows, and nothing else is written") {
  const Kernels& k = kernels(testing::every_set());
  constexpr double guard = -77.5;
  int wrong = 0;
  for (std::ptrdiff_t width = 1; width <= 37; ++width)
    for (std::ptrdiff_t n = 1; n <= pack_lanes; ++n) {
      const auto size = static_cast<std::size_t>(n * width), packed = static_cast<std::size_t>(width * pack_lanes);
      std::vector<double> rows(size + 8, guard), pack(packed + 8, guard);
      for (std::size_t e = 0; e < size; ++e) rows[e] = static_cast<double>(e + 1);
      const std::vector<double> start = rows;
      k.rows_to_pack(rows.data(), width, n, pack.data());
      for (std::ptrdiff_t j = 0; j < width; ++j)
        for (std::ptrdiff_t i = 0; i < pack_lanes; ++i)
          wrong += pack[static_cast<std::size_t>(j * pack_lanes + i)] !=
                   (i < n ? rows[static_cast<std::size_t>(i * width + j)] : guard);
      for (std::size_t e = packed; e < pack.size(); ++e) wrong += pack[e] != guard;

      k.add_pack_to_rows(pack.data(), width, n, rows.data());
      for (std::size_t e = 0; e < rows.size(); ++e) wrong += rows[e] != (e < size ? 2 * start[e] : guard);
      k.pack_to_rows(pack.data(), width, n, rows.data());
      wrong += rows != start;
    }
  CHECK(wrong == 0);
}
