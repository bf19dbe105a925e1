#include "hypertape/hypergradient/adaptive.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "problems/registry.hpp"

using namespace hypertape;

TEST_CASE("u and phi approach those of the closed form as tau falls, and the estimate is about the error") {
  problems::Problem problem = problems::make_problem("quadratic", {.kappa = 100});
  Random random(1);
  AdaptiveHypergradient estimator(*problem.oracle, problem.start.y, 100);
  Vec x = problem.start.x, from;
  for (const double tau : {0.5, 1e-2, 1e-4, 1e-8}) {
    CAPTURE(tau);
    from = estimator.at(x, tau).u;
    x += 0.1 * random.normal(x.size());
    const Hypergradient& h = estimator.at(x, tau);
    REQUIRE(h.status == Status::converged);
    estimator.learn(from, h.u);
    const double error = (h.u - problem.closed_form.grad_phi(x)).norm();
    CHECK(error <= 3 * tau * h.norm);
    CHECK(error <= 10 * h.error_estimate + 1e-9 * h.norm);
    const double phi = problem.closed_form.phi(x);
    CHECK(std::abs(h.phi - phi) <= 10 * tau * tau * std::abs(phi) + 1e-9);
  }
}

TEST_CASE("in a minimax problem nothing is solved for v where y is accurate") {
  problems::Problem problem = problems::make_problem("synthetic_minimax");
  CountingOracle counted(*problem.oracle);
  AdaptiveHypergradient estimator(counted, problem.start.y, 100);
  Vec x = problem.start.x, from = estimator.at(x, 0.1).u;
  const auto first = counted.counts().jv;
  for (int i = 0; i < 5; ++i) {
    x.array() += 0.1;
    const Hypergradient& h = estimator.at(x, 1e-3);
    estimator.learn(from, h.u);
    from = h.u;
    CHECK((h.u - problem.closed_form.grad_phi(x)).norm() <= 1e-2 * h.norm);
  }
  CHECK(counted.counts().jv <= first + 2);
}

TEST_CASE("thorough: products for v and a step for y also where nothing has changed") {
  problems::Problem problem = problems::make_problem("quadratic");
  CountingOracle counted(*problem.oracle);
  AdaptiveHypergradient estimator(counted, problem.start.y, 100);
  Vec x = problem.start.x, from = estimator.at(x, 0.1).u;
  for (int i = 0; i < 5; ++i) {
    x.array() += 0.1;
    const Vec u = estimator.at(x, 1e-6).u;
    estimator.learn(from, u);
    from = u;
  }
  const auto more = [&] {
    const auto before = counted.counts().hv;
    CHECK((estimator.at(x, 0.1).u - from).norm() <= 1e-4 * from.norm());
    return counted.counts().hv - before;
  };
  CHECK(more() <= 1);  // where v starts
  estimator.set_thorough(true);
  CHECK(more() >= 4);  // two for y, and one more for v at least, which is then at the level of rounding
}

TEST_CASE("a state that is restored starts the next solves where it was saved") {
  problems::Problem problem = problems::make_problem("ridge");
  AdaptiveHypergradient estimator(*problem.oracle, problem.start.y, 20);
  const Vec near = problem.start.x.array() + 0.01;
  AdaptiveHypergradient::State state;
  estimator.at(problem.start.x, 0.1);
  estimator.save(state);
  const Vec first = estimator.at(near, 0.1).u, y = estimator.y();
  estimator.at(problem.start.x.array() + 3.0, 0.1);
  estimator.restore(state);
  CHECK(estimator.y() == state.lower.y);
  CHECK(estimator.at(near, 0.1).u == first);
  CHECK(estimator.y() == y);
}
