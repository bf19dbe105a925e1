#include "hypertape/outer/rahgd.hpp"

#include "hypertape/hypergradient/implicit.hpp"

namespace hypertape {

void RahgdOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list);
  outer.describe(list);
  list.add("v_from_y", &v_from_y, "the first linear solve starts from y, as printed");
}

Result rahgd(BilevelOracle& oracle, const RahgdOptions& options, const Point& start, const Observer& observer) {
  const char* const who = options.outer.is_perturbed() ? "prahgd" : "rahgd";
  options.lower.check(who);
  options.outer.check(who);
  return run(who, oracle, options.stop, start, observer, [&](Run& run) {
    ImplicitHypergradient estimator(run.oracle(), options.lower, run.start(), options.outer.seed);
    accelerate(run, estimator, options.outer, [&] {
      if (options.v_from_y) estimator.set_v(estimator.y());
    });
  });
}

}  // namespace hypertape
