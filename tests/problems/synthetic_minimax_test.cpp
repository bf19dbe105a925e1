#include "problems/synthetic_minimax/synthetic_minimax.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/inner/newton.hpp"
#include "support/reference.hpp"

using namespace hypertape;
using namespace hypertape::problems;

namespace {

constexpr double eps = 0.01, L = 5;

/// The function as it is printed in the paper, piece by piece, for one variable of either sign.
double as_printed(double x) {
  const double r = std::sqrt(eps), c = eps * r;
  if (x <= -L * r) return r * std::pow(x + (L + 1) * r, 2) - std::pow(x + (L + 1) * r, 3) / 3 - (3 * L + 1) * c / 3;
  if (x <= -r) return eps * x + c / 3;
  if (x <= 0) return -r * x * x - x * x * x / 3;
  if (x <= r) return -r * x * x + x * x * x / 3;
  if (x <= L * r) return -eps * x + c / 3;
  return r * std::pow(x - (L + 1) * r, 2) + std::pow(x - (L + 1) * r, 3) / 3 - (3 * L + 1) * c / 3;
}

}  // namespace

TEST_CASE("w is the printed function in each of its six pieces and at their ends") {
  for (const double t : {-1.3, -0.7, -0.6, -0.5, -0.3, -0.1, -0.05, 0.0, 0.05, 0.1, 0.3, 0.5, 0.6, 0.7, 1.3}) {
    CAPTURE(t);
    CHECK(w_shape(t, eps, L) == doctest::Approx(as_printed(t)).epsilon(1e-13).scale(1e-3));
  }
}

TEST_CASE("value, slope and curvature of the tape agree with the closed form in every piece") {
  Problem problem = make_synthetic_minimax();
  const auto& [y_star, phi, grad_phi, hess_phi] = problem.closed_form;
  REQUIRE(problem.branches.size() == 6);
  for (const Point& z : problem.branches) {
    CAPTURE(z.x[2]);
    const Vec y = y_star(z.x);
    CHECK(problem.oracle->grad_y_g(z.x, y).norm() < 1e-15);
    CHECK(problem.oracle->f(z.x, y) == doctest::Approx(phi(z.x)).epsilon(1e-14));
    // Danskin: at y* the gradient of Phi is grad_x f.
    CHECK((problem.oracle->grad_f(z.x, y).x - grad_phi(z.x)).norm() < 1e-15);
    const double curvature = problem.oracle->hess_f(z.x, y, Vec{{0, 0, 1}}, Vec::Zero(2)).x[2];
    CHECK(curvature == doctest::Approx(hess_phi(z.x)(2, 2)).epsilon(1e-13).scale(1e-3));
  }
}

TEST_CASE("w is twice continuously differentiable where its pieces meet") {
  const Problem problem = make_synthetic_minimax();
  for (const double joint : {-0.5, -0.1, 0.0, 0.1, 0.5}) {
    CAPTURE(joint);
    const double h = 1e-9;
    const Vec left{{0, 0, joint - h}}, right{{0, 0, joint + h}};
    CHECK(std::abs(problem.closed_form.phi(left) - problem.closed_form.phi(right)) < 1e-10);
    CHECK((problem.closed_form.grad_phi(left) - problem.closed_form.grad_phi(right)).norm() < 1e-8);
    CHECK((problem.closed_form.hess_phi(left) - problem.closed_form.hess_phi(right)).norm() < 1e-8);
  }
}

TEST_CASE("the saddle, the minima and the starts are where they should be") {
  const Problem problem = make_synthetic_minimax();
  const auto& form = problem.closed_form;
  CHECK(form.grad_phi(Vec::Zero(3)).norm() == 0);
  CHECK(form.hess_phi(Vec::Zero(3)).diagonal().isApprox(Vec{{0.05, 0.1, -0.2}}, 1e-14));
  REQUIRE(problem.optimum);
  CHECK(problem.optimum->phi == doctest::Approx(-16e-3 / 3).epsilon(1e-14));
  for (const double sign : {-1.0, 1.0}) {
    const Vec x = sign * problem.optimum->x;
    CHECK(std::abs(x[2]) == doctest::Approx(0.6).epsilon(1e-15));
    CHECK(form.phi(x) == doctest::Approx(problem.optimum->phi).epsilon(1e-14));
    CHECK(form.grad_phi(x).norm() < 1e-15);
    CHECK(form.hess_phi(x)(2, 2) == doctest::Approx(0.2).epsilon(1e-13));
  }
  CHECK(form.phi(problem.start.x) == doctest::Approx(7.5e-8).epsilon(1e-12).scale(0));
  const Problem far = make_synthetic_minimax({}, MinimaxStart::far);
  CHECK(form.phi(far.start.x) == doctest::Approx(0.032).epsilon(1e-13));
  CHECK(form.grad_phi(far.start.x)[2] == doctest::Approx(0.24).epsilon(1e-13));
  CHECK(problem.minimax);
}

TEST_CASE("w agrees with the reference table") {
  const Problem problem = make_synthetic_minimax();
  const auto reference = testing::reference("w_minimax");
  for (const auto& row : reference.at("w").at("w")) {
    const Vec x{{0, 0, row[0].get<double>()}};
    CAPTURE(x[2]);
    CHECK(std::abs(problem.closed_form.phi(x) - row[1].get<double>()) < 1e-16);
    CHECK(std::abs(problem.closed_form.grad_phi(x)[2] - row[2].get<double>()) < 1e-15);
    CHECK(std::abs(problem.closed_form.hess_phi(x)(2, 2) - row[3].get<double>()) < 1e-14);
  }
}

TEST_CASE("misuse is refused") {
  CHECK_THROWS_WITH(make_synthetic_minimax({.eps = 0}), "synthetic_minimax: eps = 0, must be positive");
  CHECK_THROWS_WITH(make_synthetic_minimax({.L = 0.5}), "synthetic_minimax: L = 0.5, must be at least 1");
}
