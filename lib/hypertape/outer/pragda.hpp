#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/acceleration.hpp"

namespace hypertape {

struct PragdaOptions {
  StopRule stop{};
  LowerOptions lower{};  ///< products and c_y are not among them
  Acceleration outer{.r = 1e-3};

  void describe(OptionList& list);
};

/// Perturbed restarted accelerated gradient descent ascent (algorithm 4 of the paper) for minimax problems, g = -f: the
/// loop of PRAHGD with u = grad_x f, so neither Hessian nor Jacobian products if lower.mu and lower.l are given. Cost
/// of one iteration: T Gc(g), 1 Gc(f).
Result pragda(BilevelOracle& oracle, const PragdaOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
