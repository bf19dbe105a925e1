#include "hypertape/outer/pragda.hpp"

#include "hypertape/hypergradient/minimax.hpp"

namespace hypertape {

void PragdaOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list);
}

Result pragda(BilevelOracle& oracle, const PragdaOptions& options, const Point& start, const Observer& observer) {
  return run(oracle, options.stop, start, observer, [&](Run& run) {
    MinimaxGradient estimator(run.oracle(), options.lower, run.start(), run.certified() || options.outer.eta == 0);
    accelerate(run, estimator, options.outer);
  });
}

}  // namespace hypertape
