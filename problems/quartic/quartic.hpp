#pragma once

#include <cstdint>

#include "hypertape/autodiff/vec_t.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// Flat around its minimum, so that the calls to reach an accuracy grow by a power of it:
///
///   F(z) = sum_i c_i z_i^4 / 4,   c > 0
///
/// as a bilevel problem f(x, y) = F(y), g(x, y) = (y - x)'A(y - x) / 2, or as a minimax problem
/// f(x, y) = F(x) - (y - x)'A(y - x) / 2, A positive definite. Either way y*(x) = x and Phi = F.
struct Quartic {
  Mat A;
  Vec c;

  template <class S>
  S F(const VecT<S>& z) const {
    S sum = 0;
    for (Index i = 0; i < c.size(); ++i) sum += 0.25 * c[i] * z[i] * z[i] * z[i] * z[i];
    return sum;
  }
  template <class S>
  S distance(const VecT<S>& x, const VecT<S>& y) const {
    return 0.5 * (y - x).dot(A * (y - x));
  }
};

struct QuarticSpec {
  Index dim = 10;
  double kappa = 10;     ///< condition number of A, as QuadraticSpec has it
  double spread = 100;   ///< the c_i are spread geometrically over [1 / spread, 1]
  bool minimax = false;  ///< the minimax problem
  std::uint64_t seed = 1;
};

Problem make_quartic(const QuarticSpec& spec = {});

}  // namespace hypertape::problems
