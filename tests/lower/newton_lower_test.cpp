#include "hypertape/lower/newton_lower.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/tape/taped_problem.hpp"
#include "problems/registry.hpp"
#include "support/contains.hpp"

namespace hypertape {
namespace {

using testing::contains;

/// A problem in one y with this lower level.
template <class G>
TapedProblem scalar(G g) {
  return make_bilevel(
      {1, 1}, [](const auto&, const auto& y) { return y[0]; }, g);
}

TEST_CASE("y is accepted at its goal, at the minimum, and where rounding is all that is left") {
  CHECK(decide(NewtonRound{.error = 1, .goal = 2}) == LowerDecision::accept);
  CHECK(decide(NewtonRound{.error = 3, .goal = 2}) == LowerDecision::refine);
  CHECK(decide(NewtonRound{.error = 0}) == LowerDecision::accept);
  // Steps that no longer halve the error, but not the first ones, which may be damped.
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .before = 4, .steps = 4}) == LowerDecision::accept);
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .before = 4, .steps = 3}) == LowerDecision::refine);
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .before = 7, .steps = 4}) == LowerDecision::refine);
}

TEST_CASE("without a goal there is at least one step, and the error is a quarter of the way") {
  CHECK(decide(NewtonRound{.error = 1, .moved = 5}) == LowerDecision::refine);
  CHECK(decide(NewtonRound{.error = 1, .moved = 5, .steps = 1}) == LowerDecision::accept);
  CHECK(decide(NewtonRound{.error = 1.3, .moved = 5, .steps = 1}) == LowerDecision::refine);
}

TEST_CASE("a thorough solve takes a step, however small the error seems") {
  CHECK(decide(NewtonRound{.error = 1, .goal = 2, .thorough = true}) == LowerDecision::refine);
  CHECK(decide(NewtonRound{.error = 1, .goal = 2, .steps = 1, .thorough = true}) == LowerDecision::accept);
  CHECK(decide(NewtonRound{.error = 0, .goal = 2, .thorough = true}) == LowerDecision::accept);
}

TEST_CASE("a lower level is given up after a hundred steps, or twenty over ground that is not convex") {
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .steps = 99}) == LowerDecision::refine);
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .steps = 100}) == LowerDecision::give_up);
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .steps = 20, .indefinite = 20}) == LowerDecision::refine);
  CHECK(decide(NewtonRound{.error = 3, .goal = 2, .steps = 21, .indefinite = 21}) == LowerDecision::give_up);
}

TEST_CASE("a Newton step is taken as it is unless it goes well past the minimum along it") {
  CHECK(decide(NewtonTrial{.slope = 1, .there = 0}) == LowerDecision::accept);
  CHECK(decide(NewtonTrial{.slope = 1, .there = 0.9}) == LowerDecision::accept);
  CHECK(decide(NewtonTrial{.slope = 1, .there = -0.4}) == LowerDecision::accept);
  CHECK(decide(NewtonTrial{.slope = 1, .there = -0.6}) == LowerDecision::shorten);
  CHECK(decide(NewtonTrial{.slope = 1, .finite = false}) == LowerDecision::shorten);
}

TEST_CASE("a step that was shortened is lengthened again as long as much of the slope is left") {
  CHECK(decide(NewtonTrial{.t = 0.1, .high = 1, .slope = 1, .there = 0.4}) == LowerDecision::accept);
  CHECK(decide(NewtonTrial{.t = 0.1, .high = 1, .slope = 1, .there = 0.6}) == LowerDecision::refine);
  CHECK(decide(NewtonTrial{.t = 0.6, .high = 1, .slope = 1, .there = 0.6}) == LowerDecision::accept);
  // Too long again: what is known to be possible will do, or not.
  CHECK(decide(NewtonTrial{.t = 0.2, .done = 0.1, .high = 0.2, .slope = 1, .there = -2}) == LowerDecision::accept);
  CHECK(decide(NewtonTrial{.t = 0.3, .done = 0.1, .high = 0.3, .slope = 1, .there = -2}) == LowerDecision::shorten);
}

TEST_CASE("a step is given up when it ends where nothing is finite ten times over, or is too long sixty times") {
  NewtonTrial trial{.slope = 1, .finite = false, .trials = 11, .not_finite = 10};
  CHECK(decide(trial) == LowerDecision::shorten);
  trial.not_finite = 11;
  CHECK(decide(trial) == LowerDecision::give_up);
  CHECK(decide(NewtonTrial{.slope = 1, .there = -9, .trials = 60}) == LowerDecision::give_up);
}

TEST_CASE("the next length comes from the slopes, between a tenth and most of the last, or is half way in logarithms") {
  CHECK(NewtonTrial{.t = 2, .slope = 1, .there = -1}.next() == 1.0);
  CHECK(NewtonTrial{.t = 2, .slope = 1, .there = -1e9}.next() == doctest::Approx(0.2));
  CHECK(NewtonTrial{.t = 2, .slope = 1, .there = -0.51}.next() == doctest::Approx(2 / 1.51));
  CHECK(NewtonTrial{.t = 2, .slope = 1, .finite = false}.next() == doctest::Approx(0.2));
  CHECK(NewtonTrial{.t = 0.01, .done = 0.01, .high = 1, .slope = 1, .there = 0.9}.next() == doctest::Approx(0.1));
}

TEST_CASE("y*(x) of a closed form is reached to the goal, in the energy norm") {
  problems::Problem problem = problems::make_problem("quadratic", {.kappa = 100});
  NewtonLower lower(*problem.oracle, problem.start.y, 50);
  const Vec& x = problem.start.x;
  Vec y_star, product;
  REQUIRE(lower.look(x));
  REQUIRE(lower.solve(x, 1e-12));
  y_star = lower.y();
  lower.restore({.y = problem.start.y});
  for (const double goal : {1e-1, 1e-3, 1e-6}) {
    CAPTURE(goal);
    REQUIRE(lower.look(x));
    REQUIRE(lower.solve(x, goal));
    const Vec e = lower.y() - y_star;
    problem.oracle->curvature_at(x, lower.y()).apply(e, product);
    CHECK(std::sqrt(e.dot(product)) <= 3 * goal);
    CHECK(lower.error() <= goal);
  }
}

TEST_CASE("the way that y has come is counted from look() on") {
  // g = 2 (y - x)^2: from 0 to 3 it is 3 sqrt(4) in the energy norm.
  TapedProblem problem = scalar([](const auto& x, const auto& y) { return 2.0 * (y[0] - x[0]) * (y[0] - x[0]); });
  NewtonLower lower(problem, Vec::Zero(1), 0);
  const Vec x = Vec::Constant(1, 3.0);
  REQUIRE(lower.look(x));
  REQUIRE(lower.solve(x, std::nullopt));
  CHECK(lower.y()[0] == doctest::Approx(3.0));
  CHECK(lower.moved() == doctest::Approx(6.0));
  REQUIRE(lower.look(x));
  CHECK(lower.moved() == 0);
}

TEST_CASE("Newton steps that are far too long at first still end at the minimum") {
  // g = log cosh y: from 5 a full step goes to about -5,500.
  TapedProblem problem = scalar([](const auto&, const auto& y) {
    using std::cosh, std::log;
    return log(cosh(y[0])) + 1e-6 * y[0] * y[0];
  });
  NewtonLower lower(problem, Vec::Constant(1, 5.0), 0);
  const Vec x = Vec::Zero(1);
  REQUIRE(lower.look(x));
  REQUIRE(lower.solve(x, 1e-9));
  CHECK(std::abs(lower.y()[0]) < 1e-8);
}

TEST_CASE("through ground that is not convex the way leads downhill to a minimum") {
  // g = y^4 / 4 - y^2 / 2 is concave around 0; minima at -1 and 1.
  TapedProblem problem =
      scalar([](const auto&, const auto& y) { return 0.25 * y[0] * y[0] * y[0] * y[0] - 0.5 * y[0] * y[0]; });
  NewtonLower lower(problem, Vec::Constant(1, 0.1), 0);
  REQUIRE(lower.look(Vec::Zero(1)));
  REQUIRE(lower.solve(Vec::Zero(1), 1e-9));
  CHECK(lower.y()[0] == doctest::Approx(1.0));
}

TEST_CASE("a lower level without a minimum fails with a status and numbers") {
  TapedProblem concave = scalar([](const auto&, const auto& y) { return -0.5 * y[0] * y[0]; });
  NewtonLower lower(concave, Vec::Constant(1, 1.0), 0);
  REQUIRE(lower.look(Vec::Zero(1)));
  CHECK_FALSE(lower.solve(Vec::Zero(1), 1e-9));
  CHECK(lower.status() == Status::indefinite);
  CHECK(contains(lower.message(), "lower level: d2g/dy2 is not positive definite"));

  TapedProblem undefined = scalar([](const auto& x, const auto& y) {
    using std::sqrt;
    return sqrt(x[0] - 2.0) + y[0] * y[0] * sqrt(x[0]);
  });
  NewtonLower lost(undefined, Vec::Constant(1, 1.0), 0);
  CHECK_FALSE(lost.look(Vec::Constant(1, -1.0)));
  CHECK(lost.status() == Status::not_finite);
  CHECK(contains(lost.message(), "|grad_y g| = "));
}

TEST_CASE("a solve stops when its products and gradients are spent, and says so") {
  problems::Problem problem = problems::make_problem("quadratic", {.kappa = 300});
  NewtonLower lower(*problem.oracle, problem.start.y, 0);
  lower.allow(6);
  REQUIRE(lower.look(problem.start.x));
  CHECK_FALSE(lower.solve(problem.start.x, 1e-12));
  CHECK(lower.status() == Status::iteration_limit);
  CHECK(lower.is_spent());
  CHECK(lower.effort() <= 8);
  CHECK(contains(lower.message(), "when time was up"));
  lower.allow(1000);
  REQUIRE(lower.look(problem.start.x));
  CHECK(lower.solve(problem.start.x, 1e-9));
}

TEST_CASE("what a saved state knew of the errors is known again after solves far away") {
  // Curvature 1 at x = 0, and 1e12 at x = 12: an error of y there is not what it would be here.
  TapedProblem problem = scalar([](const auto& x, const auto& y) {
    using std::exp;
    return 0.5 * exp(2.302585 * x[0]) * (y[0] - 1.0) * (y[0] - 1.0);
  });
  const Vec here = Vec::Zero(1), far = Vec::Constant(1, 12.0);
  NewtonLower lower(problem, Vec::Constant(1, 2.0), 0);
  REQUIRE(lower.look(here));
  REQUIRE(lower.solve(here, std::nullopt));
  NewtonLower::State state;
  lower.save(state);
  state.y[0] = 3;
  lower.restore(state);
  REQUIRE(lower.look(far));
  REQUIRE(lower.solve(far, std::nullopt));
  lower.restore(state);
  REQUIRE(lower.look(here));
  REQUIRE(lower.solve(here, 0.5));  // at an error of 2: must not be taken for 2e-6
  CHECK(lower.y()[0] == doctest::Approx(1.0));
}

}  // namespace
}  // namespace hypertape
