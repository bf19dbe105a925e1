#pragma once

#include <string>
#include <vector>

#include "drivers/common/comparison.hpp"

namespace hypertape::drivers {

/// What the command line says of the runs.
struct Plan {
  std::vector<const SolverEntry*> chosen;
  std::vector<Setting> set;
  std::string not_run;  ///< solvers that have settings and are not chosen, `a, b`
  std::vector<double> levels;
  std::string folder;
};

/// Throws std::invalid_argument for solvers and options that do not exist, and for solvers that do not fit the problem.
Plan read_plan(const boost::program_options::variables_map& given, const Experiment& experiment,
               const problems::Problem& problem);

/// Everything that the runs share.
struct Shared {
  const boost::program_options::variables_map& given;
  const Experiment& experiment;
  std::vector<problems::Problem> problems;  // one for every job
  Plan plan;
};

/// For one solver, later settings last: what the problem knows, the experiment's defaults, what was tuned, the common
/// options, --set.
Settings settings_for(const SolverEntry& entry, const Shared& all, const Settings& tuned);

/// What tells a run from others: the options beside the problem's constants, the seed and the budgets, in few digits.
std::string chosen_options(const Settings& settings);

std::string to_text(const Settings& settings);

bool is_trouble(Status status);

/// A run, with a line of progress on a terminal if it is alone. An exception on the way is Status::failed.
Result run_one(const SolverEntry& entry, const Settings& settings, problems::Problem& problem, const Observer& observer,
               bool alone = true);

}  // namespace hypertape::drivers
