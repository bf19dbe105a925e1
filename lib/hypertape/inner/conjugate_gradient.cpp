#include "hypertape/inner/conjugate_gradient.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options, CgWorkspace& workspace) {
  require(b.size() == A.dim(), "conjugate_gradient: b has ", b.size(), " entries, expected ", A.dim());
  require(q.size() == A.dim(), "conjugate_gradient: the start has ", q.size(), " entries, expected ", A.dim());
  require(options.max_iterations >= 0, "conjugate_gradient: max_iterations = ", options.max_iterations,
          ", must not be negative");
  require(options.tolerance >= 0, "conjugate_gradient: tolerance = ", options.tolerance, ", must not be negative");
  require(options.refresh > 0, "conjugate_gradient: refresh = ", options.refresh, ", must be positive");

  Vec &r = workspace.residual, &p = workspace.direction, &Ap = workspace.product;
  const auto compute_residual = [&] {
    A.apply(q, Ap);
    r = b - Ap;
  };
  if (q.isZero(0)) {
    r = b;
  } else {
    compute_residual();
  }
  p = r;
  double rr = r.squaredNorm();

  CgResult result;
  const auto end = [&](Status status, std::string message = {}) {
    result.status = status;
    result.residual = std::sqrt(rr);
    result.message = std::move(message);
    return result;
  };
  const double target = options.tolerance * options.tolerance;
  for (int& k = result.iterations;; ++k) {
    if (!std::isfinite(rr))
      return end(Status::not_finite, text("conjugate_gradient: residual ", rr, " at iteration ", k));
    if (rr <= target) return end(Status::converged);
    if (k == options.max_iterations) return end(Status::iteration_limit);

    A.apply(p, Ap);
    const double curvature = p.dot(Ap);
    if (!std::isfinite(curvature))
      return end(Status::not_finite, text("conjugate_gradient: p'Ap = ", curvature, " at iteration ", k));
    if (curvature <= 0)
      return end(Status::indefinite, text("conjugate_gradient: p'Ap/p'p = ", curvature / p.squaredNorm(),
                                          " at iteration ", k, ": g is not strongly convex in y at this point"));
    const double step = rr / curvature;
    q += step * p;
    r -= step * Ap;
    const double rr_before = rr;
    rr = r.squaredNorm();
    if ((k + 1) % options.refresh == 0) {
      A.apply(q, Ap);
      Ap = b - Ap;
      const double drift = (Ap - r).squaredNorm();
      r.swap(Ap);
      rr = r.squaredNorm();
      if (drift > 0.01 * rr) {
        // r went on falling where b - A q did not: q is as good as rounding allows. The directions so far belong to the
        // r that was wrong; to go on with them blows up q. Those that start from here keep it.
        p = r;
        continue;
      }
    }
    p = r + (rr / rr_before) * p;
  }
}

CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options) {
  CgWorkspace workspace;
  return conjugate_gradient(A, b, q, options, workspace);
}

}  // namespace hypertape
