#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/descent.hpp"

namespace hypertape {

struct BaOptions {
  StopRule stop{};
  LowerOptions lower{.beta = 0, .products = 10};  ///< steps is not among them
  Descent outer{};
  double c = 4;      ///< c > 0
  bool warm = true;  ///< y and v start from where they were

  void describe(OptionList& list);
};

/// The bilevel approximation method: as AID-BiO, with ceil(c (k + 1)^(1/4)) steps for y in iteration k. As published y
/// starts from the same point and v from zero every time (warm = false), which does not reach accuracy in practice.
Result ba(BilevelOracle& oracle, const BaOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
