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
    Descent outer = options.outer;
    if (outer.eta == 0) {  // found out with y solved for: one step from the y before says little of Phi
      LowerOptions solved = options.lower;
      solved.steps = 0;
      MinimaxGradient probe(run.oracle(), solved, start, true);
      if (!warm_up(run, probe, start.x, outer.ctol)) return;
      outer.eta = find_step(run, probe, start.x, outer.ctol, outer.seed);
      if (!(outer.eta > 0)) return;
    }
    MinimaxGradient estimator(run.oracle(), options.lower, start, run.certified(), /*simultaneous=*/true);
    descend(run, estimator, outer);
  });
}

}  // namespace hypertape
