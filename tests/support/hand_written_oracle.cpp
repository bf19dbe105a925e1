#include "support/hand_written_oracle.hpp"

#include <algorithm>
#include <cmath>

namespace hypertape::testing {

HandWrittenOracle::HandWrittenOracle(Bug bug) : bug_(bug) {
  if (bug == Bug::not_convex) a_[2] = -1;
}

PlainFunctions HandWrittenOracle::plain() const {
  const Vec a = a_, d = d_;
  const Mat C = C_;
  return {[d](const Vec& x, const Vec& y) {
            return 0.5 * (y - d).squaredNorm() + std::cos(x[0]) * y[1] + x[2] * y[0] * y[2] + 0.5 * x.squaredNorm();
          },
          [a, C](const Vec& x, const Vec& y) {
            const double positive = std::max(y[0], 0.0);
            return 0.5 * (a.array() * y.array().square()).sum() + 0.25 * y.array().pow(4).sum() - y.dot(C * x) +
                   positive * positive * positive;
          }};
}

double HandWrittenOracle::do_f(const Vec& x, const Vec& y) { return plain().f(x, y); }

double HandWrittenOracle::do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  gx = x;
  if (bug_ != Bug::missing_term_in_grad_x_f) gx[0] -= std::sin(x[0]) * y[1];
  gx[2] += y[0] * y[2];
  if (bug_ == Bug::sign_of_grad_x_f) gx = -gx;
  gy = y - d_;
  gy[1] += std::cos(x[0]);
  gy[0] += x[2] * y[2];
  gy[2] += x[2] * y[0];
  if (bug_ == Bug::factor_in_grad_y_f) gy *= 2;
  return do_f(x, y);
}

void HandWrittenOracle::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  const double cubic = bug_ == Bug::coefficient_in_grad_y_g ? 0.5 : 1.0;
  out = a_.cwiseProduct(y) + cubic * y.array().cube().matrix() - C_ * x;
  if (y[0] > 0 && bug_ != Bug::frozen_branch_in_grad_y_g) out[0] += 3 * y[0] * y[0];
}

LinearOperator& HandWrittenOracle::do_curvature_at(const Vec&, const Vec& y) {
  Vec diagonal = a_;
  if (bug_ != Bug::missing_term_in_curvature) diagonal += 3 * y.array().square().matrix();
  if (y[0] > 0 && bug_ != Bug::frozen_branch_in_curvature) diagonal[0] += 6 * y[0];
  curvature_.matrix = diagonal.asDiagonal();
  if (bug_ == Bug::asymmetric_curvature) curvature_.matrix(0, 1) += 0.01;
  return curvature_;
}

void HandWrittenOracle::do_cross_product(const Vec&, const Vec&, const Vec& v, Vec& out) {
  if (bug_ == Bug::transposed_cross_product)
    out = -C_ * v;
  else if (bug_ == Bug::sign_of_cross_product)
    out = C_.transpose() * v;
  else
    out = -C_.transpose() * v;
}

}  // namespace hypertape::testing
