#pragma once

#include "hypertape/core/types.hpp"

namespace hypertape::problems {

// Dense factorisations for closed forms and tests. Eigen's take seconds to compile in every file that uses them, so
// this is the only one.

/// The eigenvalues of a symmetric matrix, from the smallest on.
Vec symmetric_eigenvalues(const Mat& A);

/// Its eigenvectors, as columns in the same order.
Mat symmetric_eigenvectors(const Mat& A);

/// The largest singular value.
double norm2(const Mat& A);

/// A = L L'.
class Cholesky {
 public:
  explicit Cholesky(const Mat& A);

  bool positive_definite() const { return positive_definite_; }

  /// A^-1 b
  Vec solve(const Vec& b) const;

  /// A^-1 B. Not called solve: an expression would fit both.
  Mat solve_columns(const Mat& B) const;

 private:
  Mat L_;
  bool positive_definite_;
};

}  // namespace hypertape::problems
