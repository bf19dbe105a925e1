#pragma once

#include <cstdint>
#include <string>

#include "hypertape/autodiff/vec_t.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// g(x, y) = y'A y / 2 - y'(C x + b),   f(x, y) = |y - d|^2 / 2 + x'D x / 2,   A positive definite.
///
///   y*(x)        = A^-1 (C x + b)
///   grad Phi(x)  = D x + C' A^-1 (y*(x) - d)
///   Hess Phi     = D + C' A^-2 C
struct Quadratic {
  Mat A, C, D;
  Vec b, d, x0;

  template <class S>
  S f(const VecT<S>& x, const VecT<S>& y) const {
    return 0.5 * (y - d).squaredNorm() + 0.5 * x.dot(D * x);
  }
  template <class S>
  S g(const VecT<S>& x, const VecT<S>& y) const {
    return 0.5 * y.dot(A * y) - y.dot(C * x + b);
  }

  /// Throws std::invalid_argument, naming the field, unless sizes fit, A and D are symmetric and A positive definite.
  void require_valid(const std::string& where) const;
};

struct QuadraticSpec {
  Dims dims{10, 20};
  double kappa = 10;               ///< condition number of A: eigenvalues spread geometrically over [1 / kappa, 1]
  bool identity_coupling = false;  ///< C = I (dims.x = dims.y): Hess Phi then has condition kappa^2
  std::uint64_t seed = 1;
};

Quadratic generate_quadratic(const QuadraticSpec& spec);

/// Reads {"A": [[...]], "C": ..., "b": [...], "d": [...], "D": [[...]], "x0": [...]}, or a file that has this under
/// "problem"; other fields are ignored. A bad file throws std::runtime_error with file, place and what was expected.
Quadratic read_quadratic(const std::string& file);

Problem make_quadratic(const Quadratic& instance);

/// min_x max_y  x'D x / 2 + y'(C x + b) - y'A y / 2, with the same y*(x); d is not used.
///
///   grad Phi(x)  = D x + C' y*(x)
///   Hess Phi     = D + C' A^-1 C, of condition about kappa if C = I
Problem make_quadratic_minimax(const Quadratic& instance);

}  // namespace hypertape::problems
