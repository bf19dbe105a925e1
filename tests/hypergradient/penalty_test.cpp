#include "hypertape/hypergradient/penalty.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "hypergradient/instances.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::relative;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Instance : testing::Instance {
  explicit Instance(double kappa, std::uint64_t seed = 1) : testing::Instance(kappa, seed) { exact.most = 100'000; }

  /// argmin of g + f / lambda.
  Vec z_star(double lambda) const {
    const Mat H = q.A + Mat::Identity(20, 20) / lambda;
    return problems::Cholesky(H).solve(q.C * q.x0 + q.b + q.d / lambda);
  }
};

}  // namespace

TEST_CASE("u tends to grad Phi, and phi to Phi, ten times closer for each decade of lambda") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    Instance instance(10, seed);
    const Vec& x = instance.q.x0;
    const Vec gradient = instance.problem.closed_form.grad_phi(x);
    const double phi = instance.problem.closed_form.phi(x);
    double error_before = 0, phi_before = 0;
    for (const double lambda : {1e2, 1e3, 1e4, 1e5}) {
      CAPTURE(lambda);
      PenaltyGradient estimator(*instance.problem.oracle, instance.exact, lambda, instance.problem.start, 1);
      const Hypergradient& h = estimator.at(x, 1e-8);
      REQUIRE(h.status == Status::converged);
      const double error = (h.u - gradient).norm(), phi_error = std::abs(h.phi - phi);
      // The bias at the exact z is C'A^-1 (z - y*), which is known here. lambda times the rounding of y and z is left.
      const Vec z = instance.z_star(lambda), y = instance.problem.closed_form.y_star(x);
      const double bias = (instance.q.C.transpose() * problems::Cholesky(instance.q.A).solve(z - y)).norm();
      CHECK(error == doctest::Approx(bias).epsilon(1e-3));
      if (error_before > 0) {
        CHECK(error_before / error == doctest::Approx(10).epsilon(0.15));
        CHECK(phi_before / phi_error == doctest::Approx(10).epsilon(0.15));
      }
      error_before = error;
      phi_before = phi_error;
    }
  }
}

TEST_CASE("the bound holds on quadratics, and is not far off where all is solved accurately") {
  for (const double kappa : {1.0, 10.0, 50.0})
    for (const double lambda : {10.0, 1e3, 1e5})
      for (const double sigma : {1e-1, 1e-3, 1e-5}) {
        CAPTURE(kappa);
        CAPTURE(lambda);
        CAPTURE(sigma);
        Instance instance(kappa, 4);
        const Vec& x = instance.q.x0;
        PenaltyGradient estimator(*instance.problem.oracle, instance.exact, lambda, instance.problem.start, 1);
        const Hypergradient& h = estimator.at(x, sigma);
        REQUIRE(h.status == Status::converged);
        const double error = (h.u - instance.problem.closed_form.grad_phi(x)).norm();
        CHECK(error <= h.error_bound);
        // Half of sigma for y and z, the bias for the rest.
        const double apart = (instance.z_star(lambda) - instance.problem.closed_form.y_star(x)).norm();
        CHECK(h.error_bound <=
              0.6 * sigma + 1.1 * *instance.exact.c_y * std::sqrt(*instance.exact.l / *instance.exact.mu) * apart);
      }
}

TEST_CASE("with fixed numbers of steps the bound holds, too") {
  for (const int steps : {1, 5, 50}) {
    CAPTURE(steps);
    Instance instance(10, 5);
    LowerOptions options = instance.exact;
    options.steps = steps;
    PenaltyGradient estimator(*instance.problem.oracle, options, 100, instance.problem.start, 1);
    CHECK_FALSE(estimator.adapts());
    const Hypergradient& h = estimator.at(instance.q.x0, 0);
    CHECK((h.u - instance.problem.closed_form.grad_phi(instance.q.x0)).norm() <= h.error_bound);
  }
}

TEST_CASE("no product once the constants are given, and gradients as many as are said") {
  Instance instance(10);
  CountingOracle oracle(*instance.problem.oracle);
  const Vec& x = instance.q.x0;
  SUBCASE("until certified") {
    PenaltyGradient estimator(oracle, instance.exact, 100, instance.problem.start, 1);
    CHECK(oracle.counts() == OracleCounts{});
    CHECK(estimator.adapts());
    estimator.at(x, 1e-4);
    const OracleCounts cold = oracle.counts();
    CHECK(cold.jv == 0);
    CHECK(cold.hv == 0);
    CHECK(cold.f > 10);
    oracle.reset_counts();
    estimator.at(x, 1e-4);  // y and z are there: one gradient each to see it
    CHECK(oracle.counts() == OracleCounts{.f = 2, .g = 4});
    estimator.restart_from(Vec::Zero(20));
    oracle.reset_counts();
    estimator.at(x, 1e-4);
    CHECK(oracle.counts() == cold);
  }
  SUBCASE("fixed numbers of steps") {
    LowerOptions options = instance.exact;
    for (const int T : {1, 6}) {
      CAPTURE(T);
      options.steps = T;
      oracle.reset_counts();
      PenaltyGradient estimator(oracle, options, 100, instance.problem.start, 1);
      estimator.at(x, 0);
      CHECK(oracle.counts() == OracleCounts{.f = T + 1, .g = 2 * T + 2});
    }
  }
  SUBCASE("a step and a momentum are enough without a bound") {
    PenaltyGradient estimator(oracle, {.alpha = 1, .beta = 0.5, .steps = 3}, 100, instance.problem.start, 1);
    CHECK(estimator.at(x, 0).error_bound == infinity);
    CHECK(oracle.counts() == OracleCounts{.f = 4, .g = 8});
  }
}

TEST_CASE("u is what the formula says, of the y and z that the steps lead to") {
  Instance instance(10, 6);
  const auto& q = instance.q;
  const double lambda = 20, alpha = 0.8, beta = 0.3;
  PenaltyGradient estimator(*instance.problem.oracle, {.alpha = alpha, .beta = beta, .steps = 4}, lambda,
                            instance.problem.start, 1);
  const Hypergradient& h = estimator.at(q.x0, 0);
  const auto descend = [&](double step, double share_of_f) {
    Vec z = Vec::Zero(20), w = z;
    for (int t = 0; t < 4; ++t) {
      const Vec next = w - step * (q.A * w - q.C * q.x0 - q.b + share_of_f * (w - q.d));
      w = next + beta * (next - z);
      z = next;
    }
    return z;
  };
  const Vec y = descend(alpha, 0), z = descend(alpha / 2, 1 / lambda);
  CHECK(relative(estimator.y(), y) < 1e-13);
  CHECK(relative(h.u, q.D * q.x0 - lambda * q.C.transpose() * (z - y)) < 1e-12);
  const auto& [f, g] = instance.problem.plain;
  CHECK(h.phi == doctest::Approx(f(q.x0, z) + lambda * (g(q.x0, z) - g(q.x0, y))).epsilon(1e-12));
  CHECK(h.norm == h.u.norm());
}

TEST_CASE("where d2g/dxdy depends on y, with estimated constants") {
  // Ridge regression; the constants are estimates here, and so is the bound.
  auto problem = problems::make_ridge(problems::generate_ridge({.seed = 2}));
  const Vec& x = problem.start.x;
  const Vec gradient = problem.closed_form.grad_phi(x);
  double before = 0;
  for (const double lambda : {1e2, 1e3, 1e4}) {
    CAPTURE(lambda);
    PenaltyGradient estimator(*problem.oracle, {}, lambda, problem.start, 1);
    const Hypergradient& h = estimator.at(x, 1e-7);
    REQUIRE(h.status == Status::converged);
    const double error = (h.u - gradient).norm();
    CHECK(error <= h.error_bound);
    if (before > 0) CHECK(before / error == doctest::Approx(10).epsilon(0.2));
    before = error;
  }
}

TEST_CASE("an oracle without grad_x g is refused, and so is a lambda that is not positive") {
  testing::HandWrittenOracle without;
  const Point start{Vec::Ones(3), Vec::Zero(3)};
  const LowerOptions given{.mu = 1, .l = 10, .cross = 3, .c_y = 10};
  CHECK_THROWS_WITH_AS(PenaltyGradient(without, given, 10, start, 1),
                       "f2ba: needs grad_x g, which this oracle does not provide", std::invalid_argument);
  Instance instance(10);
  for (const double lambda : {0.0, -2.0})
    CHECK_THROWS_WITH_AS(PenaltyGradient(*instance.problem.oracle, instance.exact, lambda, instance.problem.start, 1),
                         doctest::Contains("f2ba: lambda = "), std::invalid_argument);
  CHECK_THROWS_AS(PenaltyGradient(*instance.problem.oracle, instance.exact, std::numeric_limits<double>::quiet_NaN(),
                                  instance.problem.start, 1),
                  std::invalid_argument);
}

TEST_CASE("answers that are not finite are a status, with the part that they are of") {
  const LowerOptions given{.mu = 1, .l = 1, .cross = 1, .c_y = 1};
  const Point start{Vec{{-1.0}}, Vec{{0.5}}};
  SUBCASE("g") {
    TapedProblem problem = make_bilevel(
        {1, 1}, [](const auto&, const auto& y) { return y[0] * y[0]; },
        [](const auto& x, const auto& y) { return 0.5 * y[0] * y[0] - y[0] * sqrt(x[0]); });
    PenaltyGradient estimator(problem, given, 10, start, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::not_finite);
    CHECK(estimator.last().message.find("lower level: ") == 0);
  }
  SUBCASE("f") {
    TapedProblem problem = make_bilevel(
        {1, 1}, [](const auto& x, const auto& y) { return y[0] * y[0] * sqrt(x[0]); },
        [](const auto& x, const auto& y) { return 0.5 * y[0] * y[0] - y[0] * x[0]; });
    PenaltyGradient estimator(problem, given, 10, start, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::not_finite);
    CHECK(estimator.last().message.find("penalised lower level: ") == 0);
  }
  SUBCASE("grad_x f alone") {
    TapedProblem problem = make_bilevel(
        {1, 1}, [](const auto& x, const auto& y) { return y[0] * y[0] + sqrt(x[0]); },
        [](const auto& x, const auto& y) { return 0.5 * y[0] * y[0] - y[0] * x[0]; });
    PenaltyGradient estimator(problem, given, 10, start, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::not_finite);
    CHECK(estimator.last().message.find("penalised lower level: ") == 0);
  }
}

}  // namespace hypertape
