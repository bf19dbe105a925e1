#include "hypertape/verify/differences.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace hypertape;

namespace {

const Value smooth = [](const Vec& x, const Vec& y) { return std::exp(x[0]) * std::sin(y[0]); };
const Point at{Vec{{0.3}}, Vec{{0.7}}};
const Point dx{Vec{{1}}, Vec{{0}}}, dy{Vec{{0}}, Vec{{1}}};

}  // namespace

TEST_CASE("derivatives come out with many digits and an honest error") {
  const Differences d(smooth, at);
  const double noise = d.noise(dx);
  const Estimate first = d.first(dx, noise), mixed = d.second(dx, dy, noise), twice = d.second(dy, dy, noise);
  const double e = std::exp(0.3), s = std::sin(0.7), c = std::cos(0.7);
  CHECK(std::abs(first.value - e * s) < 1e-12);
  CHECK(std::abs(mixed.value - e * c) < 1e-10);
  CHECK(std::abs(twice.value + e * s) < 1e-10);
  CHECK(std::abs(first.value - e * s) <= 20 * first.error);
  CHECK(std::abs(mixed.value - e * c) <= 20 * mixed.error);
  CHECK(first.error < 1e-10);
}

TEST_CASE("orders tell a right derivative from a wrong one") {
  const Differences d(smooth, at);
  const double noise = d.noise(dx);
  const double first = std::exp(0.3) * std::sin(0.7), mixed = std::exp(0.3) * std::cos(0.7);
  CHECK(d.first_order(dx, first, noise) == doctest::Approx(2).epsilon(0.02));
  CHECK(d.first_order(dx, first * 1.001, noise) == doctest::Approx(1).epsilon(0.02));
  CHECK(d.second_order(dx, dy, mixed, noise) == doctest::Approx(3).epsilon(0.02));
  CHECK(d.second_order(dx, dy, mixed * 1.001, noise) == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("a remainder of zero has no order") {
  const Value quadratic = [](const Vec& x, const Vec& y) { return x[0] * y[0]; };
  const Differences d(quadratic, at);
  CHECK(std::isnan(d.second_order(dx, dy, 1.0, d.noise(dx))));
  CHECK(std::isnan(d.first_order(dx, 0.7, d.noise(dx))));
}

TEST_CASE("noise is seen: rounding far above that of the value") {
  const Value cancelling = [](const Vec& x, const Vec&) { return (x[0] + 1e8) - 1e8; };
  const Differences d(cancelling, at);
  CHECK(d.noise(dx) > 1e-10);
  CHECK(d.noise(dx) < 1e-7);
  const Differences clean(smooth, at);
  CHECK(clean.noise(dx) < 1e-14);
  const Estimate first = d.first(dx, d.noise(dx));
  CHECK(std::abs(first.value - 1) <= 20 * first.error);
}

TEST_CASE("a kink and a domain that ends close by are survived") {
  const Value kink = [](const Vec& x, const Vec&) {
    return x[0] > 0.301 ? x[0] * x[0] + 5 * (x[0] - 0.301) : x[0] * x[0];
  };
  const Differences at_kink(kink, at);
  CHECK(at_kink.first(dx, at_kink.noise(dx)).value == doctest::Approx(0.6).epsilon(1e-9));
  const Value half_line = [](const Vec& x, const Vec&) { return std::log(x[0] - 0.299); };
  const Differences at_edge(half_line, at);
  CHECK(at_edge.first(dx, at_edge.noise(dx)).value == doctest::Approx(1 / 0.001).epsilon(1e-6));
}
