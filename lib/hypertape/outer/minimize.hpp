#pragma once

#include <cstdint>

#include "hypertape/outer/solver.hpp"

namespace hypertape {

/// There is nothing to tune: what is not about the end of a run is about memory.
struct AutoOptions {
  StopRule stop{};
  int memory = 0;  ///< pairs of the quasi-Newton matrix for x; 0: at most 60, and less where x is long
  int directions =
      0;  ///< kept from systems with d2g/dy2 to precondition the next; 0: at most 100, less where y is long
  std::uint64_t seed = 1;  ///< of the perturbation at a stationary start

  /// Proposes d at x, where the hypergradient is u, in place of the quasi-Newton matrix: a method of your own. Whatever
  /// it proposes, steps are taken only as far as they lower Phi, and epochs of RAHGD follow where that is too little.
  std::function<Vec(const Vec& x, const Vec& u)> direction{};

  void describe(OptionList& list);
};

/// Quasi-Newton steps (L-BFGS) with a line search on Phi, hypergradients by truncated Newton steps below, as accurate
/// as the run asks for, maths.md (25) to (28): no step length, no constant of f or g. `converged` rests on an estimate
/// of the error of u, which Result::error_estimate has. A start where u vanishes is perturbed once; where the gradient
/// vanishes far away while steps stay long, the run ends with Status::flat.
Result minimize(BilevelOracle& oracle, const AutoOptions& options, const Point& start, const Observer& observer = {});

/// The same, the way most need it: `minimize(problem, {.x = x0}, {.tolerance = 1e-8})`.
Result minimize(BilevelOracle& oracle, const Point& start, const StopRule& stop = {}, const Observer& observer = {});

}  // namespace hypertape
