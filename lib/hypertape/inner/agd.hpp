#pragma once

#include <functional>
#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/core/types.hpp"

namespace hypertape {

/// out = grad h(z).
using GradientMap = std::function<void(const Vec& z, Vec& out)>;

struct AgdOptions {
  double step = 0;           ///< alpha > 0; 1/l for an l-smooth h
  double momentum = 0;       ///< 0 <= beta < 1; (sqrt(kappa) - 1)/(sqrt(kappa) + 1) for a mu-strongly convex h
  int max_iterations = 100;  ///< T >= 1
  double tolerance = 0;      ///< stop where |grad h| <= tolerance; 0: only the iteration count stops
};

struct AgdResult {
  Status status = Status::converged;
  int iterations = 0;        ///< gradients computed
  double gradient_norm = 0;  ///< |grad h| at the last point where it was computed: the returned z if converged, else
                             ///< the point one step before it, a bound of that at z if h is l-smooth and alpha <= 2/l
  double first_norm = 0;     ///< |grad h| at the start
  std::string message;       ///< empty unless diverged or not_finite
};

/// The vectors of the method, kept by the caller so that repeated solves allocate nothing. After a converged solve
/// `gradient` is that at the returned z.
struct AgdWorkspace {
  Vec gradient, extrapolated, next;
};

/// Nesterov's accelerated gradient descent for a smooth, strongly convex h, from the given z (maths.md (15)). With a
/// tolerance it ends at the extrapolated point where the gradient is small enough, which costs nothing extra; else z is
/// the last iterate. A gradient that grows by ten orders of magnitude ends with Status::diverged.
AgdResult agd(const GradientMap& gradient, Vec& z, const AgdOptions& options, AgdWorkspace& workspace);
AgdResult agd(const GradientMap& gradient, Vec& z, const AgdOptions& options);

/// Gradient descent: the same without momentum, whatever options.momentum says.
AgdResult gd(const GradientMap& gradient, Vec& z, AgdOptions options, AgdWorkspace& workspace);
AgdResult gd(const GradientMap& gradient, Vec& z, const AgdOptions& options);

}  // namespace hypertape
