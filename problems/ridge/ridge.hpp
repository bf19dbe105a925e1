#pragma once

#include <cstdint>

#include "hypertape/autodiff/vec_t.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// Ridge regression with a regularisation weight exp(x_k) for every feature, chosen for the validation error:
///
///   g(x, y) = |X y - t|^2 / (2 n) + sum_k exp(x_k) y_k^2 / 2        (training rows X, targets t)
///   f(x, y) = |V y - s|^2 / (2 m)                                   (validation rows V, targets s)
///
///   y*(x)       = H^-1 X't / n,   H = X'X / n + diag(exp x)
///   grad Phi(x) = -exp(x) o y* o v,   H v = V'(V y* - s) / m
struct Ridge {
  Mat X, V;
  Vec t, s;

  template <class S>
  S f(const VecT<S>&, const VecT<S>& y) const {
    return (V * y - s).squaredNorm() * (0.5 / static_cast<double>(s.size()));
  }
  template <class S>
  S g(const VecT<S>& x, const VecT<S>& y) const {
    S sum = (X * y - t).squaredNorm() * (0.5 / static_cast<double>(t.size()));
    for (Index k = 0; k < x.size(); ++k) sum += 0.5 * exp(x[k]) * y[k] * y[k];
    return sum;
  }
};

struct RidgeSpec {
  Index rows = 40;
  Index features = 8;
  std::uint64_t seed = 1;
};

/// Random rows and noisy targets. The validation targets are what the ridge solution at a hidden x predicts, so that x
/// is an optimum and Phi = 0 there.
struct GeneratedRidge {
  Ridge data;
  Vec optimum;
};
GeneratedRidge generate_ridge(const RidgeSpec& spec);

Problem make_ridge(const GeneratedRidge& instance);

}  // namespace hypertape::problems
