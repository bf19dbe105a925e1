#include "hypertape/hypergradient/minimax.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::relative;

const LowerOptions known{.mu = 10, .l = 20};

/// A point from which all pieces of the W-shaped function are met.
Vec random_x(Random& random) { return Vec{{random.normal(), random.normal(), 0.5 * random.normal()}}; }

}  // namespace

TEST_CASE("the error is below the bound, the bound below what was asked for, and there is no product") {
  auto problem = problems::make_synthetic_minimax();
  CountingOracle oracle(*problem.oracle);
  LowerOptions sharp = known;
  sharp.cross = 1;  // d2f/dxdy is (1, 0; 0, 1; 0, 0)
  for (const LowerOptions& options : {known, sharp}) {
    CAPTURE(options.cross.has_value());
    Random random(1);
    MinimaxGradient estimator(oracle, options, problem.start, 1);
    CHECK(estimator.adapts());
    for (double sigma = 1e-1; sigma > 0.5e-10; sigma /= 10) {
      CAPTURE(sigma);
      const Vec x = random_x(random);
      oracle.reset_counts();
      const Hypergradient& h = estimator.at(x, sigma);
      REQUIRE(h.status == Status::converged);
      const double error = (h.u - problem.closed_form.grad_phi(x)).norm();
      CHECK(error <= h.error_bound + 1e-15);
      CHECK(h.error_bound <= sigma * (1 + 1e-9));
      CHECK(h.norm == h.u.norm());
      CHECK(h.residual == 0);
      CHECK(h.lower_gradient == doctest::Approx(problem.oracle->grad_y_g(x, estimator.y()).norm()).epsilon(1e-9));
      CHECK(h.phi == doctest::Approx(problem.plain.f(x, estimator.y())).epsilon(1e-12));
      CHECK(std::abs(h.phi - problem.closed_form.phi(x)) <= 20 * error * error + 1e-15);  // second order by itself
      CHECK(oracle.counts().f == 1);
      CHECK(oracle.counts().g >= 1);
      CHECK(oracle.counts().jv == 0);
      CHECK(oracle.counts().hv == 0);
    }
  }
}

TEST_CASE("the bound is |d2f/dxdy| |grad_y f| / mu, and one that is smaller fails") {
  auto problem = problems::make_synthetic_minimax();
  const Vec x{{0, 0.8, 0.2}};  // all the error is in the direction of curvature 10 = mu
  LowerOptions options = known;
  options.cross = 1;
  options.steps = 1;
  options.alpha = 0.02;
  options.beta = 0;
  MinimaxGradient estimator(*problem.oracle, options, {x, Vec::Zero(2)}, 1);
  CHECK_FALSE(estimator.adapts());
  const Hypergradient& h = estimator.at(x, 0);
  const double error = (h.u - problem.closed_form.grad_phi(x)).norm();
  // |grad_y g| is known where the one step began: 0.8. It leaves 1 - 0.02 * 10 of the error.
  CHECK(h.lower_gradient == doctest::Approx(0.8));
  CHECK(h.error_bound == doctest::Approx(0.08));
  CHECK(error == doctest::Approx(0.8 * 0.08));
}

TEST_CASE("where f is not quadratic in y") {
  const auto f = [](const auto& x, const auto& y) {
    return sin(x[0]) * y[0] + cos(x[1]) * y[1] - y.dot(y) - 0.25 * y[0] * y[0] * y[0] * y[0];
  };
  TapedProblem problem = make_minimax({2, 2}, f);
  // -d2f/dy2 is 2 + 3 y_0^2 and 2; |y_0| < 1/2. |d2f/dxdy| = max(|cos x_0|, |sin x_1|) <= 1.
  MinimaxGradient estimator(problem, {.mu = 2, .l = 3, .cross = 1}, {Vec::Zero(2), Vec::Zero(2)}, 1);
  Random random(2);
  for (double sigma = 1e-1; sigma > 0.5e-10; sigma /= 10) {
    CAPTURE(sigma);
    const Vec x = random.normal(2);
    Vec y = Vec::Zero(2);
    REQUIRE(newton(problem, x, y, {.tolerance = 1e-14}).status == Status::converged);
    const Hypergradient& h = estimator.at(x, sigma);
    const Vec exact{{std::cos(x[0]) * y[0], -std::sin(x[1]) * y[1]}};  // Danskin
    CHECK((h.u - exact).norm() <= h.error_bound + 1e-14);
    CHECK(h.error_bound <= sigma * (1 + 1e-9));
  }
}

TEST_CASE("fixed numbers of steps cost what they are said to, and start where the last ended") {
  auto problem = problems::make_synthetic_minimax();
  CountingOracle oracle(*problem.oracle);
  const Vec x{{0.5, -0.5, 0.1}};
  LowerOptions options = known;
  options.steps = 3;
  options.beta = 0;
  MinimaxGradient estimator(oracle, options, {x, Vec::Zero(2)}, 1);
  Vec y = Vec::Zero(2);
  for (int call = 1; call <= 3; ++call) {
    for (int t = 0; t < 3; ++t) y -= problem.oracle->grad_y_g(x, y) / 20;
    const Hypergradient& h = estimator.at(x, 0);
    CHECK(oracle.counts() == OracleCounts{.f = call, .g = 3 * call});
    CHECK(relative(estimator.y(), y) < 1e-14);
    CHECK(relative(h.u, problem.oracle->grad_f(x, y).x) < 1e-14);         // after the steps
    CHECK(h.error_bound == doctest::Approx(20 * h.lower_gradient / 10));  // |d2f/dxdy| <= l
  }
}

TEST_CASE("simultaneous: u is taken at the y of the call before, and one step of y follows") {
  auto problem = problems::make_synthetic_minimax();
  CountingOracle oracle(*problem.oracle);
  const Vec y0{{0.3, -0.2}};
  LowerOptions options = known;
  options.alpha = 0.04;
  options.beta = 0;
  for (const int steps : {1, 3}) {  // one step, whatever this says
    CAPTURE(steps);
    options.steps = steps;
    oracle.reset_counts();
    MinimaxGradient estimator(oracle, options, {Vec::Zero(3), y0}, 1, true);
    Vec y = y0;
    Random random(3);
    for (int call = 1; call <= 3; ++call) {
      CAPTURE(call);
      const Vec x = random_x(random);
      const Hypergradient& h = estimator.at(x, 0);
      CHECK(relative(h.u, problem.oracle->grad_f(x, y).x) < 1e-14);
      CHECK(h.phi == doctest::Approx(problem.plain.f(x, y)).epsilon(1e-12));
      // The bound is that of the y where u was taken.
      CHECK(h.lower_gradient == doctest::Approx(problem.oracle->grad_y_g(x, y).norm()));
      CHECK((h.u - problem.closed_form.grad_phi(x)).norm() <= h.error_bound);
      y -= 0.04 * problem.oracle->grad_y_g(x, y);
      CHECK(relative(estimator.y(), y) < 1e-14);
      CHECK(relative(h.u, problem.oracle->grad_f(x, y).x) > 1e-4);  // and not at the new y
      CHECK(oracle.counts() == OracleCounts{.f = call, .g = call});
    }
  }
}

TEST_CASE("simultaneous, but accurate for a while") {
  auto problem = problems::make_synthetic_minimax();
  LowerOptions options = known;
  options.steps = 1;
  const Vec x{{0.5, -0.5, 0.1}};
  MinimaxGradient estimator(*problem.oracle, options, {x, Vec::Zero(2)}, 1, true);
  estimator.set_accurate(true);
  CHECK(estimator.at(x, 1e-8).error_bound <= 1e-8 * (1 + 1e-9));
  CHECK((estimator.last().u - problem.closed_form.grad_phi(x)).norm() <= 1e-8);
  estimator.set_accurate(false);
  estimator.restart_from(Vec::Zero(2));
  CHECK(estimator.at(x, 1e-8).error_bound > 1e-2);
}

TEST_CASE("steps that are too long diverge if they are given, else they are made shorter, without products") {
  auto problem = problems::make_synthetic_minimax();
  CountingOracle oracle(*problem.oracle);
  const Vec x{{1, 1, 0}};
  const LowerOptions wrong{.mu = 0.1, .l = 0.2};
  LowerOptions insisting = wrong;
  insisting.alpha = 5;
  MinimaxGradient estimator(oracle, insisting, {x, Vec::Zero(2)}, 1);
  const Hypergradient& h = estimator.at(x, 1e-3);
  CHECK(h.status == Status::diverged);
  CHECK(h.message.find("lower level: agd: |gradient| grew from ") == 0);
  CHECK(estimator.y() == Vec::Zero(2));

  MinimaxGradient adapting(oracle, wrong, {x, Vec::Zero(2)}, 1);
  CHECK(adapting.at(x, 1e-3).status == Status::converged);
  CHECK((adapting.y() - problem.closed_form.y_star(x)).norm() <= adapting.last().lower_gradient / 10);
  CHECK(oracle.counts().jv == 0);
  CHECK(oracle.counts().hv == 0);
}

TEST_CASE("answers that are not finite are a status") {
  // Neither f nor its gradient is a number where x_0 < 0.
  TapedProblem problem =
      make_minimax({1, 1}, [](const auto& x, const auto& y) { return y[0] * sqrt(x[0]) - y[0] * y[0]; });
  const Point start{Vec{{-1.0}}, Vec{{0.5}}};
  for (const bool simultaneous : {false, true}) {
    CAPTURE(simultaneous);
    MinimaxGradient estimator(problem, {.mu = 2, .l = 2, .steps = 1}, start, 1, simultaneous);
    CHECK(estimator.at(start.x, 1e-3).status == Status::not_finite);
    CHECK(estimator.last().message.find("level: ") != std::string::npos);
    CHECK(estimator.at(Vec{{1.0}}, 1e-3).status == Status::converged);  // of this point, not of the one before
  }
}

TEST_CASE("what is not given is measured by products, when it is needed") {
  auto problem = problems::make_synthetic_minimax();
  CountingOracle oracle(*problem.oracle);
  for (const LowerOptions& options : {LowerOptions{}, LowerOptions{.mu = 10}, LowerOptions{.l = 20}}) {
    oracle.reset_counts();
    MinimaxGradient estimator(oracle, options, problem.start, 1);
    CHECK(oracle.counts() == OracleCounts{});
    const Vec x{{0.5, -0.5, 0.1}};
    const Hypergradient& h = estimator.at(x, 1e-6);
    REQUIRE(h.status == Status::converged);
    CHECK(oracle.counts().hv > 0);
    CHECK((h.u - problem.closed_form.grad_phi(x)).norm() <= h.error_bound + 1e-15);
    CHECK(h.error_bound <= 1e-6 * (1 + 1e-9));
    CHECK(estimator.constants().gain_v == doctest::Approx(1.2 / std::sqrt(10)).epsilon(0.05));  // d2f/dxdy has norm 1
  }
}

TEST_CASE("misuse is refused") {
  auto problem = problems::make_synthetic_minimax();
  CHECK_THROWS_WITH_AS(MinimaxGradient(*problem.oracle, {.mu = 10, .l = 5}, problem.start, 1),
                       "lower level: l = 5, must be at least mu = 10", std::invalid_argument);
  CHECK_THROWS_WITH_AS(MinimaxGradient(*problem.oracle, known, problem.start, 1, true),
                       "minimax: steps = auto, must be given if y moves with x", std::invalid_argument);
}

}  // namespace hypertape
