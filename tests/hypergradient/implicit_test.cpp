#include "hypertape/hypergradient/implicit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hypergradient/instances.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/contains.hpp"
#include "support/faulty_oracle.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::contains;
using testing::differences_of_phi;
using testing::HandWrittenOracle;
using testing::Instance;
using testing::relative;
using testing::x_nonlinear;
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("on quadratics the error is below the reported bound, and that below what was asked for") {
  for (const double kappa : {1.0, 10.0, 100.0})
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(kappa);
      CAPTURE(seed);
      Instance instance(kappa, seed);
      ImplicitHypergradient estimator(*instance.problem.oracle, instance.exact, instance.problem.start, seed);
      Random random(seed + 10);
      Vec x = instance.problem.start.x;
      for (double sigma = 1e-1; sigma > 0.5e-8; sigma /= 10) {
        CAPTURE(sigma);
        const Hypergradient& h = estimator.at(x, sigma);
        REQUIRE(h.status == Status::converged);
        CHECK(h.norm == h.u.norm());
        const Vec gradient = instance.problem.closed_form.grad_phi(x);
        CHECK((h.u - gradient).norm() <= h.error_bound + 1e-14 * gradient.norm());  // rounding
        CHECK(h.error_bound <= sigma * (1 + 1e-9));
        // The two terms are what they are said to be.
        const double lower = instance.problem.oracle->grad_y_g(x, estimator.y()).norm();
        CHECK(h.lower_gradient == doctest::Approx(lower).epsilon(1e-12));
        const Vec r = instance.q.A * estimator.v() - (estimator.y() - instance.q.d);
        CHECK(std::abs(h.residual - r.norm()) <= 1e-14 * (1 + estimator.v().norm()));
        x += 0.1 * random.normal(x.size());  // on from here, with y and v of the point before
      }
    }
}

TEST_CASE("a constant that is too small breaks the bound: the test above has teeth") {
  Instance instance(100);
  LowerOptions wrong = instance.exact;
  *wrong.c_y /= 1000;
  ImplicitHypergradient estimator(*instance.problem.oracle, wrong, instance.problem.start, 1);
  const Vec& x = instance.problem.start.x;
  const Hypergradient& h = estimator.at(x, 1e-2);
  CHECK((h.u - instance.problem.closed_form.grad_phi(x)).norm() > h.error_bound);
}

TEST_CASE("a constant that is seen to be too small voids the bound, until it is measured") {
  Instance instance(100);
  LowerOptions wrong = instance.exact;
  *wrong.cross /= 1000;
  ImplicitHypergradient estimator(*instance.problem.oracle, wrong, instance.problem.start, 1);
  const Vec& x = instance.problem.start.x;
  const Hypergradient& h = estimator.at(x, 1e-2);
  CHECK(h.error_bound == infinity);
  CHECK(contains(estimator.warning(), "cross = "));
  estimator.certify(x);
  CHECK((h.u - instance.problem.closed_form.grad_phi(x)).norm() <= h.error_bound);
  CHECK(h.error_bound < infinity);
}

TEST_CASE("on ridge regression, with estimated constants") {
  // The constants are estimates, made at the start, so that the bound is one too. It holds here.
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    auto problem = problems::make_ridge(problems::generate_ridge({.seed = seed}));
    ImplicitHypergradient estimator(*problem.oracle, {}, problem.start, seed);
    Random random(seed);
    for (const double away : {0.0, 0.3})
      for (double sigma = 1e-1; sigma > 0.5e-8; sigma /= 10) {
        CAPTURE(away);
        CAPTURE(sigma);
        const Vec x = problem.start.x + away * random.normal(8);
        const Hypergradient& h = estimator.at(x, sigma);
        REQUIRE(h.status == Status::converged);
        CHECK((h.u - problem.closed_form.grad_phi(x)).norm() <= h.error_estimate);
        CHECK(h.error_estimate <= 1.1 * sigma);
        CHECK(h.error_bound >= h.error_estimate);
      }
  }
}

TEST_CASE("on a lower level that is not quadratic, with estimated constants, against differences of Phi") {
  // Estimates again. The oracle has no adjoint products, so that |d2g/dxdy| comes from random ones.
  HandWrittenOracle oracle;
  const Vec gradient = differences_of_phi(oracle, x_nonlinear);
  ImplicitHypergradient estimator(oracle, {}, {x_nonlinear, Vec::Zero(3)}, 1);
  for (double sigma = 1e-1; sigma > 0.5e-8; sigma /= 10) {
    CAPTURE(sigma);
    estimator.restart_from(Vec::Zero(3));
    const Hypergradient& h = estimator.at(x_nonlinear, sigma);
    REQUIRE(h.status == Status::converged);
    CHECK((h.u - gradient).norm() <= h.error_bound + 1e-10);  // what the differences are worth
    CHECK(h.error_bound <= 1.1 * sigma);
  }
  CHECK(relative(estimator.last().u, gradient) < 1e-8);
}

TEST_CASE("fixed numbers of steps cost exactly what they are said to") {
  Instance instance(10);
  CountingOracle oracle(*instance.problem.oracle);
  LowerOptions options = instance.exact;
  for (const int T : {1, 4})
    for (const int products : {1, 3}) {
      CAPTURE(T);
      CAPTURE(products);
      options.steps = T;
      options.products = products;
      oracle.reset_counts();
      ImplicitHypergradient estimator(oracle, options, instance.problem.start, 1);
      CHECK(oracle.counts() == OracleCounts{});
      CHECK_FALSE(estimator.adapts());
      estimator.at(instance.problem.start.x, 0);
      CHECK(oracle.counts() == OracleCounts{.f = 1, .g = T, .jv = 1, .hv = products});
      oracle.reset_counts();
      estimator.at(instance.problem.start.x, 0);  // from a v that is not zero: a product to start
      CHECK(oracle.counts() == OracleCounts{.f = 1, .g = T, .jv = 1, .hv = products + 1});
      oracle.reset_counts();
      estimator.restart_from(Vec::Zero(20));
      estimator.at(instance.problem.start.x, 0);
      CHECK(oracle.counts() == OracleCounts{.f = 1, .g = T, .jv = 1, .hv = products});
      oracle.reset_counts();
      estimator.set_steps(T + 2);
      estimator.at(instance.problem.start.x, 0);
      CHECK(oracle.counts().g == T + 2);
    }
  // A step and a momentum are all that fixed numbers need: nothing is estimated then.
  oracle.reset_counts();
  ImplicitHypergradient bare(oracle, {.alpha = 0.5, .beta = 0, .steps = 2, .products = 2}, instance.problem.start, 1);
  CHECK(oracle.counts() == OracleCounts{});
  CHECK(bare.at(instance.problem.start.x, 0).error_bound == infinity);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .jv = 1, .hv = 2});
}

TEST_CASE("fixed numbers of steps: u is made of the y and v that they lead to") {
  Instance instance(10);
  const auto& q = instance.q;
  LowerOptions options = instance.exact;
  options.steps = 3;
  options.products = 2;
  ImplicitHypergradient estimator(*instance.problem.oracle, options, instance.problem.start, 1);
  const Vec& x = q.x0;
  for (int call = 0; call < 3; ++call) {
    const Hypergradient& h = estimator.at(x, 0);
    CHECK(relative(h.u, q.D * x + q.C.transpose() * estimator.v()) < 1e-13);
    CHECK(h.phi == doctest::Approx(instance.problem.plain.f(x, estimator.y())).epsilon(1e-14));  // as it is: no (19)
    CHECK((h.u - instance.problem.closed_form.grad_phi(x)).norm() <= h.error_bound);
    // (16): y as (5) has it, v better than that.
    CHECK(h.error_bound > *options.c_y * h.lower_gradient / *options.mu);
    CHECK(h.error_bound < (*options.c_y * h.lower_gradient + *options.cross * h.residual) / *options.mu);
  }
}

TEST_CASE("at y* all the error is that of v, and the bound counts it and not much more") {
  // C is the eigenvector of A to mu, and grad_y f lies in the plane of it and that to l: one step of conjugate
  // gradients leaves an error, two leave none.
  problems::Quadratic q = problems::generate_quadratic({.dims = {1, 20}, .kappa = 10});
  const Mat vectors = problems::symmetric_eigenvectors(q.A);
  q.C = vectors.col(0);
  const Vec y = problems::make_quadratic(q).closed_form.y_star(q.x0);
  q.d = y - vectors.col(0) - 0.5 * vectors.col(19);
  auto problem = problems::make_quadratic(q);
  const double mu = problem.constants.mu;
  LowerOptions options{.mu = mu, .l = 1, .steps = 1, .cross = 1, .c_y = 1 / mu};
  for (const int products : {1, 2}) {
    CAPTURE(products);
    options.products = products;
    ImplicitHypergradient estimator(*problem.oracle, options, {q.x0, y}, 1);
    const Hypergradient& h = estimator.at(q.x0, 0);
    const double error = (h.u - problem.closed_form.grad_phi(q.x0)).norm();
    CHECK(error <= h.error_bound);
    if (products == 1) {
      CHECK(error > 1);
      CHECK(h.error_bound < 3 * error);
    } else {
      CHECK(h.error_bound < 1e-11);
    }
  }
}

TEST_CASE("where certificates decide, a second call at the same point is nearly free, and one nearby is cheaper") {
  Instance instance(100);
  CountingOracle oracle(*instance.problem.oracle);
  ImplicitHypergradient estimator(oracle, instance.exact, instance.problem.start, 1);
  CHECK(estimator.adapts());
  const Vec& x = instance.problem.start.x;
  estimator.at(x, 1e-6);
  const OracleCounts cold = oracle.counts();
  CHECK(cold.f == 1);
  CHECK(cold.jv == 1);
  CHECK(cold.g > 50);
  CHECK(cold.hv > 10);

  oracle.reset_counts();
  estimator.at(x, 1e-6);
  CHECK(oracle.counts().f == 1);
  CHECK(oracle.counts().g == 1);
  CHECK(oracle.counts().jv == 1);
  CHECK(oracle.counts().hv <= 2);  // rounding decides whether v has to be improved once more

  oracle.reset_counts();
  estimator.at(x + 1e-6 * Vec::Ones(10), 1e-6);
  CHECK(oracle.counts().g < 0.8 * static_cast<double>(cold.g));
  CHECK(oracle.counts().hv < cold.hv);

  oracle.reset_counts();
  estimator.restart_from(Vec::Zero(20));
  estimator.at(x, 1e-6);
  CHECK(oracle.counts() == cold);
}

TEST_CASE("v can be set, and is where the linear solve starts") {
  Instance instance(10);
  CountingOracle oracle(*instance.problem.oracle);
  const Vec& x = instance.q.x0;
  const Vec y = instance.problem.closed_form.y_star(x), v = problems::Cholesky(instance.q.A).solve(y - instance.q.d);
  ImplicitHypergradient estimator(oracle, instance.exact, instance.problem.start, 1);
  estimator.restart_from(y);
  estimator.set_v(v);
  const Hypergradient& h = estimator.at(x, 1e-6);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 1, .jv = 1, .hv = 1});
  CHECK(estimator.v() == v);
  CHECK(estimator.y() == y);
  CHECK(relative(h.u, instance.problem.closed_form.grad_phi(x)) < 1e-11);
}

TEST_CASE("phi is corrected to second order: its error is far below that of f, and within its bound") {
  for (const double kappa : {10.0, 100.0})
    for (const double sigma : {1e-2, 1e-3, 1e-4}) {
      CAPTURE(kappa);
      CAPTURE(sigma);
      Instance instance(kappa, 5);
      const LowerOptions& exact = instance.exact;
      ImplicitHypergradient estimator(*instance.problem.oracle, exact, instance.problem.start, 1);
      const Vec& x = instance.problem.start.x;
      const double phi = instance.problem.closed_form.phi(x);
      const Hypergradient& h = estimator.at(x, sigma);
      const double raw = std::abs(instance.problem.plain.f(x, estimator.y()) - phi), corrected = std::abs(h.phi - phi);
      CHECK(raw > 1e-12);
      CHECK(100 * corrected <= raw);  // a correction of the wrong sign would double the error
      // f has curvature 1 in y: |y - y*| <= sigma / (2 c_y), and the error of v meets |grad_y g|.
      const double c_y = *exact.c_y, mu = *exact.mu;
      const double bound = sigma * sigma / 4 * (1 / (2 * c_y * c_y) + std::sqrt(mu) / (c_y * *exact.cross));
      CHECK(corrected <= bound + 1e-14 * phi);
      // The value is f - v' grad_y g, to the last digits.
      const double by_hand = instance.problem.plain.f(x, estimator.y()) -
                             estimator.v().dot(instance.problem.oracle->grad_y_g(x, estimator.y()));
      CHECK(h.phi == doctest::Approx(by_hand).epsilon(1e-14));
    }
}

TEST_CASE("phi is corrected where the lower level is not quadratic, too") {
  HandWrittenOracle oracle;
  Vec y = Vec::Zero(3);
  REQUIRE(newton(oracle, x_nonlinear, y, {.tolerance = 1e-14}).status == Status::converged);
  const double phi = oracle.f(x_nonlinear, y);
  for (const double sigma : {1e-2, 1e-3, 1e-4}) {
    CAPTURE(sigma);
    ImplicitHypergradient estimator(oracle, {}, {x_nonlinear, Vec::Zero(3)}, 1);
    const Hypergradient& h = estimator.at(x_nonlinear, sigma);
    CHECK(100 * std::abs(h.phi - phi) <= std::abs(oracle.f(x_nonlinear, estimator.y()) - phi));
  }
}

}  // namespace hypertape
