#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/descent.hpp"

namespace hypertape {

struct AidOptions {
  StopRule stop{};
  LowerOptions lower{.beta = 0};
  Descent outer{};

  void describe(OptionList& list);
};

/// AID-BiO: x <- x - eta u with u by implicit differentiation, y by gradient descent and v by conjugate gradients, both
/// warm. With outer.r > 0 its perturbed version PAID-BiO. Cost of one iteration: D Gc(g), 1 Gc(f), N + 1 HV, 1 JV.
Result aid(BilevelOracle& oracle, const AidOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
