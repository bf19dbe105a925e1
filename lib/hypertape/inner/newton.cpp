#include "hypertape/inner/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"

namespace hypertape {

NewtonResult newton(BilevelOracle& oracle, const Vec& x, Vec& y, const NewtonOptions& options) {
  require(options.max_iterations >= 0, "newton: max_iterations = ", options.max_iterations, ", must not be negative");
  require(options.tolerance > 0, "newton: tolerance = ", options.tolerance, ", must be positive");

  NewtonResult result;
  Vec gradient = oracle.grad_y_g(x, y), trial_y, trial_gradient, step;
  double& norm = result.gradient_norm;
  norm = gradient.norm();
  const auto end = [&](Status status, std::string message = {}) {
    result.status = status;
    result.message = std::move(message);
    return result;
  };
  for (int& k = result.iterations;; ++k) {
    if (!std::isfinite(norm)) return end(Status::not_finite, text("newton: |grad_y g| = ", norm, " at step ", k));
    if (norm == 0) return end(Status::converged);

    step.setZero(y.size());
    const auto solved =
        conjugate_gradient(oracle.curvature_at(x, y), -gradient, step,
                           {.max_iterations = 100 + 10 * static_cast<int>(std::min<Index>(y.size(), 10000)),
                            .tolerance = std::min(1e-3, norm) * norm});
    if (solved.status == Status::indefinite || solved.status == Status::not_finite)
      return end(solved.status, text("newton: step ", k, ": ", solved.message));
    result.step = step.norm();
    const bool close = result.step <= options.tolerance * (1 + y.norm());
    if (!close && k == options.max_iterations)
      return end(Status::iteration_limit, text("newton: |grad_y g| = ", norm, " after ", k, " steps"));

    // The last step is worth taking too, if it brings anything.
    for (double length = 1;; length /= 2) {
      trial_y = y + length * step;
      oracle.grad_y_g(x, trial_y, trial_gradient);
      const double trial_norm = trial_gradient.norm();
      if (trial_norm <= (1 - 0.1 * length) * norm) {
        y.swap(trial_y);
        gradient.swap(trial_gradient);
        norm = trial_norm;
        break;
      }
      if (close) return end(Status::converged);
      // No descent along a tiny Newton step: the gradient is all rounding, and y as good as the arithmetic allows.
      const double rounding = std::sqrt(std::numeric_limits<double>::epsilon()) * (1 + y.norm());
      if (length < 1e-3 && result.step <= rounding) return end(Status::converged);
      if (length < 1e-10) return end(Status::stagnated, text("newton: no descent from |grad_y g| = ", norm));
    }
    if (close) return end(Status::converged);
  }
}

}  // namespace hypertape
