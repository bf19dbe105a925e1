#include "hypertape/outer/ba.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/hypergradient/implicit.hpp"

namespace hypertape {
namespace {

constexpr std::string_view unread_by_ba[] = {"steps"};

}  // namespace

void BaOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list, unread_by_ba);
  outer.describe(list, false);
  list.add("c", &c, "ceil(c (k+1)^(1/4)) steps for y in iteration k");
  list.add("warm", &warm, "y and v start from where they were (false: as published)");
}

Result ba(BilevelOracle& oracle, const BaOptions& options, const Point& start, const Observer& observer) {
  options.lower.check("ba", unread_by_ba);
  options.outer.check("ba");
  require(options.c > 0 && options.c <= 1e6, "ba: c = ", options.c, ", must satisfy 0 < c <= 1e6");
  return run("ba", oracle, options.stop, start, observer, [&](Run& run) {
    const auto steps = [&](int k) { return static_cast<int>(std::ceil(options.c * std::pow(k + 1.0, 0.25))); };
    LowerOptions lower = options.lower;
    lower.steps = steps(0);
    ImplicitHypergradient estimator(run.oracle(), lower, run.start(), options.outer.seed);
    descend(run, estimator, options.outer, [&](int k) {
      estimator.set_steps(steps(k));
      if (!options.warm) estimator.restart_from(run.start().y);
    });
  });
}

}  // namespace hypertape
