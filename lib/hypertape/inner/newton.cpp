#include "hypertape/inner/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"

namespace hypertape {
namespace {

/// What rounding makes of grad_y g at y: how much it changes where every other entry of y moves up, and the rest down,
/// by two units in the last place (of 1, for smaller entries).
double rounding_level(BilevelOracle& oracle, const Vec& x, const Vec& y, const Vec& gradient) {
  Vec moved = y;
  for (Index i = 0; i < y.size(); ++i) {
    const double unit = std::numeric_limits<double>::epsilon() * std::max(1.0, std::abs(y[i]));
    moved[i] += i % 2 == 0 ? 2 * unit : -2 * unit;
  }
  return (oracle.grad_y_g(x, moved) - gradient).norm();
}

}  // namespace

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
                            .tolerance = std::clamp(norm, 1e-8, 1e-3) * norm});
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
      if (length > 1e-10) continue;
      // On the shipped problems, asked for the impossible, |grad_y g| ends at 0.04 to 1.6 times this level.
      const double rounding = rounding_level(oracle, x, y, gradient);
      if (norm <= 10 * rounding)
        return end(Status::converged,
                   text("newton: |grad_y g| = ", norm, " is rounding, which alone makes ", rounding));
      return end(Status::stagnated, text("newton: no step lowers |grad_y g| = ", norm, ", of which rounding makes ",
                                         rounding, "; the last was ", result.step, " long"));
    }
    if (close) return end(Status::converged);
  }
}

}  // namespace hypertape
