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
constexpr const char* common_options[] = {"mu",        "l",          "seed", "tolerance", "rtol", "max_iterations",
                                          "max_calls", "max_seconds"};

StopRule budget_of(const Settings& settings) {
  StopRule stop;
  OptionList list;
  stop.describe(list);
  for (const auto& [option, value] : settings)
    for (const auto& known : list.options())
      if (known.name == option) list.set(option, value);
  return stop;
}

bool contains(const std::vector<const SolverEntry*>& entries, const SolverEntry& entry) {
  return std::find(entries.begin(), entries.end(), &entry) != entries.end();
}

/// `a, b`
std::string names(const std::vector<const SolverEntry*>& entries) {
  std::string out;
  for (const SolverEntry* entry : entries) out += (out.empty() ? "" : ", ") + entry->name;
  return out;
}

/// One of the solvers at least must have the option.
void require_option(const Setting& setting, const std::vector<const SolverEntry*>& among) {
  const auto has_it = [&](const SolverEntry* entry) { return entry->has_option(setting.option); };
  if (std::any_of(among.begin(), among.end(), has_it)) return;
  std::vector<const SolverEntry*> others;
  for (const SolverEntry& entry : solvers())
    if (has_it(&entry)) others.push_back(&entry);
  require(false, "--set ", setting.option, "=", setting.value, ": ", setting.option, " is no option of ", names(among),
          others.empty() ? ", nor of any other solver" : ", but of " + names(others), "; --options ",
          among.front()->name, " lists what there is");
}

}  // namespace

Plan read_plan(const po::variables_map& given, const Experiment& experiment, const problems::Problem& problem) {
  Plan plan;
  for (const auto& one : split(given["solver"].as<std::string>())) {
    const SolverEntry& entry = solver(one);
    require(!entry.minimax || problem.minimax, one, ": solves minimax problems only, which ", experiment.name,
            " is not");
    require(!contains(plan.chosen, entry), "--solver ", given["solver"].as<std::string>(), ": ", one,
            " is there twice");
    plan.chosen.push_back(&entry);
  }
  require(!plan.chosen.empty(), "--solver is empty; the solvers are\n", known_solvers());
  if (given.count("set") > 0)
    for (const auto& one : given["set"].as<std::vector<std::string>>()) plan.set.push_back(parse_setting(one));
  std::vector<const SolverEntry*> others;
  for (const Setting& setting : plan.set) {
    if (setting.solver.empty()) {
      require_option(setting, plan.chosen);
      continue;
    }
    const SolverEntry& entry = solver(setting.solver);
    require_option(setting, {&entry});
    if (!contains(plan.chosen, entry) && !contains(others, entry)) others.push_back(&entry);
  }
  plan.not_run = names(others);
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
  for (const char* budget : {"tolerance", "rtol", "max-iterations", "max-calls", "max-seconds"})
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
