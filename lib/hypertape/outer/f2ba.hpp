#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/descent.hpp"

namespace hypertape {

struct F2baOptions {
  StopRule stop{};
  LowerOptions lower{};  ///< products is not among them
  Descent outer{};
  double lambda = 1000;  ///< lambda > 0

  void describe(OptionList& list);
};

/// F2BA, deterministic: x <- x - eta u with u from gradients of f and g alone, biased by O(1/lambda). Needs an oracle
/// with grad_x g (has_second_order). Cost of one iteration: T Gc(g) for y, T Gc(f) and T Gc(g) for the penalised y, 1
/// Gc(f), 2 Gc(g).
Result f2ba(BilevelOracle& oracle, const F2baOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
