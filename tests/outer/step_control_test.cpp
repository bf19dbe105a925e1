#include "hypertape/outer/step_control.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hypertape/outer/aid.hpp"
#include "hypertape/outer/ba.hpp"
#include "hypertape/outer/rahgd.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/ridge_weight.hpp"
#include "support/scripted_estimator.hpp"

using namespace hypertape;
using testing::ScriptedEstimator;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const Point start{Vec::Zero(3), Vec::Zero(3)};

/// The gradient of x'diag(1, 2, 4)x / 2, with an error bound.
ScriptedEstimator bowl(double error = 0) {
  return ScriptedEstimator(
      [error](const Vec& x, double sigma, int, Hypergradient& out) {
        out.u = Vec{{1, 2, 4}}.cwiseProduct(x);
        out.phi = 0.5 * x.dot(out.u);
        out.correction = 0;
        out.error_bound = std::min(error, sigma);
      },
      /*adapts=*/true);
}

Hypergradient seen(const Vec& u, double phi, double error = 0) {
  Hypergradient h;
  h.u = u;
  h.norm = u.norm();
  h.phi = phi;
  h.correction = 0;
  h.error_bound = h.error_estimate = error;
  return h;
}

/// A control that knows L = 4 from a bowl.
StepControl started() {
  testing::HandWrittenOracle oracle;
  StepControl steps(std::nullopt);
  run("test", oracle, {}, start, {}, [&](Run& run) {
    ScriptedEstimator estimator = bowl();
    CHECK(steps.start(run, estimator, Vec::Ones(3), 0.3, 1));
  });
  return steps;
}

}  // namespace

TEST_CASE("find_lipschitz: the largest curvature, approached from below by powers") {
  testing::HandWrittenOracle oracle;
  run("test", oracle, {}, start, {}, [&](Run& run) {
    ScriptedEstimator exact = bowl();
    const auto L = find_lipschitz(run, exact, Vec::Ones(3), 0.3, 1);
    REQUIRE(L.has_value());
    CHECK(*L > 3.9);
    CHECK(*L <= 4 * (1 + 1e-12));
    CHECK(exact.sigmas.size() == 1 + 8);  // a first look, and pairs
    // Errors that hide the difference are made smaller first.
    ScriptedEstimator rough = bowl(1);
    CHECK(find_lipschitz(run, rough, Vec::Ones(3), 0.3, 1).value_or(0) == doctest::Approx(*L));
    CHECK(rough.sigmas.size() > 9);
    CHECK(rough.sigmas.back() < 1e-2);
    // A function that is straight gives nothing, and says so.
    ScriptedEstimator straight([](const Vec&, double, int, Hypergradient& out) { out.u = Vec::Ones(3); });
    CHECK_FALSE(find_lipschitz(run, straight, Vec::Ones(3), 0.3, 1).has_value());
    CHECK(run.result().status == Status::stagnated);
    CHECK(run.result().message == "the hypergradient does not change near the start; give eta");
  });
}

TEST_CASE("a step that is given stays, whatever is seen") {
  StepControl steps(0.5);
  CHECK(steps.is_given());
  steps.learn(Vec::Zero(3), seen(Vec::Zero(3), 0), Vec::Zero(3), true);
  steps.learn(Vec::Ones(3), seen(Vec::Constant(3, 1e6), 1e9), Vec::Zero(3), false);
  CHECK(steps.value(Vec::Zero(3), 1e9) == 0.5);
  CHECK(steps.is_acceptable(seen(Vec::Constant(3, 1e9), 1e9)));
}

TEST_CASE("one that is not: 1/(1.2 L), no longer than 0.3 in every entry, and after what is seen") {
  StepControl steps = started();
  const Vec x = Vec::Zero(3);
  const double eta = steps.value(x, 1e-3);
  CHECK(eta == doctest::Approx(1 / (1.2 * 4)).epsilon(0.03));
  CHECK(steps.value(x, 1e6) == doctest::Approx(0.3 * std::sqrt(3.0) / 1e6));  // Phi is straight for all it knows
  // A difference beyond what errors explain is a larger L.
  steps.learn(x, seen(Vec::Zero(3), 0, 0.5), x, true);
  steps.learn(Vec{{1, 0, 0}}, seen(Vec{{9, 0, 0}}, 0, 0.5), x, false);
  CHECK(steps.value(x, 1e-3) == doctest::Approx(1 / (1.2 * 8)));
  // Where there are no bounds, only a difference that is no small part of u.
  StepControl blind = started();
  blind.learn(x, seen(Vec{{10, 0, 0}}, 0, infinity), x, true);
  blind.learn(Vec{{0.1, 0, 0}}, seen(Vec{{11, 0, 0}}, 0, infinity), x, false);
  CHECK(blind.value(x, 1e-3) == doctest::Approx(eta / 0.95));
  blind.learn(Vec{{0.2, 0, 0}}, seen(Vec{{21, 0, 0}}, 0, infinity), x, false);
  CHECK(blind.value(x, 1e-3) == doctest::Approx(1 / (1.2 * 100)));
  // It is forgotten again, slowly.
  for (int k = 0; k < 14; ++k) blind.learn(Vec{{0.2, 0, 0}}, seen(Vec{{21, 0, 0}}, 0, infinity), x, false);
  CHECK(blind.value(x, 1e-3) == doctest::Approx(1 / (1.2 * 100 * std::pow(0.95, 14))));
}

TEST_CASE("a step is taken back where it failed, where Phi rose and where u grew tenfold") {
  StepControl steps = started();
  const Vec u = Vec{{1, 0, 0}};
  CHECK(steps.is_acceptable(seen(100 * u, 100)));  // nothing to compare with
  steps.learn(Vec::Zero(3), seen(u, 5), Vec::Zero(3), true);
  CHECK(steps.is_acceptable(seen(u, 4)));
  CHECK(steps.is_acceptable(seen(u, 5 + 1e-9)));  // rounding
  CHECK_FALSE(steps.is_acceptable(seen(u, 5.1)));
  Hypergradient unsure = seen(u, 5.1);
  unsure.correction = 0.2;  // more than the rise
  CHECK(steps.is_acceptable(unsure));
  unsure.correction = infinity;
  CHECK(steps.is_acceptable(unsure));
  CHECK_FALSE(steps.is_acceptable(seen(11 * u, 4)));
  Hypergradient failed = seen(u, 4);
  failed.status = Status::indefinite;
  CHECK_FALSE(steps.is_acceptable(failed));

  // Back to the best point, and half as long.
  steps.learn(Vec::Ones(3), seen(u, 3), Vec::Constant(3, 7), false);
  steps.learn(Vec::Constant(3, 2), seen(u, 4), Vec::Zero(3), false);
  const double before = steps.value(Vec::Zero(3), 1e-3);
  Vec x = Vec::Constant(3, 3);
  ScriptedEstimator estimator([](const Vec&, double, int, Hypergradient& out) { out.status = Status::not_finite; });
  estimator.at(x, 0);
  CHECK(steps.take_back(x, estimator));
  CHECK(x == Vec::Ones(3));
  CHECK(estimator.y() == Vec::Constant(3, 7));
  CHECK(steps.value(Vec::Zero(3), 1e-3) == doctest::Approx(before / 2));
  CHECK(steps.is_acceptable(seen(u, 100)));  // at the point itself, where no step is to blame
  steps.learn(x, seen(u, 3), Vec::Zero(3), true);
  CHECK_FALSE(steps.is_acceptable(seen(u, 100)));
  steps.forget();
  CHECK(steps.is_acceptable(seen(u, 100)));
}

TEST_CASE("flat: u vanishes without a minimum nearby") {
  const StepControl steps = started();
  const Vec x{{10, 0, 0}}, u{{-1e-7, 0, 0}};
  // exp(-x): u is little larger a little way back.
  ScriptedEstimator tail([](const Vec& at, double, int, Hypergradient& out) {
    out.u = Vec{{-1e-7 * std::exp(10 - at[0]), 0, 0}};
  });
  CHECK(steps.is_flat(x, u, tail));
  CHECK(tail.points.back()[0] == doctest::Approx(10 - 0.03 * (std::sqrt(3.0) + 10)));  // uphill
  ScriptedEstimator minimum([](const Vec& at, double, int, Hypergradient& out) {
    out.u = Vec{{1e-3 * (at[0] - 10 - 1e-4), 0, 0}};
  });
  CHECK_FALSE(steps.is_flat(x, u, minimum));
  CHECK_FALSE(StepControl(0.5).is_flat(x, u, tail));
}

TEST_CASE("defaults end at a minimum, or say that there is none, from starts where Phi is nearly straight") {
  // Weights of ridges, from far away: Phi is flat on both sides of its minimum.
  auto problem = testing::ridge_weight(Mat{{1, 2}, {3, 4}, {5, 7}}, Vec{{1, 2, 4}}, Vec{{0.2, 0.3}});
  for (const double x0 : {-4.0, 0.0, 4.0})
    for (const int which : {0, 1, 2}) {
      CAPTURE(x0);
      CAPTURE(which);
      const StopRule stop{.max_calls = 50'000};
      const Point at{.x = Vec::Constant(1, x0)};
      const Result result = which == 0   ? rahgd(problem, {.stop = stop}, at)
                            : which == 1 ? aid(problem, {.stop = stop}, at)
                                         : ba(problem, {.stop = stop}, at);
      CAPTURE(result.message);
      CAPTURE(result.x[0]);
      CHECK(
          (result.status == Status::converged || result.status == Status::flat || result.status == Status::call_limit));
      if (result.status == Status::converged) CHECK(testing::true_gradient(problem, result.x, result.y) <= 1e-6);
      if (result.status == Status::converged) CHECK(std::abs(result.x[0]) < 6);
    }
}
