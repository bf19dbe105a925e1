#pragma once

#include <cstdint>

#include "hypertape/autodiff/vec_t.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// The best approximation of a matrix by yy', seen through a lower level that only moves y to x:
///
///   f(x, y) = |yy' - M|^2 / 4,   g(x, y) = (y - x)'A(y - x) / 2,   A, M positive definite
///
/// Phi(x) = |xx' - M|^2 / 4 has minima at +-sqrt(lambda_1) v_1 and strict saddles at sqrt(lambda_i) v_i, where
/// lambda_min(Hess Phi) = lambda_i - lambda_1; grad Phi = |x|^2 x - M x, Hess Phi = |x|^2 I + 2 xx' - M.
struct StrictSaddle {
  Mat A, M;

  template <class S>
  S f(const VecT<S>&, const VecT<S>& y) const {
    const S square = y.squaredNorm();
    return 0.25 * square * square - 0.5 * y.dot(M * y) + 0.25 * M.squaredNorm();
  }
  template <class S>
  S g(const VecT<S>& x, const VecT<S>& y) const {
    return 0.5 * (y - x).dot(A * (y - x));
  }
};

struct StrictSaddleSpec {
  Index dim = 10;
  double gap = 0.2;   ///< eigenvalues of M: 1, 1 - gap, then evenly from 0.6 down; 0 < gap < 0.4
  double kappa = 10;  ///< condition number of A, as QuadraticSpec has it
  std::uint64_t seed = 1;
};

/// Where a run starts: at the second saddle itself, or on its stable manifold, 0.3 v_2.
enum class SaddleStart { saddle, stable_manifold };

Problem make_strict_saddle(const StrictSaddleSpec& spec = {}, SaddleStart start = SaddleStart::stable_manifold);

}  // namespace hypertape::problems
