#include "hypertape/core/require.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

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

TEST_CASE("every finite number is accepted, wherever it stands, and nothing else is, on any number of threads") {
  using Limits = std::numeric_limits<double>;
  const Index size = (1 << 18) + 77;  // long enough for several threads
  Vec v = Vec::Zero(size);
  for (const int threads : {1, 3}) {
    for (const Index i : {Index{0}, Index{1}, size / 2, size - 1}) {
      for (const double good : {Limits::max(), Limits::lowest(), Limits::denorm_min(), -0.0, -1e-310}) {
        v[i] = good;
        CHECK_NOTHROW(require_vector("here", "v", v, size, threads));
      }
      for (const double bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN(),
                               Limits::signaling_NaN()}) {
        v[i] = bad;
        const std::string place = "here: v[" + std::to_string(i) + "] = ";
        CHECK_THROWS_WITH_AS(require_vector("here", "v", v, size, threads), doctest::Contains(place.c_str()),
                             NotFinite);
      }
      v[i] = 0;
    }
  }
}
