#include "hypertape/outer/aid.hpp"

#include "hypertape/hypergradient/implicit.hpp"

namespace hypertape {

void AidOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list, true);
}

Result aid(BilevelOracle& oracle, const AidOptions& options, const Point& start, const Observer& observer) {
  const char* const who = options.outer.is_perturbed() ? "paid" : "aid";
  options.lower.check(who);
  options.outer.check(who);
  return run(who, oracle, options.stop, start, observer, [&](Run& run) {
    ImplicitHypergradient estimator(run.oracle(), options.lower, run.start(), options.outer.seed);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
