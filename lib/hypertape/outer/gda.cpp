#include "hypertape/outer/gda.hpp"

#include "hypertape/hypergradient/minimax.hpp"

namespace hypertape {
namespace {

constexpr std::string_view unread_by_gda[] = {"beta", "steps", "products", "c_y"};

}  // namespace

void GdaOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list, unread_by_gda);
  outer.describe(list, true);
}

Result gda(BilevelOracle& oracle, const GdaOptions& options, const Point& start, const Observer& observer) {
  const char* const who = options.outer.is_perturbed() ? "perturbed_gda" : "gda";
  options.lower.check(who, unread_by_gda);
  options.outer.check(who);
  return run(who, oracle, options.stop, start, observer, [&](Run& run) {
    LowerOptions lower = options.lower;
    lower.beta = 0;
    lower.steps = 1;
    MinimaxGradient estimator(run.oracle(), lower, run.start(), options.outer.seed, /*simultaneous=*/true);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
