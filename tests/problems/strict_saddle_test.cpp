#include "problems/strict_saddle/strict_saddle.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "problems/dense.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;

TEST_CASE("closed forms agree with the oracles and with each other") {
  const Problem problem = make_strict_saddle({.seed = 3});
  Random random(5);
  for (int i = 0; i < 5; ++i) {
    const Vec x = random.normal(10);
    Vec y = random.normal(10);
    CHECK(newton(*problem.oracle, x, y).status == Status::converged);
    CHECK(relative(y, problem.closed_form.y_star(x)) < 1e-10);
    CHECK(problem.oracle->f(x, x) == doctest::Approx(problem.closed_form.phi(x)).epsilon(1e-12));
    const Vec d = random.normal(10).normalized();
    const double h = 1e-5;
    const double slope = (problem.closed_form.phi(x + h * d) - problem.closed_form.phi(x - h * d)) / (2 * h);
    CHECK(problem.closed_form.grad_phi(x).dot(d) == doctest::Approx(slope).epsilon(1e-6));
    const Vec bend = (problem.closed_form.grad_phi(x + h * d) - problem.closed_form.grad_phi(x - h * d)) / (2 * h);
    CHECK(relative(problem.closed_form.hess_phi(x) * d, bend) < 1e-7);
  }
}

TEST_CASE("the start is a strict saddle, or on its stable manifold, and the optimum a minimum") {
  const double gap = 0.1;
  const Problem saddle = make_strict_saddle({.gap = gap}, SaddleStart::saddle);
  CHECK(saddle.closed_form.grad_phi(saddle.start.x).norm() < 1e-14);
  const Vec eigenvalues = symmetric_eigenvalues(saddle.closed_form.hess_phi(saddle.start.x));
  CHECK(eigenvalues[0] == doctest::Approx(-gap).epsilon(1e-12));
  CHECK(eigenvalues[1] > 0);

  const Problem manifold = make_strict_saddle({.gap = gap});
  const Vec g = manifold.closed_form.grad_phi(manifold.start.x);
  CHECK(std::abs(g.normalized().dot(manifold.start.x.normalized())) == doctest::Approx(1).epsilon(1e-12));

  const Vec& best = saddle.optimum->x;
  CHECK(saddle.closed_form.grad_phi(best).norm() < 1e-14);
  CHECK(saddle.closed_form.phi(best) == doctest::Approx(saddle.optimum->phi).epsilon(1e-12));
  CHECK(symmetric_eigenvalues(saddle.closed_form.hess_phi(best))[0] > 0);
}

TEST_CASE("misuse is refused") {
  CHECK_THROWS_WITH(make_strict_saddle({.gap = 0.5}), "strict_saddle: gap = 0.5, must satisfy 0 < gap < 0.4");
  CHECK_THROWS_WITH(make_strict_saddle({.dim = 1}), "strict_saddle: dim = 1, must be at least 2");
}
