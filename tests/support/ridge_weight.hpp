#pragma once

#include <cmath>

#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/inner/newton.hpp"

namespace hypertape::testing {

/// |grad Phi(x)| from a lower level and a linear system that are solved as far as arithmetic allows.
inline double true_gradient(BilevelOracle& oracle, const Vec& x, Vec y) {
  newton(oracle, x, y);
  const Gradient f = oracle.grad_f(x, y);
  Vec v = Vec::Zero(y.size());
  conjugate_gradient(oracle.curvature_at(x, y), f.y, v, {.max_iterations = 20'000, .tolerance = 1e-14 * f.y.norm()});
  return (f.x - oracle.cross_product(x, y, v)).norm();
}

/// README's class: one weight for |y|^2 below, a wanted y above.
inline TapedProblem ridge_weight(const Mat& A, const Vec& b, const Vec& wanted) {
  return make_bilevel(
      {1, A.cols()}, [wanted](const auto&, const auto& y) { return (y - wanted).squaredNorm(); },
      [A, b](const auto& x, const auto& y) {
        using std::exp;
        return (A * y - b).squaredNorm() + exp(x[0]) * y.dot(y);
      });
}

}  // namespace hypertape::testing
