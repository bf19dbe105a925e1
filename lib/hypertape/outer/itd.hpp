#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/descent.hpp"

namespace hypertape {

struct ItdOptions {
  StopRule stop{};
  LowerOptions lower{.steps = 20};  ///< beta, products and most are not among them
  Descent outer{};

  void describe(OptionList& list);
};

/// ITD-BiO: x <- x - eta u with u the derivative through D steps of gradient descent from the y before. Cost of one
/// iteration: D Gc(g), 1 Gc(f), D JV, D - 1 HV.
Result itd(BilevelOracle& oracle, const ItdOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
