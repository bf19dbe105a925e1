#include "hypertape/theory/constants.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

using namespace hypertape::theory;
using doctest::Approx;

namespace {

/// Relative to the value alone: doctest's own comparison takes everything below its scale of 1 for equal to 0.
Approx about(double value, double relative = 1e-12) { return Approx(value).epsilon(relative).scale(0); }

}  // namespace

TEST_CASE("constants of Phi for bilevel problems, worked out by hand") {
  // Different numbers everywhere, so that every coefficient counts.
  const Smoothness s{.l = 2, .mu = 0.5, .rho = 3, .nu = 5, .M = 7};
  const auto phi = bilevel(s);
  CHECK(phi.L == about(2 + 58 + 368 + 672));
  CHECK(phi.rho == about((3 + 94 + 608 + 1120) * 5 + (24 + 1104 + 2016) * 25 + (252 + 12) * 125));
  CHECK(phi.C_y == about(2 + 8 + 42 + 168));  // l + l^2 / mu + rho M / mu + rho l M / mu^2, maths.md (5)
  CHECK(phi.L == about(phi.C_y * (1 + s.kappa())));
}

TEST_CASE("constants of Phi at kappa = 100, all else 1") {
  const auto phi = bilevel({.l = 1, .mu = 0.01, .rho = 1, .nu = 1, .M = 1});
  CHECK(phi.L == about(1030301));        // 101^3
  CHECK(phi.rho == about(31526200701));  // 1030301 * 101 + 2060200 * 101^2 + 10100 * 101^3
  CHECK(phi.C_y == about(10201));
}

TEST_CASE("L grows like kappa^3 and rho like kappa^5") {
  const auto at = [](double kappa) { return bilevel({.l = 1, .mu = 1 / kappa, .rho = 1, .nu = 1, .M = 1}); };
  CHECK(std::log10(at(1e7).L / at(1e6).L) == about(3, 1e-4));
  CHECK(std::log10(at(1e7).rho / at(1e6).rho) == about(5, 1e-4));
}

TEST_CASE("constants of Phi for minimax problems") {
  // l = 20, mu = 10, rho = 2 are those of the W-shaped minimax problem on |x_3| <= 0.6.
  const auto phi = minimax({.l = 20, .mu = 10, .rho = 2});
  CHECK(phi.L == about(60));
  CHECK(phi.rho == about(64 * std::sqrt(2)));
  CHECK(phi.C_y == about(20));
}

TEST_CASE("a quadratic lower level attains the a-posteriori bound") {
  // g = a y^2 / 2 - c x y, f = b y^2 / 2: y* = c x / a, v* = b y / a, u = c v, grad Phi = c b y* / a.
  const double a = 3, b = 5, c = 7, x = 1.25;
  for (const double y : {4.0, 17.0}) {
    CAPTURE(y);
    const double v = y > c * x / a ? b * y / a + 0.5 : b * y / a - 0.5;  // both errors have the same sign
    const double error = std::abs(c * v - c * b * (c * x / a) / a);
    const double bound = hypergradient_error(c * b / a, c, a, std::abs(a * y - c * x), std::abs(a * v - b * y));
    CHECK(bound == about(error));
  }
}

TEST_CASE("a range that is violated is named with its value") {
  Smoothness s{.l = 2, .mu = 1, .rho = 1, .nu = 1, .M = 1};
  CHECK_NOTHROW(s.check());
  SUBCASE("l") {
    s.l = 0;
    CHECK_THROWS_WITH(bilevel(s), "smoothness: l = 0, must be finite and positive");
  }
  SUBCASE("mu above l") {
    s.mu = 3;
    CHECK_THROWS_WITH(bilevel(s), "smoothness: mu = 3, must satisfy 0 < mu <= l = 2");
  }
  SUBCASE("mu not a number") {
    s.mu = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(minimax(s), "smoothness: mu = nan, must satisfy 0 < mu <= l = 2");
  }
  SUBCASE("rho") {
    s.rho = -1;
    CHECK_THROWS_WITH(minimax(s), "smoothness: rho = -1, must be finite and not negative");
  }
  SUBCASE("nu") {
    s.nu = -2;
    CHECK_THROWS_WITH(bilevel(s), "smoothness: nu = -2, must be finite and not negative");
  }
  SUBCASE("M") {
    s.M = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH(bilevel(s), "smoothness: M = inf, must be finite and not negative");
  }
  SUBCASE("error bound") {
    CHECK_THROWS_WITH(hypergradient_error(1, 1, 0, 1, 1), "hypergradient_error: mu = 0, must be finite and positive");
    CHECK_THROWS_WITH(hypergradient_error(1, 1, 1, 1, -1),
                      "hypergradient_error: cg_residual = -1, must be finite and not negative");
  }
}
