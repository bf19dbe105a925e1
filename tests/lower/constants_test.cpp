#include "hypertape/lower/constants.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/hand_written_oracle.hpp"

namespace hypertape {
namespace {

using problems::norm2;

/// A^(-1/2).
Mat inverse_root(const Mat& A) {
  const Mat V = problems::symmetric_eigenvectors(A);
  const Vec w = problems::symmetric_eigenvalues(A).array().rsqrt();
  return V * w.asDiagonal() * V.transpose();
}

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
    exact.gain_v = norm2(q.C.transpose() * inverse_root(q.A));
    exact.gain_y = exact.gain_v / exact.mu;  // f = |y - d|^2 / 2 + ..., d2g/dxdy constant
  }
};

LowerConstants measured(BilevelOracle& oracle, const Point& at, const LowerOptions& given, std::uint64_t seed) {
  LowerConstants out = curvature_constants(oracle, at, given, seed);
  measure_gains(oracle, at, given, seed, out);
  return out;
}

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
        const LowerConstants all = measured(oracle, instance.problem.start, {}, seed);
        CHECK(within(all.l, exact.l, 0.9, 1.2));
        CHECK(all.mu <= exact.mu);  // as many Lanczos steps as dimensions
        CHECK(all.mu >= 0.4 * exact.mu);
        CAPTURE(all.gain_v / exact.gain_v);
        CAPTURE(all.gain_y / exact.gain_y);
        CHECK(within(all.gain_v, exact.gain_v, 0.9, 1.3));
        CHECK(within(all.gain_y, exact.gain_y, 0.75, 1.6));  // safe twice over: its own factor, and that of gain_v
      }
}

TEST_CASE("gains from cross and c_y, where they are given") {
  Instance instance({10, 40}, 100, 1);
  CountingOracle oracle(*instance.problem.oracle);
  const LowerConstants out = measured(oracle, instance.problem.start, {.mu = 0.25, .l = 77, .cross = 88, .c_y = 99}, 1);
  CHECK(out.mu == 0.25);
  CHECK(out.l == 77);
  CHECK(out.gain_v == 88 / 0.5);
  CHECK(out.gain_y == 99 / 0.5);
  CHECK(oracle.counts() == OracleCounts{});
}

TEST_CASE("what is given costs nothing, what is not as much as is said") {
  Instance instance({10, 40}, 100, 1);
  CountingOracle oracle(*instance.problem.oracle);
  const Point& at = instance.problem.start;
  const auto curvature = [&](const LowerOptions& given) {
    oracle.reset_counts();
    return curvature_constants(oracle, at, given, 1);
  };
  curvature({});
  CHECK(oracle.counts() == OracleCounts{.hv = 30});
  CHECK(curvature({.mu = 0.001}).mu == 0.001);
  CHECK(oracle.counts() == OracleCounts{.hv = 10});
  CHECK(curvature({.l = 77}).l == 77);
  CHECK(oracle.counts() == OracleCounts{.hv = 30});
  curvature({.mu = 0.5, .l = 77});
  CHECK(oracle.counts() == OracleCounts{});

  LowerConstants constants = instance.exact;
  oracle.reset_counts();
  measure_gains(oracle, at, {.c_y = 1}, 1, constants);
  CHECK(oracle.counts().jv == 11);
  CHECK(oracle.counts().hv <= 6 * 60);
  CHECK(oracle.counts().f + oracle.counts().g == 0);
  oracle.reset_counts();
  measure_gains(oracle, at, {.cross = 1}, 1, constants);
  CHECK(oracle.counts().jv == 10);
  CHECK(oracle.counts().f == 11);
  CHECK(oracle.counts().hv <= 7 * 60 + 15);
  CHECK(oracle.counts().g == 0);
}

TEST_CASE("gain_y sees the curvature of f in y and the mixed derivatives of f") {
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
  const Mat R = inverse_root(a.asDiagonal());
  const Point at{random.normal(4), random.normal(8)};
  const LowerConstants found = measured(problem, at, {.mu = 1, .l = 8}, 1);
  const double gain_v = norm2(C.transpose() * R), from_f = gain_v * norm2(R * F * R);
  CHECK(within(found.gain_v, gain_v, 0.98, 1.35));
  // The part of E is not found by power iteration of its own, but it is not left out.
  CHECK(found.gain_y > from_f);
  CHECK(within(found.gain_y, norm2(E * R) + from_f, 0.75, 1.8));
  // Never less than the truth, which is both parts together.
  CHECK(found.gain_y > norm2(E * R + C.transpose() * R * R * F * R));
  // Without f there is nothing: the hypergradient does not depend on y.
  TapedProblem nothing = make_bilevel(
      {1, 1}, [](const auto& x, const auto&) { return x[0] * x[0]; },
      [](const auto& x, const auto& y) { return y[0] * y[0] - x[0] * y[0]; });
  CHECK(measured(nothing, {Vec{{1.0}}, Vec{{1.0}}}, {}, 1).gain_y < 1e-9);
}

TEST_CASE("gain_v where d2g/dxdy depends on y") {
  // d2g/dxdy = diag(exp(x) y): zero at y = 0, where ridge regression starts, and not at y*.
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    auto problem = problems::make_ridge(problems::generate_ridge({.seed = seed}));
    const Vec& x = problem.start.x;
    const Vec y = problem.closed_form.y_star(x);
    Mat H(y.size(), y.size());
    for (Index j = 0; j < y.size(); ++j) H.col(j) = problem.oracle->curvature_at(x, y)(Vec::Unit(y.size(), j));
    const Vec weights = x.array().exp() * y.array();
    const double exact = norm2(weights.asDiagonal() * inverse_root(H));
    CHECK(within(measured(*problem.oracle, {x, y}, {}, seed).gain_v, exact, 0.9, 1.35));
  }
}

TEST_CASE("without adjoint products gain_v comes from the Frobenius norm, and is never far below") {
  testing::HandWrittenOracle oracle;
  const Mat C{{1.0, 0.5, -0.25}, {0.0, 2.0, 0.75}, {-1.0, 0.125, 1.5}};
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    CAPTURE(seed);
    const LowerConstants found = measured(oracle, {Vec::Ones(3), Vec::Zero(3)}, {}, seed);
    CHECK(found.gain_v >= 0.9 * norm2(C) / std::sqrt(2 * found.mu));
    CHECK(found.gain_v <= 2 * C.norm() / std::sqrt(found.mu));
  }
}

TEST_CASE("the same seed gives the same estimates") {
  Instance instance({10, 40}, 100, 2);
  const auto ask = [&](std::uint64_t seed) {
    return measured(*instance.problem.oracle, instance.problem.start, {}, seed);
  };
  const LowerConstants a = ask(5), b = ask(5), c = ask(6);
  CHECK(a.mu == b.mu);
  CHECK(a.l == b.l);
  CHECK(a.gain_v == b.gain_v);
  CHECK(a.gain_y == b.gain_y);
  CHECK(a.gain_v != c.gain_v);
}

TEST_CASE("a lower level without strong convexity, or without numbers, shows in mu") {
  testing::HandWrittenOracle not_convex(testing::Bug::not_convex);
  const LowerConstants out = measured(not_convex, {Vec::Zero(3), Vec::Zero(3)}, {}, 1);
  CHECK(out.mu == doctest::Approx(-0.5));
  CHECK(out.l == doctest::Approx(2.2));
  CHECK(out.gain_v == 0);

  TapedProblem not_a_number = make_bilevel(
      {1, 1}, [](const auto& x, const auto& y) { return x[0] * y[0]; },
      [](const auto& x, const auto& y) { return 0.5 * y[0] * y[0] * sqrt(x[0]); });
  const LowerConstants nothing = measured(not_a_number, {Vec{{-1.0}}, Vec{{1.0}}}, {}, 1);
  CHECK_FALSE(nothing.mu > 0);
  CHECK(std::isnan(nothing.mu));
}

}  // namespace hypertape
