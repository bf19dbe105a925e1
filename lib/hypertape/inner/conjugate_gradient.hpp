#pragma once

#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/oracle/linear_operator.hpp"

namespace hypertape {

struct CgOptions {
  int max_iterations = 100;  ///< T' >= 0
  double tolerance = 0;  ///< stop when |b - A q| <= tolerance; 0: only the iteration count stops, or a zero residual
  int refresh = 50;      ///< the residual is computed anew, b - A q, every so many iterations (one product)
};

struct CgResult {
  Status status = Status::converged;
  int iterations = 0;
  double residual = 0;  ///< |b - A q| at the returned q
  std::string message;  ///< empty unless indefinite or not_finite
};

/// The vectors of conjugate gradients, kept by the caller so that repeated solves allocate nothing.
struct CgWorkspace {
  Vec residual, direction, product;
};

/// A q = b for symmetric positive definite A, by conjugate gradients from the given q (maths.md (8)). On every exit q
/// is the last iterate. p' A p <= 0 ends with Status::indefinite: A is not positive definite, so g is not strongly
/// convex. Cost: one product for each iteration, one to start unless q = 0, one for each refresh.
CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options, CgWorkspace& workspace);
CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options = {});

}  // namespace hypertape
