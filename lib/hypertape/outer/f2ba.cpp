#include "hypertape/outer/f2ba.hpp"

#include "hypertape/hypergradient/penalty.hpp"

namespace hypertape {

void F2baOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list, false);
  list.add("lambda", &lambda, "weight of the lower level in the penalty");
}

Result f2ba(BilevelOracle& oracle, const F2baOptions& options, const Point& start, const Observer& observer) {
  return run(oracle, options.stop, start, observer, [&](Run& run) {
    PenaltyGradient estimator(run.oracle(), options.lower, options.lambda, run.start(),
                              run.certified() || options.outer.eta == 0, options.outer.seed);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
