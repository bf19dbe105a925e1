#include "hypertape/outer/gda.hpp"

#include "hypertape/core/require.hpp"
#include "hypertape/hypergradient/minimax.hpp"

namespace hypertape {

void GdaOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list, true);
}

Result gda(BilevelOracle& oracle, const GdaOptions& options, const Point& start, const Observer& observer) {
  require(options.lower.steps == 1, "gda: steps = ", options.lower.steps, ", must be 1");
  return run(oracle, options.stop, start, observer, [&](Run& run) {
    MinimaxGradient estimator(run.oracle(), options.lower, start, run.certified() || options.outer.eta == 0,
                              /*simultaneous=*/true);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
