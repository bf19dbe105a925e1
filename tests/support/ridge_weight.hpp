#pragma once

#include <cmath>

#include "hypertape/tape/taped_problem.hpp"
#include "support/true_gradient.hpp"

namespace hypertape::testing {

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
