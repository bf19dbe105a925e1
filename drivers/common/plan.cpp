#include "drivers/common/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/progress.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape::drivers {

namespace po = boost::program_options;

namespace {

/// Options that say nothing of how a method was tuned.
constexpr const char* common_options[] = {"mu", "l", "seed", "tolerance", "max_iterations", "max_calls", "max_seconds"};

StopRule budget_of(const Settings& settings) {
  StopRule stop;
  OptionList list;
  stop.describe(list);
  for (const auto& [option, value] : settings)
    for (const auto& known : list.options())
      if (known.name == option) list.set(option, value);
  return stop;
}

}  // namespace

Plan read_plan(const po::variables_map& given, const Experiment& experiment, const problems::Problem& problem) {
  Plan plan;
  require(given.count("solver") > 0, "give --solver A,B,C; the solvers are\n", known_solvers());
  for (const auto& one : split(given["solver"].as<std::string>())) {
    plan.chosen.push_back(&solver(one));
    require(!plan.chosen.back()->minimax || problem.minimax, one, ": solves minimax problems only, which ",
            experiment.name, " is not");
  }
  require(!plan.chosen.empty(), "--solver is empty; the solvers are\n", known_solvers());
  if (given.count("set") > 0)
    for (const auto& one : given["set"].as<std::vector<std::string>>()) plan.set.push_back(parse_setting(one));
  for (const Setting& setting : plan.set) {
    if (!setting.solver.empty()) solver(setting.solver);
    bool used = !setting.solver.empty() && solver(setting.solver).has_option(setting.option);
    for (const SolverEntry* entry : plan.chosen)
      used = used || (setting.solver.empty() && entry->has_option(setting.option));
    require(used, "--set ", setting.solver, setting.solver.empty() ? "" : ".", setting.option,
            ": no such option; --options SOLVER lists them");
  }
  if (given.count("levels") > 0) plan.levels = numbers(given, "levels");
  plan.folder = output_folder(given, experiment.name);
  return plan;
}

Settings settings_for(const SolverEntry& entry, const Shared& all, const Settings& tuned) {
  Settings out;
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!entry.has_option(option)) return;  // common options are not everybody's
    std::erase_if(out, [&](const auto& setting) { return setting.first == option; });
    out.emplace_back(option, value);
  };
  add("mu", exact(all.problems[0].constants.mu));
  add("l", exact(all.problems[0].constants.l));
  add("seed", std::to_string(all.given["seed"].as<std::uint64_t>()));
  if (const auto found = all.experiment.defaults.find(entry.name); found != all.experiment.defaults.end())
    for (const auto& [option, value] : found->second) add(option, value);
  for (const auto& [option, value] : tuned) add(option, value);
  for (const char* budget : {"tolerance", "max-iterations", "max-calls", "max-seconds"})
    if (all.given.count(budget) > 0) {
      std::string option = budget;
      std::replace(option.begin(), option.end(), '-', '_');
      add(option, all.given[budget].as<std::string>());
    }
  for (const Setting& setting : all.plan.set)
    if (setting.solver == entry.name || setting.solver.empty()) add(setting.option, setting.value);
  return out;
}

Result run_one(const SolverEntry& entry, const Settings& settings, problems::Problem& problem, const Observer& observer,
               bool alone) {
  const bool terminal = alone && isatty(STDERR_FILENO) != 0;
  const Observer shown = with_progress(observer, entry.name, budget_of(settings), std::cerr, terminal);
  Result result;
  try {
    result = entry.solve(*problem.oracle, settings, problem.start, shown);
  } catch (const RunFailed& failed) {
    result = failed.result;
  }
  clear_progress(std::cerr, terminal);
  return result;
}

std::string to_text(const Settings& settings) {
  std::string out;
  for (const auto& [option, value] : settings) out += (out.empty() ? "" : " ") + option + "=" + value;
  return out;
}

std::string chosen_options(const Settings& settings) {
  Settings out;
  for (const auto& [option, value] : settings) {
    if (std::any_of(std::begin(common_options), std::end(common_options),
                    [&, &name = option](const char* common) { return name == common; }))
      continue;
    const auto number = to_number<double>(value);
    std::ostringstream few = text_stream();
    few << std::setprecision(4) << number.value_or(0);
    out.emplace_back(option, number ? few.str() : value);
  }
  return to_text(out);
}

bool is_trouble(Status status) {
  return status == Status::not_finite || status == Status::diverged || status == Status::indefinite ||
         status == Status::failed;
}

}  // namespace hypertape::drivers
