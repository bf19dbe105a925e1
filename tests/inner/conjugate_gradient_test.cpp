#include "hypertape/inner/conjugate_gradient.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hypertape/core/random.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "support/dense_operator.hpp"

using namespace hypertape;
using testing::DenseOperator;

TEST_CASE("early exit returns the last iterate, not the one before") {
  // With A = I one step is exact; an implementation that forgets its last step returns the start.
  DenseOperator identity(Mat::Identity(3, 3));
  const Vec b{{1, 2, 3}};
  Vec q = Vec::Zero(3);
  const auto result = conjugate_gradient(identity, b, q, {.max_iterations = 10, .tolerance = 1e-10});
  CHECK(result.status == Status::converged);
  CHECK(result.iterations == 1);
  CHECK(q == b);
}

TEST_CASE("reference iterates, cold and warm, with their products counted") {
  const Mat A{{4, 1, 0, 0}, {1, 3, 1, 0}, {0, 1, 2, .5}, {0, 0, .5, 1}};
  DenseOperator op(A);
  const Vec b{{-.5, .5, -1, 1}};
  Vec q = Vec::Zero(4);
  auto result = conjugate_gradient(op, b, q, {.max_iterations = 2});
  CHECK(result.status == Status::iteration_limit);
  CHECK((q - Vec{{-.3324607329842932, .7958115183246074, -1.2827225130890054, 1.43717277486911}}).norm() < 1e-14);
  CHECK(result.residual == doctest::Approx((b - A * q).norm()).epsilon(1e-12));
  CHECK(op.products == 2);

  op.products = 0;
  q = Vec{{1, -1, .5, 0}};
  conjugate_gradient(op, b, q, {.max_iterations = 2});
  CHECK((q - Vec{{-.2832229161016414, .763507109486427, -.5981032978031661, .7214123169073969}}).norm() < 1e-14);
  CHECK(op.products == 3);

  q.setZero();
  result = conjugate_gradient(op, b, q, {.max_iterations = 50, .tolerance = 1e-14});
  CHECK(result.status == Status::converged);
  CHECK(result.iterations <= 5);
  CHECK((q - Vec{{-.29508196721311475, .680327868852459, -1.2459016393442623, 1.6229508196721312}}).norm() < 1e-13);
}

TEST_CASE("the error falls at the accelerated rate, and steepest descent would not") {
  for (const double kappa : {10.0, 100.0, 1e4}) {
    CAPTURE(kappa);
    const Mat A = problems::generate_quadratic({.dims = {1, 60}, .kappa = kappa}).A;
    DenseOperator op(A);
    const Vec b = Random(2).normal(60), exact = problems::Cholesky(A).solve(b);
    const auto energy = [&](const Vec& q) { return std::sqrt((q - exact).dot(A * (q - exact))); };
    const double rate = (std::sqrt(kappa) - 1) / (std::sqrt(kappa) + 1);
    for (const int steps : {5, 10, 20, 40}) {
      CAPTURE(steps);
      Vec q = Vec::Zero(60);
      conjugate_gradient(op, b, q, {.max_iterations = steps});
      CHECK(energy(q) <= 2 * std::pow(rate, steps) * energy(Vec::Zero(60)) * (1 + 1e-9) + 1e-12);
    }
    // Steepest descent, exact line search, misses this bound at 40 steps.
    Vec q = Vec::Zero(60);
    for (int k = 0; k < 40; ++k) {
      const Vec r = b - A * q;
      q += r.squaredNorm() / r.dot(A * r) * r;
    }
    CHECK(energy(q) > 2 * std::pow(rate, 40) * energy(Vec::Zero(60)));
  }
}

TEST_CASE("the residual that is returned is the true one, even after many steps on a bad matrix") {
  const Mat A = problems::generate_quadratic({.dims = {1, 80}, .kappa = 1e9}).A;
  DenseOperator op(A);
  const Vec b = Random(4).normal(80);
  Vec q = Vec::Zero(80);
  const auto result = conjugate_gradient(op, b, q, {.max_iterations = 400});
  CHECK(result.residual == doctest::Approx((b - A * q).norm()).epsilon(1e-3));
  CHECK(op.products == 400 + 8);  // a product for each refresh
}

TEST_CASE("asked for more than rounding allows, the iterate stays as good as it gets") {
  // Directions kept from before the residual was computed anew made it grow again, here to 0.002 |b|.
  for (const double kappa : {1e2, 1e4}) {
    CAPTURE(kappa);
    const Mat A = problems::generate_quadratic({.dims = {1, 60}, .kappa = kappa}).A;
    DenseOperator op(A);
    const Vec b = Random(4).normal(60);
    Vec q = Vec::Zero(60);
    const auto result = conjugate_gradient(op, b, q, {.max_iterations = 2000, .tolerance = 1e-17 * b.norm()});
    CHECK((b - A * q).norm() <= 1e-15 * kappa * b.norm());
    CHECK(result.residual <= 1e-15 * kappa * b.norm());
  }
}

TEST_CASE("trouble is a status with numbers") {
  const Vec b{{1, 1}};
  Vec q = Vec::Zero(2);
  SUBCASE("negative curvature") {
    DenseOperator indefinite(Mat{{1, 0}, {0, -2}});
    const auto result = conjugate_gradient(indefinite, b, q);
    CHECK(result.status == Status::indefinite);
    CHECK(result.message.find("p'Ap/p'p = -0.5") != std::string::npos);
    CHECK(result.message.find("not strongly convex") != std::string::npos);
  }
  SUBCASE("no curvature at all") {
    DenseOperator zero(Mat::Zero(2, 2));
    CHECK(conjugate_gradient(zero, b, q).status == Status::indefinite);
  }
  SUBCASE("not a number") {
    DenseOperator nan(Mat::Constant(2, 2, std::numeric_limits<double>::quiet_NaN()));
    CHECK(conjugate_gradient(nan, b, q).status == Status::not_finite);
  }
  SUBCASE("nothing to do") {
    DenseOperator identity(Mat::Identity(2, 2));
    const auto result = conjugate_gradient(identity, Vec::Zero(2), q);
    CHECK(result.status == Status::converged);
    CHECK(result.iterations == 0);
    CHECK(identity.products == 0);
  }
  SUBCASE("misuse") {
    DenseOperator identity(Mat::Identity(2, 2));
    CHECK_THROWS_WITH(conjugate_gradient(identity, Vec::Ones(3), q), "conjugate_gradient: b has 3 entries, expected 2");
    CHECK_THROWS_WITH(conjugate_gradient(identity, b, q, {.max_iterations = -1}),
                      "conjugate_gradient: max_iterations = -1, must not be negative");
    CHECK_THROWS_WITH(conjugate_gradient(identity, b, q, {.tolerance = -1}),
                      "conjugate_gradient: tolerance = -1, must not be negative");
    CHECK_THROWS_WITH(conjugate_gradient(identity, b, q, {.refresh = 0}),
                      "conjugate_gradient: refresh = 0, must be positive");
  }
}

TEST_CASE("the energy bound (8a): above the error, and close to it, where mu is right or too small") {
  for (const double kappa : {10.0, 1e3})
    for (const double part : {1.0, 0.5, 0.1}) {
      CAPTURE(kappa);
      CAPTURE(part);
      const Mat A = problems::generate_quadratic({.dims = {1, 60}, .kappa = kappa}).A;
      const double mu = problems::symmetric_eigenvalues(A).minCoeff();
      DenseOperator op(A);
      const Vec b = Random(2).normal(60), exact = problems::Cholesky(A).solve(b);
      const Vec start = Random(3).normal(60);
      double worst = 0;
      for (int steps = 0; steps <= 40; ++steps) {
        CAPTURE(steps);
        Vec q = start;
        const auto result = conjugate_gradient(op, b, q, {.max_iterations = steps, .mu = part * mu});
        const double error = std::sqrt((q - exact).dot(A * (q - exact)));
        CHECK(error <= result.energy_bound * (1 + 1e-9));
        CHECK(result.curvature >= mu * (1 - 1e-9));
        // What the iterates gained is what the error lost.
        const double first = (start - exact).dot(A * (start - exact));
        CHECK(result.gained == doctest::Approx(first - error * error).epsilon(1e-6));
        if (steps >= 5 && error > 1e-8) worst = std::max(worst, result.energy_bound / error);
      }
      // |r| / sqrt(mu), the bound without (8a), is off by up to sqrt(kappa).
      CHECK(worst < (part == 1 ? 4 : 10));
    }
}

TEST_CASE("the energy bound fails for a mu that is too large: the test above has teeth") {
  const Mat A = problems::generate_quadratic({.dims = {1, 60}, .kappa = 1e3}).A;
  const double mu = problems::symmetric_eigenvalues(A).minCoeff();
  DenseOperator op(A);
  const Vec b = Random(2).normal(60), exact = problems::Cholesky(A).solve(b);
  bool broken = false;
  for (int steps = 1; steps <= 20; ++steps) {
    Vec q = Vec::Zero(60);
    const auto result = conjugate_gradient(op, b, q, {.max_iterations = steps, .mu = 10 * mu});
    broken = broken || std::sqrt((q - exact).dot(A * (q - exact))) > 1.01 * result.energy_bound;
  }
  CHECK(broken);
}

TEST_CASE("stopping by energy, and the energy norm of an inverse") {
  const Mat A = problems::generate_quadratic({.dims = {1, 60}, .kappa = 100}).A;
  const double mu = problems::symmetric_eigenvalues(A).minCoeff();
  DenseOperator op(A);
  const Vec b = Random(2).normal(60), exact = problems::Cholesky(A).solve(b);
  Vec q = Vec::Zero(60);
  const auto result = conjugate_gradient(op, b, q, {.max_iterations = 1000, .mu = mu, .energy = 1e-3});
  CHECK(result.status == Status::converged);
  CHECK(result.energy_bound <= 1e-3);
  CHECK(std::sqrt((q - exact).dot(A * (q - exact))) <= 1e-3);
  const double norm = inverse_energy(op, b, mu, q);
  CHECK(norm >= std::sqrt(b.dot(exact)) * (1 - 1e-12));
  CHECK(norm <= std::sqrt(b.dot(exact)) * 1.0001);
  DenseOperator indefinite(-A);
  CHECK(std::isnan(inverse_energy(indefinite, b, mu, q)));
}
