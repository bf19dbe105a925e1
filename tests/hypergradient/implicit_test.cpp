#include "hypertape/hypergradient/implicit.hpp"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/faulty_oracle.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::Bug;
using testing::Call;
using testing::FaultyOracle;
using testing::HandWrittenOracle;
using testing::relative;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

double norm2(const Mat& m) { return Eigen::JacobiSVD<Mat>(m).singularValues()[0]; }

/// A random quadratic with its constants, which are exact: grad Phi as a function of y is D x + C'A^-1 (y - d).
struct Instance {
  problems::Quadratic q;
  problems::Problem problem;
  LowerOptions exact;

  explicit Instance(double kappa, std::uint64_t seed = 1)
      : q(problems::generate_quadratic({.kappa = kappa, .seed = seed})), problem(problems::make_quadratic(q)) {
    exact.mu = problem.constants.mu;
    exact.l = problem.constants.l;
    exact.cross = norm2(q.C);
    exact.c_y = exact.cross / exact.mu;
  }
};

/// grad Phi of an oracle that has no closed form: differences of x -> f(x, y*(x)), y* by Newton's method.
Vec differences_of_phi(BilevelOracle& oracle, const Vec& x) {
  const auto phi = [&](const Vec& at) {
    Vec y = Vec::Zero(oracle.dims().y);
    REQUIRE(newton(oracle, at, y, {.tolerance = 1e-14}).status == Status::converged);
    return oracle.f(at, y);
  };
  Vec gradient(x.size());
  const double h = 1e-3;  // four values: the error is about h^4, rounding 1e-16 / h
  for (Index i = 0; i < x.size(); ++i) {
    const Vec e = h * Vec::Unit(x.size(), i);
    gradient[i] = (8 * (phi(x + e) - phi(x - e)) - (phi(x + 2 * e) - phi(x - 2 * e))) / (12 * h);
  }
  return gradient;
}

bool contains(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

const Vec x_nonlinear{{0.7, -0.4, 0.3}};

/// What goes wrong, and the part that must say so.
struct Fault {
  Call kind;
  bool value;
  std::string says;
};
const std::vector<Fault> faults{
    {Call::grad_f, true, "upper level: "},           {Call::grad_f, false, "upper level: "},
    {Call::grad_y_g, false, "lower level: "},        {Call::curvature, false, "linear system: "},
    {Call::cross_product, false, "hypergradient: "},
};

}  // namespace

TEST_CASE("on quadratics the error is below the reported bound, and that below what was asked for") {
  for (const double kappa : {1.0, 10.0, 100.0})
    for (const std::uint64_t seed : {1, 2, 3}) {
      CAPTURE(kappa);
      CAPTURE(seed);
      Instance instance(kappa, seed);
      ImplicitHypergradient estimator(*instance.problem.oracle, instance.exact, instance.problem.start, true, seed);
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

TEST_CASE("too small constants break the bound: the test above has teeth") {
  Instance instance(100);
  LowerOptions wrong = instance.exact;
  wrong.c_y /= 1000;
  wrong.cross /= 1000;
  ImplicitHypergradient estimator(*instance.problem.oracle, wrong, instance.problem.start, true, 1);
  const Vec& x = instance.problem.start.x;
  const Hypergradient& h = estimator.at(x, 1e-2);
  CHECK((h.u - instance.problem.closed_form.grad_phi(x)).norm() > h.error_bound);
}

TEST_CASE("on ridge regression, with estimated constants") {
  // The constants are estimates, made at the start, so that the bound is one too. It holds here.
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    auto problem = problems::make_ridge(problems::generate_ridge({.seed = seed}));
    ImplicitHypergradient estimator(*problem.oracle, {}, problem.start, true, seed);
    Random random(seed);
    for (const double away : {0.0, 0.3})
      for (double sigma = 1e-1; sigma > 0.5e-8; sigma /= 10) {
        CAPTURE(away);
        CAPTURE(sigma);
        const Vec x = problem.start.x + away * random.normal(8);
        const Hypergradient& h = estimator.at(x, sigma);
        REQUIRE(h.status == Status::converged);
        CHECK((h.u - problem.closed_form.grad_phi(x)).norm() <= h.error_bound);
        CHECK(h.error_bound <= 1.1 * sigma);
      }
  }
}

TEST_CASE("on a lower level that is not quadratic, with estimated constants, against differences of Phi") {
  // Estimates again. The oracle has no adjoint products, so that |d2g/dxdy| comes from random ones.
  HandWrittenOracle oracle;
  const Vec gradient = differences_of_phi(oracle, x_nonlinear);
  ImplicitHypergradient estimator(oracle, {}, {x_nonlinear, Vec::Zero(3)}, true, 1);
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
      ImplicitHypergradient estimator(oracle, options, instance.problem.start, true, 1);
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
  ImplicitHypergradient bare(oracle, {.alpha = 0.5, .beta = 0, .steps = 2, .products = 2}, instance.problem.start,
                             false, 1);
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
  ImplicitHypergradient estimator(*instance.problem.oracle, options, instance.problem.start, true, 1);
  const Vec& x = q.x0;
  for (int call = 0; call < 3; ++call) {
    const Hypergradient& h = estimator.at(x, 0);
    CHECK(relative(h.u, q.D * x + q.C.transpose() * estimator.v()) < 1e-13);
    CHECK(h.phi == doctest::Approx(instance.problem.plain.f(x, estimator.y())).epsilon(1e-14));  // as it is: no (19)
    CHECK((h.u - instance.problem.closed_form.grad_phi(x)).norm() <= h.error_bound);
    CHECK(h.error_bound == doctest::Approx((options.c_y * h.lower_gradient + options.cross * h.residual) / options.mu));
  }
}

TEST_CASE("at y* all the error is that of v, and the bound counts it and not much more") {
  // C is the eigenvector of A to mu, and grad_y f lies in the plane of it and that to l: one step of conjugate
  // gradients leaves an error, two leave none.
  problems::Quadratic q = problems::generate_quadratic({.dims = {1, 20}, .kappa = 10});
  const Mat vectors = Eigen::SelfAdjointEigenSolver<Mat>(q.A).eigenvectors();
  q.C = vectors.col(0);
  const Vec y = problems::make_quadratic(q).closed_form.y_star(q.x0);
  q.d = y - vectors.col(0) - 0.5 * vectors.col(19);
  auto problem = problems::make_quadratic(q);
  const double mu = problem.constants.mu;
  LowerOptions options{.mu = mu, .l = 1, .steps = 1, .cross = 1, .c_y = 1 / mu};
  for (const int products : {1, 2}) {
    CAPTURE(products);
    options.products = products;
    ImplicitHypergradient estimator(*problem.oracle, options, {q.x0, y}, true, 1);
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
  ImplicitHypergradient estimator(oracle, instance.exact, instance.problem.start, true, 1);
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
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 1, .jv = 1, .hv = 1});

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
  const Vec y = instance.problem.closed_form.y_star(x), v = instance.q.A.llt().solve(y - instance.q.d);
  ImplicitHypergradient estimator(oracle, instance.exact, instance.problem.start, true, 1);
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
      ImplicitHypergradient estimator(*instance.problem.oracle, exact, instance.problem.start, true, 1);
      const Vec& x = instance.problem.start.x;
      const double phi = instance.problem.closed_form.phi(x);
      const Hypergradient& h = estimator.at(x, sigma);
      const double raw = std::abs(instance.problem.plain.f(x, estimator.y()) - phi), corrected = std::abs(h.phi - phi);
      CHECK(raw > 1e-12);
      CHECK(100 * corrected <= raw);  // a correction of the wrong sign would double the error
      // f has curvature 1 in y: |y - y*| <= sigma / (2 c_y), and the error of v meets |grad_y g|.
      const double bound = sigma * sigma / 4 * (1 / (2 * exact.c_y * exact.c_y) + exact.mu / (exact.c_y * exact.cross));
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
    ImplicitHypergradient estimator(oracle, {}, {x_nonlinear, Vec::Zero(3)}, true, 1);
    const Hypergradient& h = estimator.at(x_nonlinear, sigma);
    CHECK(100 * std::abs(h.phi - phi) <= std::abs(oracle.f(x_nonlinear, estimator.y()) - phi));
  }
}

TEST_CASE("accurate for a while, whatever the numbers of steps, and with momentum") {
  Instance instance(100);
  CountingOracle oracle(*instance.problem.oracle);
  LowerOptions options = instance.exact;
  options.beta = 0;
  options.steps = options.products = 2;
  ImplicitHypergradient estimator(oracle, options, instance.problem.start, true, 1);
  const Vec& x = instance.problem.start.x;
  CHECK(estimator.at(x, 1e-6).error_bound > 1);
  const Vec two_steps = estimator.y();

  estimator.set_accurate(true);
  CHECK(estimator.adapts());
  oracle.reset_counts();
  CHECK(estimator.at(x, 1e-6).error_bound <= 1e-6 * (1 + 1e-9));
  CHECK(oracle.counts().g < 500);
  estimator.set_accurate(false);
  CHECK_FALSE(estimator.adapts());
  estimator.restart_from(Vec::Zero(20));
  oracle.reset_counts();
  CHECK(estimator.at(x, 1e-6).error_bound > 1);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .jv = 1, .hv = 2});
  CHECK(estimator.y() == two_steps);

  // Without momentum it takes far more.
  options.steps = options.products = 0;
  ImplicitHypergradient plain(oracle, options, instance.problem.start, true, 1);
  oracle.reset_counts();
  CHECK(plain.at(x, 1e-6).error_bound <= 1e-6 * (1 + 1e-9));
  CHECK(oracle.counts().g > 800);
}

TEST_CASE("a cold solve takes so many steps from zero") {
  Instance instance(10);
  CountingOracle oracle(*instance.problem.oracle);
  LowerOptions options = instance.exact;
  options.steps = options.products = 1;
  ImplicitHypergradient estimator(oracle, options, {instance.q.x0, Vec::Ones(20)}, true, 1);
  CHECK(estimator.solve_cold(instance.q.x0, 1));
  CHECK(oracle.counts() == OracleCounts{.g = 1});
  const Vec one_step = (instance.q.C * instance.q.x0 + instance.q.b) / instance.exact.l;
  CHECK(relative(estimator.y(), one_step) < 1e-14);
  CHECK(estimator.solve_cold(instance.q.x0, 500));
  CHECK(relative(estimator.y(), instance.problem.closed_form.y_star(instance.q.x0)) < 1e-12);
}

TEST_CASE("a lower level that is not strongly convex is a status that says so") {
  HandWrittenOracle oracle(Bug::not_convex);
  const Point start{Vec::Zero(3), Vec::Zero(3)};
  SUBCASE("seen by the estimates at the start") {
    ImplicitHypergradient estimator(oracle, {}, start, true, 1);
    const Hypergradient& h = estimator.at(start.x, 1e-3);
    CHECK(h.status == Status::indefinite);
    CHECK(contains(h.message, "not strongly convex"));
    CHECK(contains(h.message, "mu = -0.5"));
  }
  SUBCASE("seen by conjugate gradients, where constants are given") {
    // From y = 0 at x = 0, where grad_y g = 0: a saddle of g.
    ImplicitHypergradient estimator(oracle, {.mu = 1, .l = 10, .cross = 3, .c_y = 10}, start, true, 1);
    const Hypergradient& h = estimator.at(start.x, 1e-3);
    CHECK(h.status == Status::indefinite);
    CHECK(contains(h.message, "linear system: "));
    CHECK(contains(h.message, "not strongly convex"));
  }
  SUBCASE("seen by the steps for y, which run away") {
    TapedProblem concave = make_bilevel(
        {1, 1}, [](const auto&, const auto& y) { return 0.5 * y[0] * y[0]; },
        [](const auto& x, const auto& y) { return x[0] * y[0] - 0.5 * y[0] * y[0]; });
    const Vec x{{1.0}};
    ImplicitHypergradient estimator(concave, {.mu = 1, .l = 1, .cross = 1, .c_y = 1}, {x, Vec::Zero(1)}, true, 1);
    const Hypergradient& h = estimator.at(x, 1e-3);
    CHECK(h.status == Status::indefinite);
    CHECK(contains(h.message, "lower level: curvature -1: "));
    CHECK(contains(h.message, "not strongly convex"));
    CHECK(estimator.y() == Vec::Zero(1));  // where it was
  }
  SUBCASE("a status of one point is not that of the next") {
    ImplicitHypergradient estimator(oracle, {.mu = 1, .l = 10, .cross = 3, .c_y = 10}, start, true, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::indefinite);
    estimator.restart_from(Vec::Constant(3, 2));  // the other side of the saddle, where g is convex
    CHECK(estimator.at(Vec{{0, 0, 4}}, 1e-3).status == Status::converged);
  }
}

TEST_CASE("answers that are not finite are a status, with the part that they are of") {
  const Point start{x_nonlinear, Vec::Zero(3)};
  const LowerOptions given{.mu = 1, .l = 10, .cross = 3, .c_y = 10};
  LowerOptions counted = given;
  counted.steps = counted.products = 4;
  for (const Fault& fault : faults)
    for (const double wrong : {nan, infinity})
      for (const LowerOptions& options : {given, counted}) {
        CAPTURE(fault.says);
        CAPTURE(wrong);
        HandWrittenOracle right;
        FaultyOracle oracle(right, fault.kind, fault.value, 1, wrong);
        ImplicitHypergradient estimator(oracle, options, start, true, 1);
        const Hypergradient& h = estimator.at(start.x, 1e-3);
        CHECK(h.status == Status::not_finite);
        CHECK(contains(h.message, fault.says));
      }
}

TEST_CASE("answers that are not finite at a later call") {
  const Point start{x_nonlinear, Vec::Zero(3)};
  for (const Fault& fault : faults) {
    CAPTURE(fault.says);
    HandWrittenOracle right;
    FaultyOracle oracle(right, fault.kind, fault.value, 2, nan);
    ImplicitHypergradient estimator(oracle, {.mu = 1, .l = 10, .cross = 3, .c_y = 10}, start, true, 1);
    Status status = estimator.at(start.x, 1e-3).status;
    CHECK(oracle.went_wrong() == (status != Status::converged));
    if (status == Status::converged) status = estimator.at(start.x + Vec::Ones(3), 1e-3).status;
    CHECK(status == Status::not_finite);
    CHECK(contains(estimator.last().message, fault.says));
    CHECK(estimator.y().allFinite());
  }
}

TEST_CASE("answers that are not finite while constants are estimated") {
  const Point start{x_nonlinear, Vec::Zero(3)};
  for (const Fault& fault : faults) {
    CAPTURE(fault.says);
    HandWrittenOracle right;
    FaultyOracle oracle(right, fault.kind, fault.value, 1, nan);
    ImplicitHypergradient estimator(oracle, {}, start, true, 1);
    CHECK(estimator.at(start.x, 1e-3).status == Status::not_finite);
  }
  HandWrittenOracle right;
  FaultyOracle only_cross(right, Call::cross_product, false, 1, nan);
  ImplicitHypergradient given_c_y(only_cross, {.mu = 1, .l = 10, .c_y = 10}, start, true, 1);
  CHECK(given_c_y.at(start.x, 1e-3).status == Status::not_finite);

  FaultyOracle only_step(right, Call::curvature, false, 1, nan);
  ImplicitHypergradient counted(only_step, {.steps = 2, .products = 2}, start, false, 1);
  CHECK(counted.at(start.x, 1e-3).status == Status::not_finite);
}

TEST_CASE("where the curvature of g grows from the start to y*, the step is made to fit") {
  HandWrittenOracle hand_written;
  // Curvature 3 at y = 0, where l is estimated, but 6 at y*.
  CountingOracle oracle(hand_written);
  const Vec x{{0, 2, 0}};
  ImplicitHypergradient cycles(oracle, {}, {x, Vec::Zero(3)}, true, 1);
  CHECK(cycles.at(x, 1e-6).error_bound <= 1.1e-6);
  CHECK(oracle.counts().g < 1000);

  const Vec further{{0, 3, 0}};
  ImplicitHypergradient diverges(hand_written, {}, {further, Vec::Zero(3)}, true, 1);
  CHECK(diverges.at(further, 1e-6).status == Status::converged);

  // With an l that holds on the way there is no trouble.
  ImplicitHypergradient estimator(hand_written, {.mu = 1, .l = 20}, {further, Vec::Zero(3)}, true, 1);
  const Hypergradient& h = estimator.at(further, 1e-6);
  CHECK(h.status == Status::converged);
  CHECK(h.error_bound <= 1.1e-6);
  CHECK((h.u - differences_of_phi(hand_written, further)).norm() <= h.error_bound + 1e-10);
}

TEST_CASE("a step that is too long") {
  Instance instance(10);
  LowerOptions options = instance.exact;
  SUBCASE("is diverged if it was given") {
    options.alpha = 50;
    ImplicitHypergradient estimator(*instance.problem.oracle, options, instance.problem.start, true, 1);
    const Hypergradient& h = estimator.at(instance.q.x0, 1e-3);
    CHECK(h.status == Status::diverged);
    CHECK(contains(h.message, "lower level: agd: |gradient| grew from "));
    CHECK(contains(h.message, "steps of length 50"));
  }
  SUBCASE("is shortened if it was not") {
    options.mu = 1e-3;
    options.l = 0.02;  // fifty times too small
    CountingOracle oracle(*instance.problem.oracle);
    ImplicitHypergradient estimator(oracle, options, instance.problem.start, true, 1);
    const Hypergradient& h = estimator.at(instance.q.x0, 1e-6);
    CHECK(h.status == Status::converged);
    CHECK((h.u - instance.problem.closed_form.grad_phi(instance.q.x0)).norm() <= h.error_bound);
    // Once: the next solve takes the short step at once.
    oracle.reset_counts();
    CHECK(estimator.at(instance.q.x0, 1e-6).status == Status::converged);
    CHECK(oracle.counts().g == 1);
  }
}

TEST_CASE("every option can be set by its name") {
  LowerOptions options;
  OptionList list;
  options.describe(list);
  double value = 1;
  for (const char* name : {"mu", "l", "alpha", "beta", "steps", "products", "most", "cross", "c_y"})
    list.set(name, std::to_string(static_cast<int>(value++)));
  CHECK(list.options().size() == 9);
  CHECK(options.mu == 1);
  CHECK(options.l == 2);
  CHECK(options.alpha == 3);
  CHECK(options.beta == 4);
  CHECK(options.steps == 5);
  CHECK(options.products == 6);
  CHECK(options.most == 7);
  CHECK(options.cross == 8);
  CHECK(options.c_y == 9);
}

TEST_CASE("misuse is refused with the option and its value") {
  Instance instance(10);
  const auto make = [&](const LowerOptions& options) {
    ImplicitHypergradient(*instance.problem.oracle, options, instance.problem.start, true, 1);
  };
  CHECK_THROWS_WITH_AS(make({.mu = -1}), "mu = -1, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.mu = 2, .l = 1}), "l = 1, must be at least mu = 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.alpha = -0.5}), "alpha = -0.5, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.beta = 1}), "beta = 1, must be less than 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.steps = -3}), "steps = -3, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.products = -3}), "products = -3, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.most = 0}), "most = 0, must be at least 1", std::invalid_argument);
  CHECK_THROWS_AS(make({.mu = nan}), std::invalid_argument);
  CHECK_THROWS_AS(make({.l = nan}), std::invalid_argument);
  CHECK_THROWS_AS(make({.alpha = nan}), std::invalid_argument);
  CHECK_THROWS_AS(make({.beta = nan}), std::invalid_argument);
  CHECK_THROWS_AS(make({.cross = -1}), std::invalid_argument);
  CHECK_THROWS_AS(make({.c_y = -1}), std::invalid_argument);
  CHECK_NOTHROW(make({}));
}

}  // namespace hypertape
