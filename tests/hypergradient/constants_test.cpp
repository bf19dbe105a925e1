#include "hypertape/hypergradient/constants.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/hand_written_oracle.hpp"

namespace hypertape {
namespace {

using problems::norm2;

/// A random quadratic and its exact constants.
struct Instance {
  problems::Quadratic q;
  problems::Problem problem;
  LowerConstants exact;

  Instance(Dims dims, double kappa, std::uint64_t seed)
      : q(problems::generate_quadratic({.dims = dims, .kappa = kappa, .seed = seed})),
        problem(problems::make_quadratic(q)) {
    exact.mu = problem.constants.mu;
    exact.l = problem.constants.l;
    exact.cross = norm2(q.C);
    exact.c_y = exact.cross / exact.mu;  // f = |y - d|^2 / 2 + ..., d2g/dxdy constant
  }
};

bool within(double estimate, double exact, double low, double high) {
  return estimate >= low * exact && estimate <= high * exact;
}

}  // namespace

TEST_CASE("estimates are near the exact values on random quadratics") {
  for (const Dims& dims : {Dims{10, 20}, Dims{25, 25}, Dims{40, 12}, Dims{1, 5}})
    for (const double kappa : {1.0, 10.0, 1000.0})
      for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        CAPTURE(dims.x);
        CAPTURE(dims.y);
        CAPTURE(kappa);
        CAPTURE(seed);
        Instance instance(dims, kappa, seed);
        const LowerConstants& exact = instance.exact;
        BilevelOracle& oracle = *instance.problem.oracle;
        const Point& at = instance.problem.start;
        const LowerConstants all = lower_constants(oracle, at, {}, Wanted::error_bound, seed);
        CHECK(within(all.l, exact.l, 0.9, 1.2));
        CHECK(all.mu <= exact.mu);  // as many Lanczos steps as dimensions
        CHECK(all.mu >= 0.4 * exact.mu);
        CHECK(within(all.cross, exact.cross, 0.9, 1.25));
        // c_y is made of the mu and the cross that are in force.
        CHECK(within(all.c_y, all.cross / all.mu, 0.9, 1.25));
        const LowerConstants c_y = lower_constants(oracle, at, {.mu = exact.mu, .l = exact.l, .cross = exact.cross},
                                                   Wanted::error_bound, seed);
        CHECK(within(c_y.c_y, exact.c_y, 0.9, 1.25));
      }
}

TEST_CASE("c_y sees the curvature of f in y and the mixed derivatives of f") {
  // f = y'F y / 2 + x'E y, g = y'A y / 2 - y'C x: grad Phi as a function of y is E y + C'A^-1 (F y + E'x) + ...
  Random random(3);
  const Mat root = random.normal(8, 8), F = root * root.transpose() / 8, C = random.normal(8, 4),
            E = random.normal(4, 8);
  const Vec a{{1, 2, 3, 4, 5, 6, 7, 8}};
  TapedProblem problem = make_bilevel(
      {4, 8}, [F, E](const auto& x, const auto& y) { return 0.5 * y.dot((F * y).eval()) + x.dot((E * y).eval()); },
      [a, C](const auto& x, const auto& y) {
        return 0.5 * y.dot((a.asDiagonal() * y).eval()) - y.dot((C * x).eval());
      });
  const double cross = norm2(C);
  const LowerConstants found = lower_constants(problem, {random.normal(4), random.normal(8)},
                                               {.mu = 1, .l = 8, .cross = cross}, Wanted::error_bound, 1);
  // The part of E is not found by power iteration of its own, but it is not left out.
  CHECK(within(found.c_y, norm2(E) + cross * norm2(F), 0.75, 1.25));
  CHECK(found.c_y > 0.98 * cross * norm2(F));
  // Without f there is nothing: the hypergradient does not depend on y.
  TapedProblem nothing = make_bilevel(
      {1, 1}, [](const auto& x, const auto&) { return x[0] * x[0]; },
      [](const auto& x, const auto& y) { return y[0] * y[0] - x[0] * y[0]; });
  CHECK(lower_constants(nothing, {Vec{{1.0}}, Vec{{1.0}}}, {}, Wanted::error_bound, 1).c_y < 1e-9);
}

TEST_CASE("cross is that near y*, not that at the start") {
  // d2g/dxdy = diag(exp(x) y) is zero at y = 0, where ridge regression starts.
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    auto problem = problems::make_ridge(problems::generate_ridge({.seed = seed}));
    const Vec& x = problem.start.x;
    const double exact = (x.array().exp() * problem.closed_form.y_star(x).array()).abs().maxCoeff();
    const LowerConstants found = lower_constants(*problem.oracle, problem.start, {}, Wanted::error_bound, seed);
    CHECK(within(found.cross, exact, 0.9, 1.25));
    CHECK(within(found.l, problem.constants.l, 0.9, 1.2));
    CHECK(found.mu <= problem.constants.mu);
  }
}

TEST_CASE("without adjoint products cross is the Frobenius norm, about, and never far below the norm") {
  testing::HandWrittenOracle oracle;
  const Mat C{{1.0, 0.5, -0.25}, {0.0, 2.0, 0.75}, {-1.0, 0.125, 1.5}};
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    CAPTURE(seed);
    const LowerConstants found = lower_constants(oracle, {Vec::Ones(3), Vec::Zero(3)}, {}, Wanted::error_bound, seed);
    CHECK(found.cross >= 0.9 * norm2(C));
    CHECK(found.cross <= 2 * C.norm());
  }
}

TEST_CASE("what is given is left alone, and costs nothing") {
  Instance instance({10, 40}, 100, 1);
  CountingOracle oracle(*instance.problem.oracle);
  const Point& at = instance.problem.start;
  const auto ask = [&](const LowerOptions& given, Wanted wanted) {
    oracle.reset_counts();
    return lower_constants(oracle, at, given, wanted, 1);
  };
  const LowerOptions wrong{.mu = 0.5, .l = 77, .cross = 88, .c_y = 99};  // wrong, but given
  SUBCASE("all of them") {
    const LowerConstants out = ask(wrong, Wanted::error_bound);
    CHECK(out.mu == 0.5);
    CHECK(out.l == 77);
    CHECK(out.cross == 88);
    CHECK(out.c_y == 99);
    CHECK(oracle.counts() == OracleCounts{});
  }
  SUBCASE("those of the lower level, which are all that is wanted") {
    const LowerConstants out = ask({.mu = 0.5, .l = 77}, Wanted::curvature);
    CHECK(out.mu == 0.5);
    CHECK(out.l == 77);
    CHECK(out.cross == 0);
    CHECK(out.c_y == 0);
    CHECK(oracle.counts() == OracleCounts{});
  }
  SUBCASE("nothing: the curvature alone") {
    ask({}, Wanted::curvature);
    CHECK(oracle.counts() == OracleCounts{.hv = 30});
  }
  SUBCASE("mu") {
    const LowerConstants out = ask({.mu = 0.001}, Wanted::curvature);
    CHECK(out.mu == 0.001);
    CHECK(within(out.l, 1, 0.9, 1.2));
    CHECK(oracle.counts() == OracleCounts{.hv = 10});
  }
  SUBCASE("l") {
    const LowerConstants out = ask({.l = 77}, Wanted::curvature);
    CHECK(out.l == 77);
    CHECK(out.mu > 0);
    CHECK(oracle.counts() == OracleCounts{.hv = 30});
  }
  SUBCASE("all but cross") {
    const LowerConstants out = ask({.mu = 0.5, .l = 77, .c_y = 99}, Wanted::error_bound);
    CHECK(out.mu == 0.5);
    CHECK(out.l == 77);
    CHECK(out.c_y == 99);
    CHECK(within(out.cross, instance.exact.cross, 0.9, 1.25));
    CHECK(oracle.counts() == OracleCounts{.g = 50, .jv = 10});
  }
  SUBCASE("all but c_y") {
    const LowerConstants out = ask({.mu = 0.5, .l = 77, .cross = 88}, Wanted::error_bound);
    CHECK(out.cross == 88);
    CHECK(within(out.c_y, 88 / 0.5, 0.9, 1.25));
    CHECK(oracle.counts() == OracleCounts{.f = 9, .g = 50, .jv = 8, .hv = 28});
  }
  SUBCASE("nothing") {
    ask({}, Wanted::error_bound);
    CHECK(oracle.counts() == OracleCounts{.f = 9, .g = 50, .jv = 18, .hv = 58});
  }
}

TEST_CASE("the same seed gives the same estimates") {
  Instance instance({10, 40}, 100, 2);
  const auto ask = [&](std::uint64_t seed) {
    return lower_constants(*instance.problem.oracle, instance.problem.start, {}, Wanted::error_bound, seed);
  };
  const LowerConstants a = ask(5), b = ask(5), c = ask(6);
  CHECK(a.mu == b.mu);
  CHECK(a.l == b.l);
  CHECK(a.cross == b.cross);
  CHECK(a.c_y == b.c_y);
  CHECK(a.cross != c.cross);
}

TEST_CASE("a lower level without strong convexity, or without numbers, shows in mu") {
  testing::HandWrittenOracle not_convex(testing::Bug::not_convex);
  const LowerConstants out = lower_constants(not_convex, {Vec::Zero(3), Vec::Zero(3)}, {}, Wanted::error_bound, 1);
  CHECK(out.mu == doctest::Approx(-0.5));
  CHECK(out.l == doctest::Approx(2.2));

  TapedProblem not_a_number = make_bilevel(
      {1, 1}, [](const auto& x, const auto& y) { return x[0] * y[0]; },
      [](const auto& x, const auto& y) { return 0.5 * y[0] * y[0] * sqrt(x[0]); });
  const LowerConstants nothing = lower_constants(not_a_number, {Vec{{-1.0}}, Vec{{1.0}}}, {}, Wanted::error_bound, 1);
  CHECK_FALSE(nothing.mu > 0);
  CHECK(std::isnan(nothing.mu));
}

}  // namespace hypertape
