#include "hypertape/outer/itd.hpp"

#include "hypertape/hypergradient/iterative.hpp"

namespace hypertape {

void ItdOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list, false);
}

Result itd(BilevelOracle& oracle, const ItdOptions& options, const Point& start, const Observer& observer) {
  return run(oracle, options.stop, start, observer, [&](Run& run) {
    IterativeHypergradient estimator(run.oracle(), options.lower, run.start(),
                                     run.certified() || options.outer.eta == 0, options.outer.seed);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
