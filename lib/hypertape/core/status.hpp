#pragma once

namespace hypertape {

/// How an iterative method ended. Numerical trouble is a status, never an exception and never silent.
enum class Status {
  converged,        ///< the accuracy asked for is certified by a residual or gradient norm
  iteration_limit,  ///< the number of iterations allowed is used up
  not_finite,       ///< an oracle or an iterate is infinite or not a number
  indefinite,       ///< a direction of non-positive curvature was met: g is not strongly convex there
  stagnated,        ///< no step makes progress any more, short of the accuracy asked for
};

const char* to_string(Status status);

}  // namespace hypertape
