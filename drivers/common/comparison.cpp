#include "drivers/common/comparison.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/output.hpp"
#include "drivers/common/parallel.hpp"
#include "drivers/common/progress.hpp"
#include "drivers/common/report.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape::drivers {

namespace po = boost::program_options;
using nlohmann::json;

std::vector<Settings> all_combinations(const std::vector<std::pair<std::string, std::vector<std::string>>>& values) {
  std::vector<Settings> out{{}};
  for (const auto& [option, choices] : values) {
    std::vector<Settings> longer;
    for (const Settings& settings : out)
      for (const std::string& choice : choices) {
        longer.push_back(settings);
        longer.back().emplace_back(option, choice);
      }
    out = std::move(longer);
  }
  return out;
}

std::string known_solvers() {
  std::string out;
  for (const SolverEntry& entry : solvers()) out += text("  ", entry.name, ": ", entry.summary, "\n");
  return out;
}

void add_comparison_options(po::options_description& options, const std::string& default_solvers) {
  auto* solver_list = po::value<std::string>()->value_name("A,B,C");
  if (!default_solvers.empty()) solver_list->default_value(default_solvers);
  options.add_options()("solver", solver_list, "the solvers, in this order")(
      "set", po::value<std::vector<std::string>>()->composing()->value_name("OPTION=VALUE"),
      "an option of all solvers, or of one: SOLVER.OPTION=VALUE (may be given more than once)")(
      "options", po::value<std::string>()->value_name("SOLVER"), "list the options of a solver")(
      "tolerance", po::value<std::string>()->value_name("EPS"), "converged when |u| + error bound <= EPS")(
      "max-iterations", po::value<std::string>()->value_name("N"), "budget of outer iterations, for each solver")(
      "max-calls", po::value<std::string>()->value_name("N"), "budget of oracle calls, for each solver")(
      "max-seconds", po::value<std::string>()->value_name("S"), "budget of time, for each solver")(
      "levels", po::value<std::string>()->value_name("A,B,C"), "tell the calls until Phi <= A, Phi <= B, ...")(
      "out", po::value<std::string>()->value_name("DIR"),
      "folder for trace.csv, summary.json and what is drawn (default results/NAME)");
}

void add_tuning_options(po::options_description& options) {
  options.add_options()("tune", "first find each solver's best options on its grid; an interrupted tuning goes on")(
      "tune-calls", po::value<std::int64_t>()->default_value(0)->value_name("N"),
      "budget of one run of the tuning (0: that of the real runs)")(
      "tune-jobs", po::value<int>()->default_value(0)->value_name("N"),
      "settings tried at the same time, each on its own copy of the problem (0: one for every core)");
}

bool listed_options(const po::variables_map& given) {
  if (given.count("options") == 0) return false;
  const SolverEntry& entry = solver(given["options"].as<std::string>());
  std::cout << entry.name << ": " << entry.summary << "\n" << std::left;
  for (const SolverOption& option : entry.options)
    std::cout << "  " << std::setw(18) << option.name << std::setw(24) << option.value << option.help << "\n";
  return true;
}

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) out.push_back(name);
  return out;
}

/// What the command line says of the runs.
struct Plan {
  std::vector<const SolverEntry*> chosen;
  std::vector<Setting> set;
  std::vector<double> levels;
  std::string folder;
};

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
  plan.folder = given.count("out") > 0 ? given["out"].as<std::string>() : "results/" + experiment.name;
  return plan;
}

/// Everything that the runs share.
struct Comparison {
  const po::variables_map& given;
  const Experiment& experiment;
  std::vector<problems::Problem> problems;  // one for every job
  Plan plan;
};

/// For one solver, later settings last: what the problem knows, the experiment's defaults, the common options, --set.
Settings settings_for(const SolverEntry& entry, const Comparison& all, const Settings& tuned) {
  Settings out;
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!entry.has_option(option)) return;
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

StopRule budget_of(const Settings& settings) {
  StopRule stop;
  OptionList list;
  stop.describe(list);
  for (const auto& [option, value] : settings)
    for (const auto& known : list.options())
      if (known.name == option) list.set(option, value);
  return stop;
}

Result run_one(const SolverEntry& entry, const Settings& settings, problems::Problem& problem, const Observer& observer,
               bool alone = true) {
  const bool terminal = alone && isatty(STDERR_FILENO) != 0;
  const Result result = entry.solve(*problem.oracle, settings, problem.start,
                                    with_progress(observer, entry.name, budget_of(settings), std::cerr, terminal));
  clear_progress(std::cerr, terminal);
  return result;
}

std::string to_text(const Settings& settings) {
  std::string out;
  for (const auto& [option, value] : settings) out += (out.empty() ? "" : " ") + option + "=" + value;
  return out;
}

/// The settings tried so far and what came of them, kept in tuning.json. Trying the same settings on the same problem
/// again costs nothing, so that an interrupted tuning goes on.
class Tuning {
 public:
  explicit Tuning(Comparison& all)
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

  /// The setting of the solver's grid with the smallest Phi at the end of its budget.
  const Settings& best(const SolverEntry& entry) {
    if (const auto known = best_.find(entry.name); known != best_.end()) return known->second;
    Settings base;
    if (const auto after = all_.experiment.tuned_after.find(entry.name); after != all_.experiment.tuned_after.end())
      base = best(solver(after->second));
    std::vector<Settings> grid{base};
    if (const auto found = all_.experiment.grids.find(entry.name); found != all_.experiment.grids.end()) {
      grid = found->second;
      for (Settings& candidate : grid) candidate.insert(candidate.begin(), base.begin(), base.end());
    }
    parallel_for(grid.size(), static_cast<int>(all_.problems.size()), [&](std::size_t i, int job) {
      try_one(entry, grid[i], all_.problems[static_cast<std::size_t>(job)]);
    });
    Settings best;
    double best_phi = std::numeric_limits<double>::infinity();
    for (const Settings& candidate : grid) {
      const json& outcome = tried_["runs"][key(entry, candidate)];
      std::cout << "  tuning " << entry.name << ": " << to_text(candidate) << ": "
                << outcome.at("status").get<std::string>() << ", Phi = " << outcome.at("phi") << std::endl;
      if (!outcome.at("usable").get<bool>() || !outcome.at("phi").is_number()) continue;
      if (const double phi = outcome.at("phi").get<double>(); phi < best_phi) {
        best_phi = phi;
        best = candidate;
      }
    }
    std::cout << "  best: " << to_text(best) << std::endl;
    return best_[entry.name] = best;
  }

 private:
  Settings complete(const SolverEntry& entry, const Settings& candidate) const {
    Settings settings = settings_for(entry, all_, candidate);
    if (const auto calls = all_.given["tune-calls"].as<std::int64_t>(); calls > 0) {
      std::erase_if(settings, [](const auto& setting) { return setting.first == "max_calls"; });
      settings.emplace_back("max_calls", std::to_string(calls));
    }
    return settings;
  }

  std::string key(const SolverEntry& entry, const Settings& candidate) const {
    return entry.name + " " + to_text(complete(entry, candidate));
  }

  void try_one(const SolverEntry& entry, const Settings& candidate, problems::Problem& problem) {
    const std::string name = key(entry, candidate);
    {
      const std::lock_guard lock(mutex_);
      if (tried_["runs"].contains(name)) return;
    }
    const Result result = run_one(entry, complete(entry, candidate), problem, {}, all_.problems.size() == 1);
    const bool usable =
        result.status != Status::diverged && result.status != Status::not_finite && result.status != Status::indefinite;
    const std::lock_guard lock(mutex_);
    tried_["runs"][name] = {{"phi", result.phi}, {"status", to_string(result.status)}, {"usable", usable}};
    write_json(path_, tried_.dump(1) + "\n", "runs");
  }

  Comparison& all_;
  std::string path_;
  json tried_;
  std::map<std::string, Settings> best_;
  std::mutex mutex_;
};

/// Tunes every chosen solver, and writes what won as a config file.
SolverSettings tune(Comparison& all) {
  Tuning tuning(all);
  SolverSettings out;
  std::ostringstream config;
  config << "# the best settings found by --tune; give this file with --config\n";
  for (const SolverEntry* entry : all.plan.chosen) {
    out[entry->name] = tuning.best(*entry);
    for (const auto& [option, value] : out[entry->name])
      config << "set = " << entry->name << "." << option << "=" << value << "\n";
  }
  write_text(all.plan.folder + "/tuned.cfg", config.str(), "# the best settings found by --tune");
  std::cout << "  wrote " << all.plan.folder << "/tuned.cfg" << std::endl;
  return out;
}

json to_json(const SolverEntry& entry, const Settings& settings, const Result& r, const std::vector<Metric>& metrics) {
  json out{
      {"solver", entry.name},
      {"status", to_string(r.status)},
      {"message", r.message},
      {"phi", r.phi},
      {"gradient_norm", r.gradient_norm},
      {"error_bound", r.error_bound},
      {"counts", {{"f", r.counts.f}, {"g", r.counts.g}, {"jv", r.counts.jv}, {"hv", r.counts.hv}}},
      {"iterations", r.iterations},
      {"restarts", r.restarts},
      {"seconds", r.seconds},
      {"x", std::vector<double>(r.x.begin(), r.x.begin() + std::min<Index>(100, r.x.size()))},
  };
  for (const auto& [option, value] : settings) out["options"][option] = value;
  for (const Metric& metric : metrics) out["metrics"][metric.name] = metric.value(r.x, r.y);
  return out;
}

std::string short_number(double value, int digits = 4) {
  std::ostringstream out;
  out << std::setprecision(digits) << value;
  return out.str();
}

Table result_table(const json& runs, const std::vector<Metric>& metrics) {
  Table table{"Results",
              {"solver", "status", "Phi", "|grad Phi|", "bound", "Gc(f)", "Gc(g)", "JV", "HV", "seconds", "restarts"},
              {}};
  for (const Metric& metric : metrics) table.header.push_back(metric.name);
  const auto number = [](const json& value, int digits = 4) {
    return value.is_number() ? short_number(value.get<double>(), digits) : "-";
  };
  for (const json& run : runs) {
    std::vector<std::string> row{run.at("solver"), run.at("status"), number(run.at("phi"), 9),
                                 number(run.at("gradient_norm")), number(run.at("error_bound"))};
    for (const char* kind : {"f", "g", "jv", "hv"}) row.push_back(run.at("counts").at(kind).dump());
    row.push_back(number(run.at("seconds")));
    row.push_back(run.at("restarts").dump());
    for (const Metric& metric : metrics) row.push_back(number(run.at("metrics").at(metric.name)));
    table.rows.push_back(row);
  }
  return table;
}

void print(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& name : table.header) widths.push_back(name.size());
  for (const auto& row : table.rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c)
      std::cout << (c < 2 ? std::left : std::right) << "  " << std::setw(static_cast<int>(widths[c])) << cells[c];
    std::cout << "\n";
  };
  line(table.header);
  for (const auto& row : table.rows) line(row);
}

/// Calls and seconds until Phi was at most each of the levels, for every solver.
Table reached_table(const std::vector<double>& levels, const Trace& trace,
                    const std::vector<const SolverEntry*>& chosen, json& summary) {
  Table table{"Calls (seconds) until Phi <=", {"solver"}, {}};
  summary["reached"] = json::array();
  for (const double level : levels) table.header.push_back(short_number(level));
  for (const SolverEntry* entry : chosen) {
    std::vector<std::string> row{entry->name};
    for (const double level : levels) {
      const auto first = std::find_if(trace.rows().begin(), trace.rows().end(),
                                      [&](const TraceRow& r) { return r.solver == entry->name && r.phi <= level; });
      const bool reached = first != trace.rows().end();
      row.push_back(reached ? text(first->counts.total(), " (", short_number(first->seconds, 3), ")") : "-");
      if (reached)
        summary["reached"].push_back(
            {{"solver", entry->name}, {"level", level}, {"calls", first->counts.total()}, {"seconds", first->seconds}});
    }
    table.rows.push_back(row);
  }
  return table;
}

double column_of(const TraceRow& row, const std::string& column, const std::vector<Metric>& metrics) {
  if (column == "phi") return row.phi;
  if (column == "gradient_norm") return row.gradient_norm;
  for (std::size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].name == column) return row.metrics[m];
  throw std::logic_error("no column " + column + " in the trace");
}

Figure to_figure(const TraceFigure& wanted, const Trace& trace, const Experiment& experiment, const std::string& note) {
  Figure figure{wanted.name,  wanted.title, wanted.against_calls ? "oracle calls" : "seconds",
                wanted.label, false,        wanted.log_y,
                {},           note};
  for (const TraceRow& row : trace.rows()) {
    if (figure.series.empty() || figure.series.back().label != row.solver)
      figure.series.push_back({row.solver, {}, {}});
    figure.series.back().x.push_back(wanted.against_calls ? static_cast<double>(row.counts.total()) : row.seconds);
    figure.series.back().y.push_back(column_of(row, wanted.column, experiment.metrics) - wanted.minus);
  }
  return figure;
}

bool is_trouble(const json& run) {
  const std::string status = run.at("status");
  return status == "not_finite" || status == "diverged" || status == "indefinite";
}

}  // namespace

int compare(const po::variables_map& given, const Experiment& experiment) {
  Comparison all{given, experiment, {}, {}};
  all.problems.push_back(experiment.make());
  all.plan = read_plan(given, experiment, all.problems[0]);
  const Plan& plan = all.plan;
  std::filesystem::create_directories(plan.folder);
  for (const auto& [name, value] : experiment.facts) std::cout << "  " << name << ": " << value << "\n";
  std::cout << std::flush;
  SolverSettings tuned;
  if (given.count("tune") > 0) {
    int jobs = given["tune-jobs"].as<int>();
    require(jobs >= 0, "--tune-jobs ", jobs, ", must not be negative");
    if (jobs == 0) jobs = cores();
    while (static_cast<int>(all.problems.size()) < jobs) all.problems.push_back(experiment.make());
    tuned = tune(all);
    all.problems.resize(1);
  }

  Trace trace(experiment.metrics);
  json summary{{"problem", experiment.name}, {"seed", given["seed"].as<std::uint64_t>()}, {"runs", json::array()}};
  for (const auto& [name, value] : experiment.facts) summary["facts"][name] = value;
  for (const SolverEntry* entry : plan.chosen) {
    const Settings settings = settings_for(*entry, all, tuned[entry->name]);
    const Result result = run_one(*entry, settings, all.problems[0], trace.observer(entry->name));
    summary["runs"].push_back(to_json(*entry, settings, result, experiment.metrics));
  }

  const Table table = result_table(summary["runs"], experiment.metrics);
  std::cout << experiment.name << "\n";
  print(table);
  std::vector<Table> tables{table};
  if (!plan.levels.empty()) {
    tables.push_back(reached_table(plan.levels, trace, plan.chosen, summary));
    std::cout << tables.back().title << "\n";
    print(tables.back());
  }
  int code = 0;
  Table settings{"Settings", {"solver", "settings", "how it ended"}, {}};
  for (const json& run : summary["runs"]) {
    if (run.at("status") != "converged")
      std::cout << "  " << run.at("solver").get<std::string>() << ": " << run.at("message").get<std::string>() << "\n";
    if (is_trouble(run)) code = 1;
    std::string options;
    for (const auto& [option, value] : run.at("options").items())
      options += option + " = " + value.get<std::string>() + "; ";
    settings.rows.push_back({run.at("solver"), options, run.at("message")});
  }
  std::ostringstream csv;
  trace.write_csv(csv);
  write_csv(plan.folder + "/trace.csv", csv.str());
  write_json(plan.folder + "/summary.json", summary.dump(2) + "\n", "runs");
  std::cout << "  wrote " << plan.folder << "/trace.csv and " << plan.folder << "/summary.json" << std::endl;

  if (experiment.figures.empty()) return code;
  tables.push_back(settings);
  Report report{experiment.name, "", tables, {}, experiment.facts};
  const std::string note = "seed " + std::to_string(given["seed"].as<std::uint64_t>());
  for (const TraceFigure& wanted : experiment.figures) {
    const std::string trouble = draw(to_figure(wanted, trace, experiment, note), plan.folder);
    if (trouble.empty())
      report.figures.push_back(wanted.name);
    else
      std::cout << "  " << wanted.name << " is not drawn: " << trouble << "\n";
  }
  for (const auto& fact : machine_facts()) report.facts.push_back(fact);
  write_report(report, plan.folder);
  std::cout << "  wrote " << plan.folder << "/report.html" << std::endl;
  return code;
}

}  // namespace hypertape::drivers
