#include "hypertape/outer/registry.hpp"

#include <algorithm>

#include "hypertape/core/require.hpp"
#include "hypertape/outer/aid.hpp"
#include "hypertape/outer/ba.hpp"
#include "hypertape/outer/f2ba.hpp"
#include "hypertape/outer/gda.hpp"
#include "hypertape/outer/imcn.hpp"
#include "hypertape/outer/itd.hpp"
#include "hypertape/outer/minimize.hpp"
#include "hypertape/outer/pragda.hpp"
#include "hypertape/outer/rahgd.hpp"

namespace hypertape {
namespace {

template <class Options>
using Solve = Result (*)(BilevelOracle&, const Options&, const Point&, const Observer&);

template <class Options>
SolverEntry entry(const char* name, const char* summary, bool minimax, Solve<Options> solve, const Options& defaults) {
  SolverEntry out{name, summary, minimax, {}, {}};
  Options shown = defaults;
  OptionList list;
  shown.describe(list);
  for (const auto& option : list.options()) out.options.push_back({option.name, to_string(option.field), option.help});
  out.solve = [solve, defaults, who = out.name](BilevelOracle& oracle, const Settings& settings, const Point& start,
                                                const Observer& observer) {
    Options options = defaults;
    OptionList fields(who);
    options.describe(fields);
    for (const auto& [field, value] : settings) fields.set(field, value);
    return solve(oracle, options, start, observer);
  };
  return out;
}

}  // namespace

bool SolverEntry::has_option(const std::string& option) const {
  return std::any_of(options.begin(), options.end(), [&](const SolverOption& o) { return o.name == option; });
}

const std::vector<SolverEntry>& solvers() {
  static const std::vector<SolverEntry> all{
      entry<AutoOptions>("auto", "quasi-Newton steps, Newton's method below: nothing to tune", false, minimize,
                         AutoOptions{}),
      entry("rahgd", "restarted accelerated hypergradient descent", false, rahgd, RahgdOptions{}),
      entry("prahgd", "the same, perturbed: leaves saddle points", false, rahgd, RahgdOptions{.outer = {.r = 1e-2}}),
      entry("pragda", "perturbed restarted accelerated gradient descent ascent", true, pragda, PragdaOptions{}),
      entry("aid", "AID-BiO: hypergradient descent by implicit differentiation", false, aid, AidOptions{}),
      entry("paid", "the same, perturbed", false, aid, AidOptions{.outer = {.r = 1e-2}}),
      entry("itd", "ITD-BiO: hypergradient descent through the steps for y", false, itd, ItdOptions{}),
      entry("ba", "the bilevel approximation method", false, ba, BaOptions{}),
      entry("f2ba", "gradients of f and g alone, by a penalty", false, f2ba, F2baOptions{}),
      entry("gda", "gradient descent ascent", true, gda, GdaOptions{}),
      entry("perturbed_gda", "the same, perturbed", true, gda, GdaOptions{.outer = {.r = 1e-3, .perturb_start = true}}),
      entry("imcn", "inexact minimax cubic Newton", true, imcn, ImcnOptions{}),
  };
  return all;
}

const SolverEntry& solver(const std::string& name) {
  std::string known;
  for (const SolverEntry& entry : solvers()) {
    if (entry.name == name) return entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  require(false, "solver ", name, " is unknown; known are ", known);
  return solvers().front();
}

}  // namespace hypertape
