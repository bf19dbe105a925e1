#include "hypertape/outer/gda.hpp"

#include "hypertape/hypergradient/minimax.hpp"

namespace hypertape {

void GdaOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list, true);
}

Result gda(BilevelOracle& oracle, const GdaOptions& options, const Point& start, const Observer& observer) {
  return run(oracle, options.stop, start, observer, [&](Run& run) {
    LowerOptions lower = options.lower;
    lower.steps = 1;
    MinimaxGradient estimator(run.oracle(), lower, run.start(), run.certified() || options.outer.eta == 0,
                              /*simultaneous=*/true);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
