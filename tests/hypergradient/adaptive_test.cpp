#include "hypertape/hypergradient/adaptive.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
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
