#include "hypertape/core/require.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace hypertape;

TEST_CASE("a requirement that holds says nothing, one that fails says all its pieces") {
  CHECK_NOTHROW(require(true, "never seen"));
  CHECK_THROWS_WITH_AS(require(false, "rahgd: theta = ", 1.5, ", must satisfy 0 < theta < 1"),
                       "rahgd: theta = 1.5, must satisfy 0 < theta < 1", std::invalid_argument);
}

TEST_CASE("vectors of the wrong size or with entries that are not finite are named") {
  CHECK_NOTHROW(require_vector("here", "v", Vec::Ones(3), 3));
  CHECK_THROWS_WITH_AS(require_vector("here", "v", Vec::Ones(2), 3), "here: v has 2 entries, expected 3",
                       std::invalid_argument);
  Vec v = Vec::Ones(3);
  v[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(require_vector("here", "v", v, 3), "here: v[1] = nan, must be finite", std::invalid_argument);
  v[1] = -std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(require_vector("here", "v", v, 3), "here: v[1] = -inf, must be finite", std::invalid_argument);
}
