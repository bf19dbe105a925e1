#include "hypertape/outer/f2ba.hpp"

#include "hypertape/hypergradient/penalty.hpp"

namespace hypertape {
namespace {

constexpr std::string_view unread_by_f2ba[] = {"products"};

}  // namespace

void F2baOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list, unread_by_f2ba);
  outer.describe(list, false);
  list.add("lambda", &lambda, "weight of the lower level in the penalty");
}

Result f2ba(BilevelOracle& oracle, const F2baOptions& options, const Point& start, const Observer& observer) {
  options.lower.check("f2ba", unread_by_f2ba);
  options.outer.check("f2ba");
  return run("f2ba", oracle, options.stop, start, observer, [&](Run& run) {
    PenaltyGradient estimator(run.oracle(), options.lower, options.lambda, run.start(), options.outer.seed);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
