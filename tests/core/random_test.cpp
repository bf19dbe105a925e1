#include "hypertape/core/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace hypertape;

TEST_CASE("the same seed gives the same numbers, another seed others") {
  Random a(7), b(7), c(8);
  const Vec va = a.normal(100), vb = b.normal(100), vc = c.normal(100);
  CHECK(va == vb);
  CHECK(va != vc);
}

TEST_CASE("the stream is fixed for all machines") {
  Random random(1);
  CHECK(random.uniform() == doctest::Approx(0.13387664401253274).epsilon(1e-15));
}

TEST_CASE("normal numbers have the moments of the normal distribution") {
  Random random(3);
  const Vec v = random.normal(100000);
  // Four standard errors of each moment.
  CHECK(std::abs(v.mean()) < 4 / std::sqrt(1e5));
  CHECK(std::abs(v.array().square().mean() - 1) < 4 * std::sqrt(2 / 1e5));
  CHECK(std::abs(v.array().cube().mean()) < 4 * std::sqrt(15 / 1e5));
  CHECK(std::abs(v.array().pow(4).mean() - 3) < 4 * std::sqrt(96 / 1e5));
}

TEST_CASE("below(n) meets every number about equally often") {
  Random random(5);
  std::array<int, 7> hits{};
  for (int k = 0; k < 70000; ++k) ++hits[random.below(7)];
  for (int h : hits) CHECK(std::abs(h - 10000) < 5 * std::sqrt(10000.0));
}
