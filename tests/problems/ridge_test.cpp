#include "problems/ridge/ridge.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;

TEST_CASE("taped derivatives agree with the closed forms to 1e-12") {
  const GeneratedRidge instance = generate_ridge({.seed = 4});
  const Ridge& r = instance.data;
  Problem problem = make_ridge(instance);
  BilevelOracle& o = *problem.oracle;
  Random random(1);
  for (int k = 0; k < 10; ++k) {
    const Vec x = random.normal(8), y = random.normal(8), v = random.normal(8), u = random.normal(8);
    const Vec e = x.array().exp();
    const double n = 40;
    CHECK(o.grad_f(x, y).x.norm() == 0);
    CHECK(relative(o.grad_f(x, y).y, r.V.transpose() * (r.V * y - r.s) / n) < 1e-12);
    CHECK(relative(o.grad_y_g(x, y), r.X.transpose() * (r.X * y - r.t) / n + e.cwiseProduct(y)) < 1e-12);
    CHECK(relative(o.grad_g(x, y).x, 0.5 * (e.array() * y.array().square()).matrix()) < 1e-12);
    CHECK(relative(o.curvature_at(x, y)(v), r.X.transpose() * (r.X * v) / n + e.cwiseProduct(v)) < 1e-12);
    CHECK(relative(o.cross_product(x, y, v), e.cwiseProduct(y).cwiseProduct(v)) < 1e-12);
    CHECK(relative(o.adjoint_cross_product(x, y, u), e.cwiseProduct(y).cwiseProduct(u)) < 1e-12);
  }
}

TEST_CASE("the closed forms belong together, and the hidden x is an optimum") {
  const Problem problem = make_ridge(generate_ridge({.rows = 25, .features = 5, .seed = 9}));
  const auto& [y_star, phi, grad_phi, hess_phi] = problem.closed_form;
  const Vec x = Random(2).normal(5), d = Random(3).normal(5);
  CHECK(problem.oracle->grad_y_g(x, y_star(x)).norm() < 1e-12);
  CHECK(phi(x) == doctest::Approx(problem.plain.f(x, y_star(x))).epsilon(1e-13));
  const double h = 1e-5;
  CHECK(grad_phi(x).dot(d) == doctest::Approx((phi(x + h * d) - phi(x - h * d)) / (2 * h)).epsilon(1e-7));
  REQUIRE(problem.optimum);
  CHECK(phi(problem.optimum->x) < 1e-28);
  CHECK(grad_phi(problem.optimum->x).norm() < 1e-14);
  CHECK(phi(problem.start.x) > 1e-3);
}

TEST_CASE("the constants bound the curvature at the start") {
  const Problem problem = make_ridge(generate_ridge({}));
  const Vec v = Random(6).normal(8);
  const double curvature = v.dot(problem.oracle->curvature_at(problem.start.x, problem.start.y)(v)) / v.squaredNorm();
  CHECK(curvature >= problem.constants.mu);
  CHECK(curvature <= problem.constants.l);
  CHECK(problem.constants.mu >= 1);  // exp(0), from the regulariser alone
}

TEST_CASE("misuse is refused") {
  CHECK_THROWS_WITH(generate_ridge({.rows = 0}), "ridge: rows = 0, must be positive");
  CHECK_THROWS_WITH(generate_ridge({.features = 0}), "ridge: features = 0, must be positive");
}
