#include "hypertape/inner/agd.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

AgdResult agd(const GradientMap& gradient, Vec& z, const AgdOptions& options, AgdWorkspace& workspace) {
  require(options.step > 0, "agd: step = ", options.step, ", must be positive");
  require(options.momentum >= 0 && options.momentum < 1, "agd: momentum = ", options.momentum,
          ", must satisfy 0 <= momentum < 1");
  require(options.max_iterations >= 1, "agd: max_iterations = ", options.max_iterations, ", must be at least 1");
  require(options.tolerance >= 0, "agd: tolerance = ", options.tolerance, ", must not be negative");

  AgdResult result;
  const auto end = [&](Status status, std::string message = {}) {
    result.status = status;
    result.message = std::move(message);
    return result;
  };
  Vec& w = workspace.extrapolated;
  w = z;
  double& first = result.first_norm;
  for (int& t = result.iterations; t < options.max_iterations;) {
    gradient(w, workspace.gradient);
    const double norm = workspace.gradient.norm();
    ++t;
    if (!std::isfinite(norm))
      return end(Status::not_finite, text("agd: |gradient| = ", norm, " at step ", t, ", step length ", options.step));
    result.gradient_norm = norm;
    if (t == 1) first = norm;
    if (norm > 1e10 * (1 + first))
      return end(Status::diverged, text("agd: |gradient| grew from ", first, " to ", norm, " in ", t,
                                        " steps of length ", options.step, ", which is too long"));
    if (options.tolerance > 0 && norm <= options.tolerance) {
      z = w;
      return end(Status::converged);
    }
    workspace.next = w - options.step * workspace.gradient;
    w = workspace.next + options.momentum * (workspace.next - z);
    z.swap(workspace.next);
  }
  return end(Status::iteration_limit);
}

AgdResult agd(const GradientMap& gradient, Vec& z, const AgdOptions& options) {
  AgdWorkspace workspace;
  return agd(gradient, z, options, workspace);
}

AgdResult gd(const GradientMap& gradient, Vec& z, AgdOptions options, AgdWorkspace& workspace) {
  options.momentum = 0;
  return agd(gradient, z, options, workspace);
}

AgdResult gd(const GradientMap& gradient, Vec& z, const AgdOptions& options) {
  AgdWorkspace workspace;
  return gd(gradient, z, options, workspace);
}

}  // namespace hypertape
