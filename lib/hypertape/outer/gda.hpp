#pragma once

#include "hypertape/hypergradient/lower_options.hpp"
#include "hypertape/outer/descent.hpp"

namespace hypertape {

struct GdaOptions {
  StopRule stop{};
  LowerOptions lower{.beta = 0};  ///< alpha is the step for y; the number of steps is always one
  Descent outer{};

  void describe(OptionList& list);
};

/// Gradient descent ascent for minimax problems, g = -f: x <- x - eta grad_x f and y <- y - alpha grad_y g at the same
/// point. With outer.r > 0 perturbed. lower.mu and lower.l must be given. Cost of one iteration: 1 Gc(f), 1 Gc(g).
Result gda(BilevelOracle& oracle, const GdaOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
