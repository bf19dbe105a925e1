#include "hypertape/outer/pragda.hpp"

#include "hypertape/hypergradient/minimax.hpp"

namespace hypertape {
namespace {

constexpr std::string_view unread_by_pragda[] = {"products", "c_y"};

}  // namespace

void PragdaOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list, unread_by_pragda);
  outer.describe(list);
}

Result pragda(BilevelOracle& oracle, const PragdaOptions& options, const Point& start, const Observer& observer) {
  options.lower.check("pragda", unread_by_pragda);
  options.outer.check("pragda");
  return run("pragda", oracle, options.stop, start, observer, [&](Run& run) {
    MinimaxGradient estimator(run.oracle(), options.lower, run.start(), options.outer.seed);
    accelerate(run, estimator, options.outer);
  });
}

}  // namespace hypertape
