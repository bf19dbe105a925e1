#include "hypertape/hypergradient/iterative.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "hypertape/core/random.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/faulty_oracle.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::Call;
using testing::FaultyOracle;
using testing::HandWrittenOracle;
using testing::infinity;
using testing::nan;
using testing::relative;

/// y^D(x): D steps of gradient descent from y^0.
Vec descended(BilevelOracle& oracle, const Vec& x, Vec y, double alpha, int D) {
  for (int t = 0; t < D; ++t) y -= alpha * oracle.grad_y_g(x, y);
  return y;
}

/// The derivative of x -> f(x, y^D(x)), y^0 fixed, by central differences of fourth order.
Vec differences(BilevelOracle& oracle, const Vec& x, const Vec& y0, double alpha, int D) {
  const auto value = [&](const Vec& at) { return oracle.f(at, descended(oracle, at, y0, alpha, D)); };
  Vec out(x.size());
  const double h = 1e-3;
  for (Index i = 0; i < x.size(); ++i) {
    const Vec e = h * Vec::Unit(x.size(), i);
    out[i] = (8 * (value(x + e) - value(x - e)) - (value(x + 2 * e) - value(x - 2 * e))) / (12 * h);
  }
  return out;
}

/// A random quadratic with its constants, which are exact.
struct Instance {
  problems::Quadratic q;
  problems::Problem problem;
  LowerOptions exact;

  Instance(double kappa, std::uint64_t seed)
      : q(problems::generate_quadratic({.kappa = kappa, .seed = seed})), problem(problems::make_quadratic(q)) {
    exact.mu = problem.constants.mu;
    exact.l = problem.constants.l;
    exact.cross = problems::norm2(q.C);
    exact.c_y = *exact.cross / *exact.mu;
  }
};

}  // namespace

TEST_CASE("u is the derivative of f after D steps, y^0 fixed") {
  HandWrittenOracle oracle;
  const Vec y0{{0.4, -0.3, 0.2}};
  Random random(1);
  for (const int D : {1, 2, 3, 8, 30})
    for (int k = 0; k < 3; ++k) {
      const Vec x = random.normal(3);
      CAPTURE(D);
      CAPTURE(k);
      IterativeHypergradient estimator(oracle, {.alpha = 0.08, .beta = 0, .steps = D}, {x, y0}, 1);
      const Hypergradient& h = estimator.at(x, 0);
      CHECK(h.status == Status::converged);
      CHECK(relative(h.u, differences(oracle, x, y0, 0.08, D)) < 1e-6);
      CHECK(h.norm == h.u.norm());
      CHECK(relative(estimator.y(), descended(oracle, x, y0, 0.08, D)) < 1e-14);
      CHECK(h.phi == doctest::Approx(oracle.f(x, estimator.y())).epsilon(1e-14));
      CHECK(h.error_bound == infinity);  // not certified
      // The derivative through one step more is another one.
      CHECK(relative(h.u, differences(oracle, x, y0, 0.08, D + 1)) > 1e-5);
    }
}

TEST_CASE("u is that derivative where d2g/dxdy depends on y, too") {
  auto problem = problems::make_ridge(problems::generate_ridge({.rows = 20, .features = 4, .seed = 3}));
  const Vec x = 0.5 * Random(2).normal(4), y0 = Random(3).normal(4);
  for (const int D : {1, 2, 5}) {
    CAPTURE(D);
    IterativeHypergradient estimator(*problem.oracle, {.alpha = 0.1, .beta = 0, .steps = D}, {x, y0}, 1);
    CHECK(relative(estimator.at(x, 0).u, differences(*problem.oracle, x, y0, 0.1, D)) < 1e-6);
  }
}

TEST_CASE("each call starts where the one before it ended, or where it is told to") {
  HandWrittenOracle oracle;
  const Vec x{{0.5, 1, -0.7}}, next{{0.6, 0.9, -0.6}}, y0 = Vec::Zero(3);
  IterativeHypergradient estimator(oracle, {.alpha = 0.1, .beta = 0, .steps = 4}, {x, y0}, 1);
  estimator.at(x, 0);
  const Vec y4 = estimator.y();
  CHECK(relative(estimator.at(next, 0).u, differences(oracle, next, y4, 0.1, 4)) < 1e-6);
  estimator.restart_from(y0);
  CHECK(relative(estimator.at(next, 0).u, differences(oracle, next, y0, 0.1, 4)) < 1e-6);
  CHECK(relative(y4, y0) > 0.1);
}

TEST_CASE("D steps cost D gradients of g, one of f, D and D - 1 products") {
  HandWrittenOracle hand_written;
  CountingOracle oracle(hand_written);
  const Point start{Vec::Ones(3), Vec::Zero(3)};
  for (const int D : {1, 2, 7}) {
    CAPTURE(D);
    oracle.reset_counts();
    IterativeHypergradient estimator(oracle, {.alpha = 0.1, .beta = 0, .steps = D}, start, 1);
    CHECK(oracle.counts() == OracleCounts{});
    CHECK_FALSE(estimator.adapts());
    for (int call = 1; call <= 3; ++call) {
      estimator.at(start.x, 1e-3);
      CHECK(oracle.counts() == OracleCounts{.f = call, .g = call * D, .jv = call * D, .hv = call * (D - 1)});
    }
  }
}

TEST_CASE("momentum is not used, accuracy is not asked for") {
  HandWrittenOracle oracle;
  const Point start{Vec::Ones(3), Vec::Zero(3)};
  IterativeHypergradient plain(oracle, {.alpha = 0.1, .beta = 0, .steps = 5}, start, 1);
  IterativeHypergradient with_momentum(oracle, {.alpha = 0.1, .beta = 0.9, .steps = 5}, start, 1);
  CHECK(plain.at(start.x, 1e-12).u == with_momentum.at(start.x, 1).u);
}

TEST_CASE("the error bound holds on quadratics, and falls with D") {
  for (const double kappa : {1.0, 10.0, 100.0})
    for (const std::uint64_t seed : {1, 2, 3})
      for (const double alpha : {0.4, 1.0, 1.9}) {
        CAPTURE(kappa);
        CAPTURE(seed);
        CAPTURE(alpha);
        Instance instance(kappa, seed);
        const Vec& x = instance.q.x0;
        const Vec gradient = instance.problem.closed_form.grad_phi(x);
        double before = infinity;
        for (const int D : {1, 3, 10, 30, 100}) {
          CAPTURE(D);
          LowerOptions options = instance.exact;
          options.alpha = alpha / *options.l;
          options.steps = D;
          IterativeHypergradient estimator(*instance.problem.oracle, options, instance.problem.start, 1);
          const Hypergradient& h = estimator.at(x, 0);
          CHECK((h.u - gradient).norm() <= h.error_bound + 1e-13 * gradient.norm());
          CHECK(h.error_bound <= before);
          before = h.error_bound;
        }
      }
}

TEST_CASE("the part of the error that only more steps make smaller is counted, and not much more") {
  // A = I and y^0 = y*: nothing but the truncated series is left, C' (1 - alpha)^D (y* - d).
  Instance instance(1, 4);
  const Vec& x = instance.q.x0;
  const Vec gradient = instance.problem.closed_form.grad_phi(x), y = instance.problem.closed_form.y_star(x);
  for (const int D : {1, 2, 5, 20}) {
    CAPTURE(D);
    LowerOptions options = instance.exact;
    options.alpha = 0.5;
    options.steps = D;
    IterativeHypergradient estimator(*instance.problem.oracle, options, {x, y}, 1);
    const Hypergradient& h = estimator.at(x, 0);
    const double error = (h.u - gradient).norm();
    CHECK(error == doctest::Approx(std::pow(0.5, D) * (instance.q.C.transpose() * (y - instance.q.d)).norm()));
    CHECK(error <= h.error_bound);
    CHECK(h.error_bound <= 20 * error);
    CHECK(h.residual == doctest::Approx(std::pow(0.5, D - 1) * (y - instance.q.d).norm()));
    CHECK(h.lower_gradient < 1e-13);
  }
}

TEST_CASE("answers that are not finite are a status, with the part that they are of") {
  const Point start{Vec::Ones(3), Vec::Zero(3)};
  struct Fault {
    Call kind;
    bool value;
    std::string says;
  };
  for (const Fault& fault :
       {Fault{Call::grad_y_g, false, "lower level: |grad_y g| = "}, Fault{Call::grad_f, false, "upper level: "},
        Fault{Call::grad_f, true, "upper level: "}, Fault{Call::cross_product, false, "hypergradient: "},
        Fault{Call::curvature, false, "reverse sweep: "}})
    for (const double wrong : {nan, infinity}) {
      CAPTURE(fault.says);
      CAPTURE(wrong);
      HandWrittenOracle right;
      FaultyOracle oracle(right, fault.kind, fault.value, 1, wrong);
      IterativeHypergradient estimator(oracle, {.alpha = 0.1, .beta = 0, .steps = 3}, start, 1);
      CHECK(estimator.at(start.x, 0).status == Status::not_finite);
      CHECK(estimator.last().message.find(fault.says) == 0);
    }
  HandWrittenOracle right;
  FaultyOracle oracle(right, Call::curvature, false, 1, nan);
  IterativeHypergradient estimated(oracle, {.steps = 3}, start, 1);
  CHECK(estimated.at(start.x, 0).status == Status::not_finite);
}

TEST_CASE("a lower level that is not convex is met by the reverse sweep") {
  TapedProblem concave = make_bilevel(
      {1, 1}, [](const auto&, const auto& y) { return 0.5 * y[0] * y[0]; },
      [](const auto& x, const auto& y) { return x[0] * y[0] - 0.5 * y[0] * y[0]; });
  const Point start{Vec{{1.0}}, Vec{{0.5}}};
  IterativeHypergradient estimator(concave, {.alpha = 0.1, .beta = 0, .steps = 3}, start, 1);
  const Hypergradient& h = estimator.at(start.x, 0);
  CHECK(h.status == Status::indefinite);
  CHECK(h.message.find("reverse sweep: p'Hp = -") == 0);
  CHECK(h.message.find("not strongly convex") != std::string::npos);
}

TEST_CASE("steps that are far too long end with a status") {
  HandWrittenOracle oracle;
  const Point start{Vec::Ones(3), Vec::Ones(3)};
  IterativeHypergradient estimator(oracle, {.alpha = 50, .beta = 0, .steps = 100}, start, 1);
  const Hypergradient& h = estimator.at(start.x, 0);
  CHECK(h.status == Status::not_finite);
  CHECK(h.message.find("lower level: ") == 0);
}

TEST_CASE("misuse is refused") {
  HandWrittenOracle oracle;
  const Point start{Vec::Ones(3), Vec::Zero(3)};
  CHECK_THROWS_WITH_AS(IterativeHypergradient(oracle, {.alpha = 0.1, .beta = 0}, start, 1),
                       "itd: steps = auto, must be given: the number D of steps to differentiate",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(IterativeHypergradient(oracle, {.alpha = -1, .steps = 3}, start, 1),
                       "lower level: alpha = -1, must be positive, or auto", std::invalid_argument);
}

}  // namespace hypertape
