#include "hypertape/inner/conjugate_gradient.hpp"

#include <algorithm>
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
  require(options.mu >= 0, "conjugate_gradient: mu = ", options.mu, ", must not be negative");
  require(options.energy >= 0, "conjugate_gradient: energy = ", options.energy, ", must not be negative");

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
  double radau = 1 / options.mu;  // (8a): |e|^2 <= radau r'r in the energy norm

  CgResult result;
  const auto end = [&](Status status, std::string message = {}) {
    result.status = status;
    result.residual = std::sqrt(rr);
    result.energy_bound = rr == 0 ? 0 : std::sqrt(radau * rr);
    result.message = std::move(message);
    return result;
  };
  const double target = options.tolerance * options.tolerance;
  for (int& k = result.iterations;; ++k) {
    if (!std::isfinite(rr))
      return end(Status::not_finite, text("conjugate_gradient: residual ", rr, " at iteration ", k));
    const double enough = std::max(options.energy, options.energy_rtol * std::sqrt(result.gained));
    if (rr <= target || (enough > 0 && radau * rr <= enough * enough)) return end(Status::converged);
    if (k == options.max_iterations) return end(Status::iteration_limit);

    A.apply(p, Ap);
    const double curvature = p.dot(Ap);
    if (!std::isfinite(curvature))
      return end(Status::not_finite, text("conjugate_gradient: p'Ap = ", curvature, " at iteration ", k));
    if (curvature <= 0)
      return end(Status::indefinite, text("conjugate_gradient: p'Ap/p'p = ", curvature / p.squaredNorm(),
                                          " at iteration ", k, ": g is not strongly convex in y at this point"));
    result.curvature = std::min(result.curvature, curvature / p.squaredNorm());
    const double step = rr / curvature;
    q += step * p;
    r -= step * Ap;
    result.gained += step * rr;
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
        radau = 1 / options.mu;
        continue;
      }
    }
    p = r + (rr / rr_before) * p;
    if (options.mu == 0) continue;
    const double rest = std::max(0.0, radau - step);  // less than zero: mu is too large, or rounding
    radau = rest / (options.mu * rest + rr / rr_before);
  }
}

double inverse_energy(LinearOperator& A, const Vec& b, double mu, Vec& q) {
  q.setZero(b.size());
  const CgResult solved = conjugate_gradient(A, b, q, {.max_iterations = 60, .mu = mu, .energy_rtol = 0.01});
  if (solved.status == Status::not_finite || solved.status == Status::indefinite)
    return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(solved.gained + solved.energy_bound * solved.energy_bound);
}

CgResult conjugate_gradient(LinearOperator& A, const Vec& b, Vec& q, const CgOptions& options) {
  CgWorkspace workspace;
  return conjugate_gradient(A, b, q, options, workspace);
}

}  // namespace hypertape
