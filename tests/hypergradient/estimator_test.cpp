#include "hypertape/hypergradient/estimator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hypergradient/instances.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/hypergradient/implicit.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/contains.hpp"
#include "support/faulty_oracle.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::Bug;
using testing::Call;
using testing::contains;
using testing::differences_of_phi;
using testing::FaultyOracle;
using testing::HandWrittenOracle;
using testing::infinity;
using testing::Instance;
using testing::nan;
using testing::relative;
using testing::x_nonlinear;

/// What goes wrong, and the part that must say so.
struct Fault {
  Call kind;
  bool value;
  std::string says;
};
const std::vector<Fault> faults{
    {Call::grad_f, true, "upper level: "},           {Call::grad_f, false, "upper level: "},
    {Call::grad_y_g, false, "lower level: "},        {Call::curvature, false, "linear system: "},
    {Call::cross_product, false, "hypergradient: "},
};

}  // namespace

TEST_CASE("accurate for a while, whatever the numbers of steps, and with momentum") {
  Instance instance(100);
  CountingOracle oracle(*instance.problem.oracle);
  LowerOptions options = instance.exact;
  options.beta = 0;
  options.steps = options.products = 2;
  ImplicitHypergradient estimator(oracle, options, instance.problem.start, 1);
  const Vec& x = instance.problem.start.x;
  CHECK(estimator.at(x, 1e-6).error_bound > 1);
  const Vec two_steps = estimator.y();

  estimator.set_accurate(true);
  CHECK(estimator.adapts());
  oracle.reset_counts();
  CHECK(estimator.at(x, 1e-6).error_bound <= 1e-6 * (1 + 1e-9));
  CHECK(oracle.counts().g < 500);
  estimator.set_accurate(false);
  CHECK_FALSE(estimator.adapts());
  estimator.restart_from(Vec::Zero(20));
  oracle.reset_counts();
  CHECK(estimator.at(x, 1e-6).error_bound > 1);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .jv = 1, .hv = 2});
  CHECK(estimator.y() == two_steps);

  // Without momentum it takes far more.
  options.steps = options.products = std::nullopt;
  ImplicitHypergradient plain(oracle, options, instance.problem.start, 1);
  oracle.reset_counts();
  CHECK(plain.at(x, 1e-6).error_bound <= 1e-6 * (1 + 1e-9));
  CHECK(oracle.counts().g > 800);
}

TEST_CASE("a cold solve takes so many steps from zero") {
  Instance instance(10);
  CountingOracle oracle(*instance.problem.oracle);
  LowerOptions options = instance.exact;
  options.steps = options.products = 1;
  ImplicitHypergradient estimator(oracle, options, {instance.q.x0, Vec::Ones(20)}, 1);
  CHECK(estimator.solve_cold(instance.q.x0, 1));
  CHECK(oracle.counts() == OracleCounts{.g = 1});
  const Vec one_step = (instance.q.C * instance.q.x0 + instance.q.b) / *instance.exact.l;
  CHECK(relative(estimator.y(), one_step) < 1e-14);
  CHECK(estimator.solve_cold(instance.q.x0, 500));
  CHECK(relative(estimator.y(), instance.problem.closed_form.y_star(instance.q.x0)) < 1e-12);
}

TEST_CASE("a lower level that is not strongly convex is a status that says so") {
  HandWrittenOracle oracle(Bug::not_convex);
  const Point start{Vec::Zero(3), Vec::Zero(3)};
  SUBCASE("seen by the estimates at the start") {
    ImplicitHypergradient estimator(oracle, {}, start, 1);
    const Hypergradient& h = estimator.at(start.x, 1e-3);
    CHECK(h.status == Status::indefinite);
    CHECK(contains(h.message, "not strongly convex"));
    CHECK(contains(h.message, "mu = -0.5"));
  }
  SUBCASE("seen by conjugate gradients, where constants are given") {
    // From y = 0 at x = 0, where grad_y g = 0: a saddle of g.
    ImplicitHypergradient estimator(oracle, {.mu = 1, .l = 10, .cross = 3, .c_y = 10}, start, 1);
    const Hypergradient& h = estimator.at(start.x, 1e-3);
    CHECK(h.status == Status::indefinite);
    CHECK(contains(h.message, "linear system: "));
    CHECK(contains(h.message, "not strongly convex"));
  }
  SUBCASE("seen by the steps for y, which run away") {
    TapedProblem concave = make_bilevel(
        {1, 1}, [](const auto&, const auto& y) { return 0.5 * y[0] * y[0]; },
        [](const auto& x, const auto& y) { return x[0] * y[0] - 0.5 * y[0] * y[0]; });
    const Vec x{{1.0}};
    ImplicitHypergradient estimator(concave, {.mu = 1, .l = 1, .cross = 1, .c_y = 1}, {x, Vec::Zero(1)}, 1);
    const Hypergradient& h = estimator.at(x, 1e-3);
    CHECK(h.status == Status::indefinite);
    CHECK(contains(h.message, "lower level: curvature -1: "));
    CHECK(contains(h.message, "not strongly convex"));
    CHECK(estimator.y() == Vec::Zero(1));  // where it was
  }
  SUBCASE("a status of one point is not that of the next") {
    ImplicitHypergradient estimator(oracle, {.mu = 1, .l = 10, .cross = 3, .c_y = 10}, start, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::indefinite);
    estimator.restart_from(Vec::Constant(3, 2));  // the other side of the saddle, where g is convex
    CHECK(estimator.at(Vec{{0, 0, 4}}, 1e-3).status == Status::converged);
  }
}

TEST_CASE("answers that are not finite are a status, with the part that they are of") {
  const Point start{x_nonlinear, Vec::Zero(3)};
  const LowerOptions given{.mu = 1, .l = 10, .cross = 3, .c_y = 10};
  LowerOptions counted = given;
  counted.steps = counted.products = 4;
  for (const Fault& fault : faults)
    for (const double wrong : {nan, infinity})
      for (const LowerOptions& options : {given, counted}) {
        CAPTURE(fault.says);
        CAPTURE(wrong);
        HandWrittenOracle right;
        FaultyOracle oracle(right, fault.kind, fault.value, 1, wrong);
        ImplicitHypergradient estimator(oracle, options, start, 1);
        const Hypergradient& h = estimator.at(start.x, 1e-3);
        CHECK(h.status == Status::not_finite);
        CHECK(contains(h.message, fault.says));
      }
}

TEST_CASE("answers that are not finite at a later call") {
  const Point start{x_nonlinear, Vec::Zero(3)};
  for (const Fault& fault : faults) {
    CAPTURE(fault.says);
    HandWrittenOracle right;
    FaultyOracle oracle(right, fault.kind, fault.value, 2, nan);
    ImplicitHypergradient estimator(oracle, {.mu = 1, .l = 10, .cross = 3, .c_y = 10}, start, 1);
    Status status = estimator.at(start.x, 1e-3).status;
    CHECK(oracle.went_wrong() == (status != Status::converged));
    if (status == Status::converged) status = estimator.at(start.x + Vec::Ones(3), 1e-3).status;
    CHECK(status == Status::not_finite);
    CHECK(contains(estimator.last().message, fault.says));
    CHECK(estimator.y().allFinite());
  }
}

TEST_CASE("answers that are not finite while constants are estimated") {
  const Point start{x_nonlinear, Vec::Zero(3)};
  for (const Fault& fault : faults) {
    CAPTURE(fault.says);
    HandWrittenOracle right;
    FaultyOracle oracle(right, fault.kind, fault.value, 1, nan);
    ImplicitHypergradient estimator(oracle, {}, start, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::not_finite);
  }
  HandWrittenOracle right;
  FaultyOracle only_cross(right, Call::cross_product, false, 1, nan);
  ImplicitHypergradient given_c_y(only_cross, {.mu = 1, .l = 10, .c_y = 10}, start, 1);
  CHECK(given_c_y.at(start.x, 1e-3).status == Status::not_finite);

  FaultyOracle only_step(right, Call::curvature, false, 1, nan);
  ImplicitHypergradient counted(only_step, {.steps = 2, .products = 2}, start, 1);
  CHECK(counted.at(start.x, 1e-3).status == Status::not_finite);
}

TEST_CASE("where the curvature of g grows from the start to y*, the step is made to fit") {
  HandWrittenOracle hand_written;
  // Curvature 3 at y = 0, where l is estimated, but 6 at y*.
  CountingOracle oracle(hand_written);
  const Vec x{{0, 2, 0}};
  ImplicitHypergradient cycles(oracle, {}, {x, Vec::Zero(3)}, 1);
  CHECK(cycles.at(x, 1e-6).error_estimate <= 1.1e-6);
  CHECK(oracle.counts().g < 1000);

  const Vec further{{0, 3, 0}};
  ImplicitHypergradient diverges(hand_written, {}, {further, Vec::Zero(3)}, 1);
  CHECK(diverges.at(further, 1e-6).status == Status::converged);

  // With an l that holds on the way there is no trouble.
  ImplicitHypergradient estimator(hand_written, {.mu = 1, .l = 20}, {further, Vec::Zero(3)}, 1);
  const Hypergradient& h = estimator.at(further, 1e-6);
  CHECK(h.status == Status::converged);
  CHECK(h.error_bound <= 1.1e-6);
  CHECK((h.u - differences_of_phi(hand_written, further)).norm() <= h.error_bound + 1e-10);
}

TEST_CASE("a step that is too long") {
  Instance instance(10);
  LowerOptions options = instance.exact;
  SUBCASE("is diverged if it was given") {
    options.alpha = 50;
    ImplicitHypergradient estimator(*instance.problem.oracle, options, instance.problem.start, 1);
    const Hypergradient& h = estimator.at(instance.q.x0, 1e-3);
    CHECK(h.status == Status::diverged);
    CHECK(contains(h.message, "lower level: agd: |gradient| grew from "));
    CHECK(contains(h.message, "steps of length 50"));
  }
  SUBCASE("is shortened if it was not") {
    options.mu = 1e-3;
    options.l = 0.02;  // fifty times too small
    CountingOracle oracle(*instance.problem.oracle);
    ImplicitHypergradient estimator(oracle, options, instance.problem.start, 1);
    const Hypergradient& h = estimator.at(instance.q.x0, 1e-6);
    CHECK(h.status == Status::converged);
    CHECK((h.u - instance.problem.closed_form.grad_phi(instance.q.x0)).norm() <= h.error_bound);
    // Once: the next solve takes the short step at once.
    oracle.reset_counts();
    CHECK(estimator.at(instance.q.x0, 1e-6).status == Status::converged);
    CHECK(oracle.counts().g == 1);
  }
}

}  // namespace hypertape
