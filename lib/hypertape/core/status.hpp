#pragma once

namespace hypertape {

/// How an iterative method ended. Numerical trouble is a status, never an exception and never silent.
enum class Status {
  converged,        ///< a method's own test for the end holds: the accuracy asked for is certified, or K steps are done
  iteration_limit,  ///< the number of iterations allowed is used up
  call_limit,       ///< the number of oracle calls allowed is used up
  time_limit,       ///< the time allowed is used up
  not_finite,       ///< an oracle or an iterate is infinite or not a number
  indefinite,       ///< a direction of non-positive curvature was met: g is not strongly convex there
  diverged,         ///< iterates or gradients grow without end: a step is too long
  flat,             ///< the gradient vanishes because the function is flat there, not because a minimum is near
  stagnated,        ///< no step makes progress any more, short of the accuracy asked for
  interrupted,      ///< the observer asked for an end
  failed,           ///< the oracle or the observer threw an exception
};

const char* to_string(Status status);

}  // namespace hypertape
