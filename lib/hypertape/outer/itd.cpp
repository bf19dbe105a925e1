#include "hypertape/outer/itd.hpp"

#include "hypertape/hypergradient/iterative.hpp"

namespace hypertape {
namespace {

constexpr std::string_view unread_by_itd[] = {"beta", "products", "most"};

}  // namespace

void ItdOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list, unread_by_itd);
  outer.describe(list, false, /*accurate=*/false);
}

Result itd(BilevelOracle& oracle, const ItdOptions& options, const Point& start, const Observer& observer) {
  options.lower.check("itd", unread_by_itd);
  options.outer.check("itd");
  return run("itd", oracle, options.stop, start, observer, [&](Run& run) {
    LowerOptions lower = options.lower;
    lower.beta = 0;  // plain descent is what is differentiated
    IterativeHypergradient estimator(run.oracle(), lower, run.start(), options.outer.seed);
    descend(run, estimator, options.outer);
  });
}

}  // namespace hypertape
