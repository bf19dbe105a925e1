#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/descent.hpp"

namespace hypertape {

struct GdaOptions {
  StopRule stop{};
  LowerOptions lower{};  ///< alpha is the step for y; beta, steps, products and c_y are not among them
  Descent outer{};

  void describe(OptionList& list);
};

/// Gradient descent ascent for minimax problems, g = -f: x <- x - eta grad_x f and y <- y - alpha grad_y g at the same
/// point. With outer.r > 0 perturbed. Cost of one iteration: 1 Gc(f), 1 Gc(g).
Result gda(BilevelOracle& oracle, const GdaOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
