#pragma once

namespace hypertape::theory {

/// The constants of the paper's assumption 2.3, for g and f on all of the space (most problems have them only locally).
struct Smoothness {
  double l = 0;    ///< l > 0: Lipschitz constant of the gradients of f and g
  double mu = 0;   ///< 0 < mu <= l: strong convexity of g in y
  double rho = 0;  ///< rho >= 0: Lipschitz constant of the second derivatives of f and g
  double nu = 0;   ///< nu >= 0: Lipschitz constant of the third derivatives of g
  double M = 0;    ///< M >= 0: Lipschitz constant of f, so |grad_y f| <= M

  /// Condition number l / mu of the lower level; also a Lipschitz constant of x -> y*(x).
  double kappa() const { return l / mu; }

  /// Throws std::invalid_argument that names the field which is out of its range, its value and the range.
  void check() const;
};

/// What the theorems need of Phi.
struct PhiConstants {
  double L = 0;    ///< Lipschitz constant of grad Phi
  double rho = 0;  ///< Lipschitz constant of the Hessian of Phi
  double C_y = 0;  ///< Lipschitz constant in y of the hypergradient formula, L / (1 + kappa)
};

/// Bilevel problems, maths.md (30) and (31): L = O(kappa^3), rho = O(kappa^5).
PhiConstants bilevel(const Smoothness& smoothness);

/// Minimax problems, maths.md (32): L = (kappa + 1) l, rho = 4 sqrt(2) kappa^3 rho, C_y = l. nu and M do not enter.
PhiConstants minimax(const Smoothness& smoothness);

/// A-posteriori bound of |u - grad Phi(x)| at any y and v, maths.md (5):
///   C_y |grad_y g| / mu + |d2g/dxdy| |r| / mu,   r = d2g/dy2 v - grad_y f.
double hypergradient_error(double C_y, double cross_norm, double mu, double lower_gradient_norm, double cg_residual);

}  // namespace hypertape::theory
