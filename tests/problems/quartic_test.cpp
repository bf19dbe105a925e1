#include "problems/quartic/quartic.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/verify/verify.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;

TEST_CASE("closed forms agree with the oracles and with each other, as a bilevel and as a minimax problem") {
  for (const bool minimax : {false, true}) {
    CAPTURE(minimax);
    const Problem problem = make_quartic({.minimax = minimax, .seed = 3});
    CHECK(problem.minimax == minimax);
    const auto& [y_star, phi, grad_phi, hess_phi] = problem.closed_form;
    Random random(5);
    for (int i = 0; i < 5; ++i) {
      const Vec x = random.normal(10);
      Vec y = random.normal(10);
      CHECK(newton(*problem.oracle, x, y).status == Status::converged);
      CHECK(relative(y, y_star(x)) < 1e-10);
      CHECK(problem.plain.f(x, y_star(x)) == doctest::Approx(phi(x)).epsilon(1e-12));
      const Vec d = random.normal(10).normalized();
      const double h = 1e-5;
      CHECK(grad_phi(x).dot(d) == doctest::Approx((phi(x + h * d) - phi(x - h * d)) / (2 * h)).epsilon(1e-6));
      const Vec bend = (grad_phi(x + h * d) - grad_phi(x - h * d)) / (2 * h);
      CHECK(relative(hess_phi(x) * d, bend) < 1e-7);
    }
    CHECK(grad_phi(problem.optimum->x).norm() == 0);
    CHECK(phi(problem.optimum->x) == problem.optimum->phi);
    CHECK(verify(*problem.oracle, problem.plain).passed);
  }
}

TEST_CASE("condition numbers are those asked for") {
  const Problem problem = make_quartic({.dim = 6, .kappa = 40, .spread = 1000});
  CHECK(problem.constants.kappa() == doctest::Approx(40).epsilon(1e-12));
  const Vec c = problem.closed_form.grad_phi(Vec::Ones(6));
  CHECK(c.maxCoeff() / c.minCoeff() == doctest::Approx(1000).epsilon(1e-12));
}

TEST_CASE("misuse is refused") {
  CHECK_THROWS_WITH(make_quartic({.dim = 0}), "quartic: dim = 0, must be positive");
  CHECK_THROWS_WITH(make_quartic({.kappa = 0.5}), "quartic: kappa = 0.5, must be at least 1");
  CHECK_THROWS_WITH(make_quartic({.spread = 0.5}), "quartic: spread = 0.5, must be at least 1");
}
