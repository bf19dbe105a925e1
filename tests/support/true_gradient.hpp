#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/oracle/bilevel_oracle.hpp"
#include "problems/dense.hpp"

namespace hypertape::testing {

/// d2g/dy2 as a matrix, a product for each column: for problems with few unknowns below.
inline Mat lower_hessian(BilevelOracle& oracle, const Vec& x, const Vec& y) {
  LinearOperator& H = oracle.curvature_at(x, y);
  Mat out(y.size(), y.size());
  Vec unit = Vec::Zero(y.size()), column;
  for (Index j = 0; j < y.size(); ++j) {
    unit[j] = 1;
    H.apply(unit, column);
    out.col(j) = column;
    unit[j] = 0;
  }
  return 0.5 * (out + out.transpose());
}

/// d2g/dy2 at a point, scaled to ones on the diagonal and factorised: condition numbers cost digits but no time. The
/// shift is what rounding makes of the matrix: it keeps directions out in which nothing but rounding is left.
class LowerFactor {
 public:
  LowerFactor(BilevelOracle& oracle, const Vec& x, const Vec& y)
      : H_(lower_hessian(oracle, x, y)),
        scale_(H_.diagonal().cwiseSqrt().cwiseInverse()),
        factor_(Mat::Identity(1, 1)) {
    if (!H_.allFinite() || !(H_.diagonal().minCoeff() > 0)) return;
    H_ = (scale_.asDiagonal() * H_ * scale_.asDiagonal()).eval();
    const Index n = H_.rows();
    for (double shift = static_cast<double>(n) * epsilon; !valid_ && shift < 1e-8; shift *= 10) {
      factor_ = problems::Cholesky(H_ + shift * Mat::Identity(n, n));
      valid_ = factor_.positive_definite();
    }
  }

  /// Whether d2g/dy2 is finite and positive definite, up to rounding; nothing else makes sense if it is not.
  bool valid() const { return valid_; }

  /// |g|, with every entry in units of its own curvature.
  double size(const Vec& g) const { return g.cwiseProduct(scale_).norm(); }

  Vec solve(const Vec& b) const {
    const Vec right = b.cwiseProduct(scale_);
    Vec v = factor_.solve(right), residual = right - H_ * v;
    for (int refinement = 0; refinement < 20; ++refinement) {
      const Vec better = v + factor_.solve(residual), left = right - H_ * better;
      if (!(left.norm() < 0.5 * residual.norm())) break;
      v = better;
      residual = left;
    }
    return v.cwiseProduct(scale_);
  }

  /// About how many digits of a solution can be relied on, at worst.
  double digits() const {
    return std::log10(std::max(epsilon, problems::symmetric_eigenvalues(H_).minCoeff()) / epsilon);
  }

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  Mat H_;
  Vec scale_;
  problems::Cholesky factor_;
  bool valid_ = false;
};

/// The hypergradient at (x, y), maths.md (2), whether y is y*(x) or not.
inline Vec implicit_gradient(BilevelOracle& oracle, const Vec& x, const Vec& y, const LowerFactor& H) {
  const Gradient f = oracle.grad_f(x, y);
  return f.x - oracle.cross_product(x, y, H.solve(f.y));
}

/// grad Phi(x) as far as arithmetic allows: y from where it is to y*(x), by Newton steps that are halved until the
/// gradient falls, as long as it does, then maths.md (2). `digits`, if given, are about how many of them can be relied
/// on, at worst. Not a number where d2g/dy2 is not positive definite.
inline Vec exact_gradient(BilevelOracle& oracle, const Vec& x, Vec& y, double* digits = nullptr) {
  if (y.size() == 0) y.setZero(oracle.dims().y);
  Vec gradient = oracle.grad_y_g(x, y), trial, trial_gradient;
  for (int k = 0; k < 200 && gradient.allFinite(); ++k) {
    const LowerFactor H(oracle, x, y);
    if (!H.valid()) break;
    const Vec step = H.solve(gradient);
    bool falls = false;
    for (double t = 1; t > 1e-6 && !falls; t /= 2) {
      trial = y - t * step;
      if (trial == y) break;
      oracle.grad_y_g(x, trial, trial_gradient);
      falls = H.size(trial_gradient) < (1 - 0.1 * t) * H.size(gradient);
    }
    if (!falls) {
      if (digits) *digits = H.digits();
      return implicit_gradient(oracle, x, y, H);
    }
    y.swap(trial);
    gradient.swap(trial_gradient);
  }
  return Vec::Constant(x.size(), std::numeric_limits<double>::quiet_NaN());
}

/// |grad Phi(x)|, found from y.
inline double true_gradient(BilevelOracle& oracle, const Vec& x, Vec y) { return exact_gradient(oracle, x, y).norm(); }

}  // namespace hypertape::testing
