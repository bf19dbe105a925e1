#include "hypertape/lower/accelerated_lower.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "support/contains.hpp"
#include "support/hand_written_oracle.hpp"

namespace hypertape {
namespace {

using testing::contains;
using Products = AcceleratedLower::Products;

/// A round in which nothing happened that calls for more than going on.
LowerRound usual() {
  LowerRound round{.rounding = 1e-15, .changes_left = 3};
  round.steps.status = Status::iteration_limit;
  round.steps.iterations = 100;
  round.steps.gradient_norm = 0.1;
  round.steps.first_norm = 1;
  return round;
}

/// A round without progress.
LowerRound slow() {
  LowerRound round = usual();
  round.steps.gradient_norm = 0.9;
  return round;
}

LowerRound failed(Status status) {
  LowerRound round = usual();
  round.steps.status = status;
  round.steps.gradient_norm = 1e12;
  return round;
}

/// g = a |y - x|^2 / 2.
TapedProblem bowl(double a) {
  return make_bilevel(
      {1, 1}, [](const auto&, const auto& y) { return 0.5 * y[0] * y[0]; },
      [a](const auto& x, const auto& y) { return 0.5 * a * (y[0] - x[0]) * (y[0] - x[0]); });
}

}  // namespace

TEST_CASE("accept: the accuracy asked for, or all that rounding leaves") {
  LowerRound round = usual();
  round.steps.status = Status::converged;
  CHECK(decide(round) == LowerDecision::accept);
  round = slow();
  round.rounding = 1e-6;  // 0.9 is within a million times
  CHECK(decide(round) == LowerDecision::accept);
  round.rounding = 1e-7;
  CHECK(decide(round) == LowerDecision::measure);
}

TEST_CASE("refine: as long as there is progress, or nothing to be done about it") {
  CHECK(decide(usual()) == LowerDecision::refine);
  for (bool LowerRound::*reason :
       {&LowerRound::counted, &LowerRound::step_given, &LowerRound::settled, &LowerRound::is_last}) {
    LowerRound round = slow();
    CHECK(decide(round) == LowerDecision::measure);
    round.*reason = true;
    CHECK(decide(round) == LowerDecision::refine);
  }
  LowerRound round = slow();
  round.changes_left = 0;
  CHECK(decide(round) == LowerDecision::refine);
}

TEST_CASE("shorten: where steps run away, if they are ours to change") {
  for (const Status status : {Status::diverged, Status::not_finite}) {
    LowerRound round = failed(status);
    CHECK(decide(round) == LowerDecision::shorten);
    round.counted = true;
    CHECK(decide(round) == LowerDecision::shorten);
  }
  LowerRound grew = usual();
  grew.counted = true;
  grew.steps.gradient_norm = 11;
  CHECK(decide(grew) == LowerDecision::shorten);
  grew.steps.gradient_norm = 9;
  CHECK(decide(grew) == LowerDecision::refine);
  grew.steps.gradient_norm = 11;
  grew.counted = false;  // where an accuracy decides, growing may be on the way
  CHECK(decide(grew) == LowerDecision::measure);
}

TEST_CASE("give up: the step is given, changes are used up, or the start itself is not finite") {
  LowerRound round = failed(Status::diverged);
  round.step_given = true;
  CHECK(decide(round) == LowerDecision::give_up);
  round = failed(Status::diverged);
  round.changes_left = 0;
  CHECK(decide(round) == LowerDecision::give_up);
  round = failed(Status::not_finite);
  round.steps.iterations = 1;
  CHECK(decide(round) == LowerDecision::give_up);
}

TEST_CASE("what is given is never changed") {
  TapedProblem problem = bowl(8);
  const Vec x{{1.0}};
  SUBCASE("momentum, when l proves too small") {
    AcceleratedLower lower(problem, {.mu = 1, .l = 1, .beta = 0.3}, {x, Vec::Zero(1)}, Products::none, 1);
    CHECK(lower.solve(x, 1e-8));
    CHECK(lower.alpha() < 1);  // shortened
    CHECK(lower.beta() == 0.3);
    CHECK(std::abs(lower.y()[0] - 1) <= 1e-8);
  }
  SUBCASE("the step, which then diverges") {
    AcceleratedLower lower(problem, {.mu = 1, .l = 1, .alpha = 1, .beta = 0}, {x, Vec::Zero(1)}, Products::none, 1);
    CHECK_FALSE(lower.solve(x, 1e-8));
    CHECK(lower.status() == Status::diverged);
    CHECK(contains(lower.message(), "lower level: agd: |gradient| grew from "));
    CHECK(lower.alpha() == 1);
    CHECK(lower.y() == Vec::Zero(1));  // where it was
  }
}

TEST_CASE("curvature is measured when it is first needed, and not before") {
  TapedProblem problem = bowl(8);
  CountingOracle oracle(problem);
  const Vec x{{1.0}};
  AcceleratedLower lower(oracle, {}, {x, Vec::Zero(1)}, Products::allowed, 1);
  CHECK(lower.look(x));
  CHECK(lower.gradient_norm() == doctest::Approx(8));
  CHECK(lower.solve(x, std::numeric_limits<double>::infinity()));  // no accuracy at all: y stays
  CHECK(lower.y() == Vec::Zero(1));
  CHECK(oracle.counts() == OracleCounts{.g = 2});
  CHECK(lower.solve(x, 1e-8));
  CHECK(oracle.counts().hv == 1);  // Lanczos in one dimension
  CHECK(lower.constants().l == doctest::Approx(1.1 * 8));
  CHECK(lower.constants().mu == doctest::Approx(8 / 2));

  oracle.reset_counts();
  AcceleratedLower given(oracle, {.alpha = 0.1, .beta = 0, .steps = 3}, {x, Vec::Zero(1)}, Products::allowed, 1);
  CHECK(given.solve(x, 0));
  CHECK(oracle.counts() == OracleCounts{.g = 3});
}

TEST_CASE("a mu that was given and is contradicted is no longer believed, and said to be wrong") {
  TapedProblem problem = bowl(1);
  const Vec x{{1.0}};
  AcceleratedLower lower(problem, {.mu = 90, .l = 90, .cross = 1, .c_y = 1}, {x, Vec::Zero(1)}, Products::allowed, 1);
  CHECK(lower.has_bounds());
  CHECK(lower.constants().gain_v == doctest::Approx(1 / std::sqrt(90)));
  lower.saw_curvature(91);
  CHECK(lower.has_bounds());
  CHECK(lower.warning().empty());
  lower.saw_curvature(1.5);
  CHECK_FALSE(lower.has_bounds());
  CHECK(contains(lower.warning(), "mu = 90 was given, but g has curvature 1.5 in y"));
  CHECK(lower.find_bounds(x));
  CHECK(lower.constants().mu == doctest::Approx(0.5));                     // half of what is there, measured
  CHECK(lower.constants().gain_v == doctest::Approx(1 / std::sqrt(0.5)));  // cross is still believed

  AcceleratedLower renewed(problem, {.mu = 90, .l = 90, .cross = 1, .c_y = 1}, {x, Vec::Zero(1)}, Products::allowed, 1);
  CHECK(renewed.renew_bounds(x));
  CHECK(contains(renewed.warning(), "mu = 90 was given"));
  CHECK(renewed.constants().mu == doctest::Approx(0.5));
}

TEST_CASE("a part of v that reaches u raises the gain, and what was given is said to be wrong") {
  TapedProblem problem = bowl(1);
  const Vec x{{1.0}};
  AcceleratedLower lower(problem, {.mu = 1, .l = 1, .cross = 0.5, .c_y = 1}, {x, Vec::Zero(1)}, Products::allowed, 1);
  lower.saw_gain_v(0.5);
  CHECK(lower.constants().gain_v == 0.5);
  lower.saw_gain_v(1);
  CHECK(lower.constants().gain_v == doctest::Approx(1.1));
  CHECK(contains(lower.warning(), "cross = 0.5 was given"));
  CHECK_FALSE(lower.bounds_hold_at(x));  // nothing was measured yet
  CHECK(lower.renew_bounds(x));
  CHECK(lower.bounds_hold_at(x));
}

TEST_CASE("a lower level that is not convex is said to be that") {
  testing::HandWrittenOracle oracle(testing::Bug::not_convex);
  AcceleratedLower lower(oracle, {}, {Vec::Zero(3), Vec::Zero(3)}, Products::allowed, 1);
  CHECK_FALSE(lower.solve(Vec::Zero(3), 1e-6));
  CHECK(lower.status() == Status::indefinite);
  CHECK(contains(lower.message(), "mu = -0.5"));
}

}  // namespace hypertape
