#include "drivers/common/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "drivers/common/output.hpp"
#include "hypertape/core/parallel.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape::drivers {

using nlohmann::json;

namespace {

/// The settings tried so far and what came of them, kept in tuning.json. Trying the same settings on the same problem
/// again costs nothing, so that an interrupted tuning goes on.
class Tuning {
 public:
  explicit Tuning(Shared& all)
      : all_(all), path_(all.plan.folder + "/tuning.json"), tried_{{"experiment", all.experiment.name}} {
    tried_["runs"] = json::object();
    tried_["facts"] = json::object();
    for (const auto& [name, value] : all.experiment.facts) tried_["facts"][name] = value;
    std::ifstream file(path_);
    if (!file) return;
    const json before = json::parse(file, nullptr, false);
    require(before.is_object() && before.value("experiment", "") == all.experiment.name &&
                before.value("facts", json()) == tried_["facts"] && before.value("runs", json()).is_object(),
            path_, ": is of another problem, and its results do not hold here; choose another folder with --out");
    tried_ = before;
  }

  bool has_grid(const SolverEntry& entry) const {
    const auto& experiment = all_.experiment;
    return experiment.grids.count(entry.name) > 0 || experiment.tuned_after.count(entry.name) > 0;
  }

  /// The setting of the solver's grid with the best score.
  const Settings& best(const SolverEntry& entry) {
    if (const auto known = best_.find(entry.name); known != best_.end()) return known->second;
    const std::vector<Settings> candidates = grid(entry);
    for_each_chunk(
        static_cast<Index>(candidates.size()), static_cast<int>(all_.problems.size()), [&](Index i, int job) {
          try_one(entry, candidates[static_cast<std::size_t>(i)], all_.problems[static_cast<std::size_t>(job)]);
        });
    const Settings* best = nullptr;
    double best_score = std::numeric_limits<double>::infinity();
    for (const Settings& candidate : candidates) {
      const json& score = tried_["runs"][key(entry, candidate)].at("score");
      if (!score.is_number() || score.get<double>() >= best_score) continue;
      best_score = score.get<double>();
      best = &candidate;
    }
    std::cout << "  best: " << (best ? to_text(*best) : "none is usable, the defaults stay") << std::endl;
    return best_[entry.name] = best ? *best : Settings{};
  }

 private:
  /// The solver's grid, on top of the best settings of the one it follows.
  std::vector<Settings> grid(const SolverEntry& entry) {
    const auto& experiment = all_.experiment;
    Settings base;
    if (const auto after = experiment.tuned_after.find(entry.name); after != experiment.tuned_after.end())
      base = best(solver(after->second));
    const auto found = experiment.grids.find(entry.name);
    if (found == experiment.grids.end()) return {base};
    std::vector<Settings> out = found->second;
    for (Settings& candidate : out) {
      candidate.insert(candidate.begin(), base.begin(), base.end());
      for (const auto& [option, value] : candidate) {
        require(entry.has_option(option), entry.name, ": no option ", option, ", which its grid has");
        for (const Setting& set : all_.plan.set)
          require(set.option != option || (!set.solver.empty() && set.solver != entry.name), "--set ", option,
                  ": conflicts with --tune, which chooses it for ", entry.name);
      }
    }
    return out;
  }

  Settings complete(const SolverEntry& entry, const Settings& candidate) const {
    Settings settings = settings_for(entry, all_, candidate);
    if (const auto calls = all_.given["tune-calls"].as<std::int64_t>(); calls > 0) {
      std::erase_if(settings, [](const auto& setting) { return setting.first == "max_calls"; });
      settings.emplace_back("max_calls", std::to_string(calls));
    }
    return settings;
  }

  std::string key(const SolverEntry& entry, const Settings& candidate) const {
    Settings sorted = complete(entry, candidate);
    std::sort(sorted.begin(), sorted.end());
    return entry.name + " " + to_text(sorted);
  }

  void try_one(const SolverEntry& entry, const Settings& candidate, problems::Problem& problem) {
    const std::string name = key(entry, candidate);
    {
      const std::lock_guard lock(mutex_);
      if (tried_["runs"].contains(name)) return print_outcome(entry, candidate, tried_["runs"][name]);
    }
    const auto& solved = all_.experiment.solved;
    std::int64_t calls = 0;  // until solved
    const Observer until_solved = [&](const Iterate& i) {
      if (!solved || !solved(i.x, i.y)) return true;
      calls = i.counts.total();
      return false;
    };
    const Result result = run_one(entry, complete(entry, candidate), problem, until_solved, all_.problems.size() == 1);
    json outcome{{"phi", result.phi}, {"status", to_string(result.status)}, {"score", nullptr}};
    if (solved && calls > 0) outcome["score"] = calls;
    if (!solved && !is_trouble(result.status) && std::isfinite(result.phi)) outcome["score"] = result.phi;
    const std::lock_guard lock(mutex_);
    print_outcome(entry, candidate, outcome);
    tried_["runs"][name] = std::move(outcome);
    write_json(path_, tried_.dump(1) + "\n", "runs");
  }

  void print_outcome(const SolverEntry& entry, const Settings& candidate, const json& outcome) const {
    std::cout << "  tuning " << entry.name << ": " << to_text(candidate) << ": "
              << outcome.at("status").get<std::string>() << ", " << (all_.experiment.solved ? "calls = " : "Phi = ")
              << outcome.at("score") << std::endl;
  }

  Shared& all_;
  std::string path_;
  json tried_;
  SolverSettings best_;
  std::mutex mutex_;
};

/// A copy of the problem for every job of the tuning, no more than the largest grid has use for.
void add_jobs(Shared& all) {
  int jobs = all.given["tune-jobs"].as<int>();
  require(jobs >= 0, "--tune-jobs ", jobs, ", must not be negative");
  const auto calls = all.given["tune-calls"].as<std::int64_t>();
  require(calls >= 0, "--tune-calls ", calls, ", must not be negative");
  if (jobs == 0) jobs = usable_threads(0);
  std::size_t largest = 1;
  for (const auto& [name, grid] : all.experiment.grids) largest = std::max(largest, grid.size());
  while (all.problems.size() < std::min(largest, static_cast<std::size_t>(jobs)))
    all.problems.push_back(all.experiment.make());
}

}  // namespace

SolverSettings tune(Shared& all) {
  add_jobs(all);
  const std::string path = all.plan.folder + "/tuned.cfg", mark = "# the best settings found by --tune";
  SolverSettings kept;
  if (std::ifstream before(path); before)
    kept = parse_settings(path, std::string(std::istreambuf_iterator<char>(before), {}));
  Tuning tuning(all);
  SolverSettings out;
  for (const SolverEntry* entry : all.plan.chosen)
    if (tuning.has_grid(*entry))
      kept[entry->name] = out[entry->name] = tuning.best(*entry);
    else
      std::cout << "  " << entry->name << ": nothing to tune" << std::endl;
  std::ostringstream config = text_stream();
  config << mark << "; give this file with --config\n";
  for (const auto& [name, settings] : kept)
    for (const auto& [option, value] : settings) config << "set = " << name << "." << option << "=" << value << "\n";
  write_text(path, config.str(), mark);
  std::cout << "  wrote " << path << std::endl;
  all.problems.resize(1);
  return out;
}

}  // namespace hypertape::drivers
