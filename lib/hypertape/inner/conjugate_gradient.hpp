#pragma once

#include <limits>
#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/oracle/linear_operator.hpp"

namespace hypertape {

struct CgOptions {
  int max_iterations = 100;  ///< T' >= 0
  double tolerance = 0;    ///< stop when |b - A q| <= tolerance; 0: only the iteration count stops, or a zero residual
  int refresh = 50;        ///< the residual is computed anew, b - A q, every so many iterations (one product)
  double mu = 0;           ///< A >= mu, if it is known: then `energy_bound` is, too
  double energy = 0;       ///< stop also when energy_bound <= energy
  double energy_rtol = 0;  ///< stop also when energy_bound <= energy_rtol times the energy norm of q minus the start
};

struct CgResult {
  Status status = Status::converged;
  int iterations = 0;
  double residual = 0;                                            ///< |b - A q| at the returned q
  double energy_bound = std::numeric_limits<double>::infinity();  ///< of the error of q, |e|^2 = e'A e, by (8a)
  double gained = 0;  ///< |q - start|^2 in the energy norm, which is what its error lost
  double curvature = std::numeric_limits<double>::infinity();  ///< the smallest p'Ap / p'p met: A has one below it
  std::string message;                                         ///< empty unless indefinite or not_finite
};

/// The vectors of conjugate gradients, kept by the caller so that repeated solves allocate nothing.
struct CgWorkspace {
  Vec residual, direction, product;
};

/// A q = b for symmetric positive definite A, by conjugate gradients from the given q (maths.md (8)), with Gauss and
/// Radau's bound of the error (8a), which the coefficients give for nothing. On every exit q is the last iterate. p' A
/// p <= 0 ends with Status::indefinite: A is not positive definite, so g is not strongly convex. Cost: one product for
/// each iteration, one to start unless q = 0, one for each refresh.
CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options, CgWorkspace& workspace);
CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options = {});

/// The energy norm of A^-1 b, (b'A^-1 b)^(1/2), and q ~ A^-1 b: what conjugate gradients gained, plus (8a) for what is
/// missing. Never too small if A >= mu, mu > 0; right to four digits if 60 products are enough for that. NaN where A
/// is not positive definite, or not finite.
double inverse_energy(LinearOperator& A, const Vec& b, double mu, Vec& q);

}  // namespace hypertape
