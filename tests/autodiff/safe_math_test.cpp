#include "hypertape/autodiff/safe_math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hypertape/autodiff/row_problem.hpp"
#include "hypertape/tape/taped_problem.hpp"

using namespace hypertape;

namespace {

constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();

/// phi(y; label) as a plain-taped problem and as a row problem; x plays no part.
template <class Phi>
std::vector<std::unique_ptr<BilevelOracle>> oracles(const Phi& phi, Index dim, double label = 0) {
  const auto plain = [phi, label]<class S>(const VecT<S>&, const VecT<S>& y) -> S { return phi(y, S(label)); };
  const auto of_row = [phi]<class S>(const VecT<S>& a, const VecT<S>&, const VecT<S>& d) -> S { return phi(a, d[0]); };
  const Mat data{{label}};
  const Objective terms{sum_rows(1, {.y = shared(), .data = data}, of_row)};
  std::vector<std::unique_ptr<BilevelOracle>> both;
  both.push_back(std::make_unique<TapedProblem>(make_bilevel({1, dim}, plain, plain)));
  both.push_back(std::make_unique<RowProblem>(Dims{1, dim}, terms, terms, RowOptions{.threads = 1}));
  return both;
}

const Vec any_x{{0.5}};

/// Softmax, from the largest entry down.
Vec softmax(const Vec& z) {
  const double m = z.maxCoeff();
  const Vec e = z.unaryExpr([m](double t) { return std::exp(t - m); });  // Eigen's own exp clamps its argument
  return e / e.sum();
}

const std::vector<Vec>& logits() {
  static const std::vector<Vec> all{
      Vec{{0, 0, 0}},      Vec{{1e3, 1e3, 1e3}},      Vec{{-1e3, -1e3, -1e3}}, Vec{{800, 0, -800}},
      Vec{{-1e3, 1e3, 0}}, Vec{{0.5, -0.25, 1.5}},    Vec{{1e3, 999, 998}},    Vec{{-800, -800, -801}},
      Vec{{40, 0, 0}},     Vec{{0, 1e-300, -1e-300}}, Vec{{1e3, -1e3, 1e3}},   Vec{{1e8, 1e8, 0}},
      Vec{{-745, 0, 710}}, Vec{{3, 3, -1e3}}};
  return all;
}

const std::vector<double>& scalars() {
  static const std::vector<double> all{0,   -0.0, 1e-300, -1e-300, 1e-9, -1e-9, 0.5, -0.5, 1,   -1,   5,     -5,
                                       36,  -36,  37,     -37,     40,   -40,   700, -700, 709, -709, 710,   -710,
                                       745, -745, 746,    -746,    800,  -800,  1e3, -1e3, 1e8, -1e8, 1e300, -1e300};
  return all;
}

/// 1 / (1 + exp(-t)) without overflow; true to a few units in the last place on both sides.
double true_sigmoid(double t) { return t >= 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t)); }

/// sigmoid(t) sigmoid(-t): p (1 - p) with all its digits.
double true_slope(double t) { return true_sigmoid(t) * true_sigmoid(-t); }

double true_log1p_exp(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

double value_of(BilevelOracle& o, double t) { return o.f(any_x, Vec{{t}}); }
double slope_of(BilevelOracle& o, double t) { return o.grad_y_g(any_x, Vec{{t}})[0]; }
double curvature_of(BilevelOracle& o, double t) { return o.curvature_at(any_x, Vec{{t}})(Vec{{1}})[0]; }

bool close(double actual, double expected, double relative_tolerance, double absolute_tolerance) {
  return std::abs(actual - expected) <= relative_tolerance * std::abs(expected) + absolute_tolerance;
}

VecT<double> as_arguments(const Vec& z) { return {"z", z}; }

const auto sum_of_exponentials = [](const auto& y, const auto&) { return log_sum_exp(y); };
const auto cross_entropy = [](const auto& y, const auto& label) { return softmax_cross_entropy(y, label); };
const auto sigmoid_of = [](const auto& y, const auto&) { return sigmoid(y[0]); };
const auto log1p_exp_of = [](const auto& y, const auto&) { return log1p_exp(y[0]); };

}  // namespace

TEST_CASE("detach keeps the value and drops the derivative") {
  CHECK(detach(2.5) == 2.5);
  const auto phi = []<class S>(const VecT<S>& y, const S&) -> S { return detach(y[0]) * y[0] * y[0] + detach(y[1]); };
  for (const auto& o : oracles(phi, 2)) {
    const Vec y{{3, 7}};
    CHECK(o->f(any_x, y) == 27 + 7);
    CHECK(o->grad_y_g(any_x, y) == Vec{{18, 0}});  // 2 detach(y) y, not 3 y^2
    CHECK(o->curvature_at(any_x, y)(Vec{{1, 1}}) == Vec{{6, 0}});
    CHECK(o->f(any_x, Vec{{-2, 1}}) == -8 + 1);  // at every point anew
    CHECK(o->grad_y_g(any_x, Vec{{-2, 1}}) == Vec{{8, 0}});
  }
}

TEST_CASE("log-sum-exp is finite with the softmax as its gradient, for logits of any size") {
  const auto both = oracles(sum_of_exponentials, 3);
  for (const Vec& z : logits()) {
    CAPTURE(z.transpose());
    const double m = z.maxCoeff(), expected = m + std::log((z.array() - m).exp().sum());
    CHECK(close(log_sum_exp(as_arguments(z)), expected, rounding, 0));
    const Vec s = softmax(z), v{{1, -2, 0.5}}, Hv = s.cwiseProduct(v) - s * s.dot(v);
    for (std::size_t k = 0; k < both.size(); ++k) {
      CAPTURE(k);
      BilevelOracle& o = *both[k];
      CHECK(close(o.f(any_x, z), expected, rounding, 0));
      CHECK((o.grad_y_g(any_x, z) - s).norm() <= rounding);
      CHECK((o.curvature_at(any_x, z)(v) - Hv).norm() <= 3 * rounding);
      // Small probabilities keep all their digits.
      for (Index j = 0; j < 3; ++j) CHECK(close(o.grad_y_g(any_x, z)[j], s[j], rounding, 1e-320));
    }
  }
  CHECK(log_sum_exp(as_arguments(Vec{{1e3}})) == 1e3);
  CHECK(log_sum_exp(as_arguments(Vec{{5, 5}})) == doctest::Approx(5 + std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("softmax cross-entropy by label has the softmax less the label as its gradient") {
  for (const double label : {0.0, 1.0, 2.0}) {
    const auto both = oracles(cross_entropy, 3, label);
    const Index right = static_cast<Index>(label);
    for (const Vec& z : logits()) {
      CAPTURE(label);
      CAPTURE(z.transpose());
      const double m = z.maxCoeff(), expected = (m - z[right]) + std::log((z.array() - m).exp().sum());
      const double cancelled = rounding * z.cwiseAbs().maxCoeff();
      CHECK(close(softmax_cross_entropy(as_arguments(z), label), expected, rounding, cancelled));
      Vec gradient = softmax(z);
      const Vec s = gradient, v{{1, -2, 0.5}}, Hv = s.cwiseProduct(v) - s * s.dot(v);
      gradient[right] -= 1;
      for (std::size_t k = 0; k < both.size(); ++k) {
        CAPTURE(k);
        BilevelOracle& o = *both[k];
        CHECK(close(o.f(any_x, z), expected, rounding, cancelled));
        CHECK((o.grad_y_g(any_x, z) - gradient).norm() <= rounding);
        CHECK((o.curvature_at(any_x, z)(v) - Hv).norm() <= 3 * rounding);
      }
    }
  }
  // A label that is no class: nothing is right.
  CHECK(softmax_cross_entropy(as_arguments(Vec{{0, 0}}), 5.0) == doctest::Approx(std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("sigmoid and its derivatives are p (1 - p) and p (1 - p) (1 - 2 p) at every argument") {
  const auto both = oracles(sigmoid_of, 1);
  for (const double t : scalars()) {
    CAPTURE(t);
    const double p = true_sigmoid(t), slope = true_slope(t), curvature = slope * (true_sigmoid(-t) - p);
    CHECK(close(sigmoid(t), p, rounding, 1e-322));
    for (std::size_t k = 0; k < both.size(); ++k) {
      CAPTURE(k);
      CHECK(close(value_of(*both[k], t), p, rounding, 1e-322));
      // To rounding of 1 for t > 0, where p is as close to 1, and to all digits for t < 0.
      CHECK(close(slope_of(*both[k], t), slope, rounding, t > 0 ? rounding : 1e-322));
      CHECK(close(curvature_of(*both[k], t), curvature, 2 * rounding, t > -1 ? 2 * rounding : 1e-322));
    }
  }
  CHECK(sigmoid(0.0) == 0.5);
  CHECK(sigmoid(1e3) == 1);
  CHECK(sigmoid(-1e3) == 0);
}

TEST_CASE("log(1 + exp(t)) has the sigmoid and p (1 - p) as its derivatives at every argument") {
  const auto both = oracles(log1p_exp_of, 1);
  for (const double t : scalars()) {
    CAPTURE(t);
    const double value = true_log1p_exp(t), p = true_sigmoid(t), slope = true_slope(t);
    CHECK(close(log1p_exp(t), value, rounding, 1e-322));
    for (std::size_t k = 0; k < both.size(); ++k) {
      CAPTURE(k);
      CHECK(close(value_of(*both[k], t), value, rounding, 1e-322));
      CHECK(close(slope_of(*both[k], t), p, rounding, 1e-322));
      CHECK(close(curvature_of(*both[k], t), slope, rounding, t > 0 ? rounding : 1e-322));
    }
  }
  CHECK(log1p_exp(1e3) == 1e3);
  CHECK(log1p_exp(-1e3) == 0);
  CHECK(log1p_exp(0.0) == doctest::Approx(std::log(2.0)).epsilon(1e-15));
}

TEST_CASE("a wrong shift or a lost branch would not go unnoticed: values move with every argument") {
  // Central differences on both sides of zero, where the shift changes.
  for (const auto& o : oracles(log1p_exp_of, 1))
    for (const double t : {-2.0, -1e-3, 0.0, 1e-3, 2.0}) {
      CAPTURE(t);
      const double h = 1e-4;
      CHECK(slope_of(*o, t) == doctest::Approx((value_of(*o, t + h) - value_of(*o, t - h)) / (2 * h)).epsilon(1e-7));
      CHECK(curvature_of(*o, t) ==
            doctest::Approx((slope_of(*o, t + h) - slope_of(*o, t - h)) / (2 * h)).epsilon(1e-7));
    }
  for (const auto& o : oracles(sigmoid_of, 1))
    for (const double t : {-2.0, -1e-3, 1e-3, 2.0}) {
      CAPTURE(t);
      const double h = 1e-4;
      CHECK(slope_of(*o, t) == doctest::Approx((value_of(*o, t + h) - value_of(*o, t - h)) / (2 * h)).epsilon(1e-7));
      CHECK(std::abs(curvature_of(*o, t) - (slope_of(*o, t + h) - slope_of(*o, t - h)) / (2 * h)) < 1e-8);
    }
}

TEST_CASE("weights of rows that are extreme leave the derivatives of the others exact") {
  // sigmoid(x_i) * cross-entropy(y): cross derivatives p (1 - p) (softmax - label).
  const auto phi = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) -> S {
    return sigmoid(b[0]) * softmax_cross_entropy(a, d[0]);
  };
  const Vec x{{-1e3, -40, 0, 40, 1e3}}, y{{1e3, -1e3, 0}};
  const Mat labels{{1}, {2}, {0}, {1}, {0}};
  const Objective terms{sum_rows(1, {.y = shared(), .x = entries(), .data = labels}, phi)};
  RowProblem problem({5, 3}, terms, terms, {.threads = 1});
  const double losses[] = {2e3, 1e3, 0, 2e3, 0};
  double g = 0;
  Vec grad_x(5), grad_y = Vec::Zero(3);
  for (Index i = 0; i < 5; ++i) {
    const double p = true_sigmoid(x[i]);
    g += p * losses[i];
    grad_x[i] = true_slope(x[i]) * losses[i];
    grad_y[0] += p;
    grad_y[static_cast<Index>(labels(i, 0))] -= p;
  }
  CHECK(problem.g(x, y) == doctest::Approx(g).epsilon(1e-15));
  CHECK((problem.grad_g(x, y).x - grad_x).norm() <= 1e-12);
  CHECK((problem.grad_y_g(x, y) - grad_y).norm() <= 1e-14);
  CHECK((problem.curvature_at(x, y)(Vec{{1, 2, 3}})).norm() == 0);
  CHECK(close(problem.cross_product(x, y, Vec{{1, 0, 0}})[1], true_slope(-40), 1e-14, 0));
  CHECK(problem.cross_product(x, y, Vec{{1, 0, 0}})[2] == 0);  // softmax is the label to the last bit
  CHECK(problem.cross_product(x, y, Vec{{0, 1, 0}})[0] == 0);
}
