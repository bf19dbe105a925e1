#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/acceleration.hpp"

namespace hypertape {

struct RahgdOptions {
  StopRule stop{};
  LowerOptions lower{};
  Acceleration outer{};
  bool v_from_y = false;  ///< as printed: the first linear solve starts from y, not from zero

  void describe(OptionList& list);
};

/// Restarted accelerated hypergradient descent (algorithm 3 of the paper, maths.md (22)); with outer.r > 0 its
/// perturbed version PRAHGD, which leaves saddle points. Cost of one iteration: T Gc(g), 1 Gc(f), T' + 1 HV, 1 JV.
Result rahgd(BilevelOracle& oracle, const RahgdOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
