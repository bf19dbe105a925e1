#pragma once

#include <cmath>

#include "hypertape/autodiff/select.hpp"
#include "hypertape/autodiff/vec_t.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// The W-shaped function: twice continuously differentiable, cubic pieces around a strict saddle at 0 and minima at
/// +-(L + 1) sqrt(eps), joined by lines. It is even, so it is written for |t|:
///
///   -sqrt(eps) t^2 + t^3 / 3                                                    0 <= t <= sqrt(eps)
///   -eps t + eps^1.5 / 3                                                        sqrt(eps) < t <= L sqrt(eps)
///   sqrt(eps) r^2 + r^3 / 3 - (3 L + 1) eps^1.5 / 3,  r = t - (L + 1) sqrt(eps)  L sqrt(eps) < t
template <class S>
S w_shape(const S& signed_t, double eps, double L) {
  const double root = std::sqrt(eps), cube = eps * root;
  const S t = select(less(signed_t, 0.0), -signed_t, signed_t);
  const S r = t - (L + 1) * root;
  const S saddle = -root * t * t + t * t * t / 3.0;
  const S line = -eps * t + cube / 3;
  const S basin = root * r * r + r * r * r / 3.0 - (3 * L + 1) * cube / 3;
  return select(less_equal(t, root), saddle, select(less_equal(t, L * root), line, basin));
}

/// min_x max_y  w(x_3) - 10 y_1^2 + x_1 y_1 - 5 y_2^2 + x_2 y_2
///
///   y*(x) = (x_1 / 20, x_2 / 10),   Phi(x) = w(x_3) + x_1^2 / 40 + x_2^2 / 20
struct SyntheticMinimax {
  double eps = 0.01;
  double L = 5;

  template <class S>
  S f(const VecT<S>& x, const VecT<S>& y) const {
    return w_shape(x[2], eps, L) - 10.0 * y[0] * y[0] + x[0] * y[0] - 5.0 * y[1] * y[1] + x[1] * y[1];
  }
};

/// Where the experiments start: next to the saddle, or far from it.
enum class MinimaxStart { near_saddle, far };

Problem make_synthetic_minimax(const SyntheticMinimax& spec = {}, MinimaxStart start = MinimaxStart::near_saddle);

}  // namespace hypertape::problems
