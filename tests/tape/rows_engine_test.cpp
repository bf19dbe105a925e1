#include "hypertape/tape/rows_engine.hpp"

#include <doctest/doctest.h>

#include "tape/random_functions.hpp"

using namespace hypertape;

TEST_CASE("random functions have the derivatives that CppAD's sweeps give them") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto difference = testing::difference_of(seed, Engine::rows, 1e-12);
    CHECK_MESSAGE(!difference, difference.value_or(""));
  }
}
