#pragma once

#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {

struct NewtonOptions {
  int max_iterations = 100;
  double tolerance = 1e-12;  ///< stop when a full Newton step is at most tolerance * (1 + |y|): about |y - y*|
};

struct NewtonResult {
  Status status = Status::converged;
  int iterations = 0;
  double gradient_norm = 0;  ///< |grad_y g| at the returned y
  double step = 0;           ///< length of the last full Newton step
  std::string message;       ///< empty where `tolerance` was met
};

/// y*(x) = argmin_y g(x, y) to nearly machine precision, by Newton's method from the given y: the reference for
/// everything that is measured at y*. Directions by conjugate gradients, halved until |grad_y g| falls, which for a
/// strongly convex g happens from any start. Where no step lowers |grad_y g| any more, the end is `converged` if
/// |grad_y g| is what rounding alone makes of it (y moved by its last digits changes it as much): y is then as good as
/// the arithmetic allows, and the message has the numbers. Otherwise it is `stagnated`.
NewtonResult newton(BilevelOracle& oracle, const Vec& x, Vec& y, const NewtonOptions& options = {});

}  // namespace hypertape
