#include "drivers/common/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/output.hpp"
#include "drivers/common/plan.hpp"
#include "drivers/common/report.hpp"
#include "drivers/common/tuning.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/inner/lanczos.hpp"
#include "hypertape/outer/print.hpp"

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

std::string comparison_help(const std::string& name) {
  return text(
      "\nIn the table, |grad Phi| is the norm of the gradient as computed. Its error is at most the bound, and about "
      "the\n"
      "estimate, where there is one; \"converged by\" tells which of them the tolerance was compared with. Gc(f) and\n"
      "Gc(g) count gradients of f and g, JV and HV products with d2g/dxdy and d2g/dy2.\n"
      "\nInto results/",
      name,
      " or --out: trace.csv (iterations), summary.json (how runs ended, with what options), x_SOLVER.csv (the\n"
      "solution), and with experiments figures (.svg, .png, .gnuplot), report.html, tuning.json and tuned.cfg.\n"
      "Exit code 0: no run met trouble; 1: one ended as not_finite, diverged, indefinite or failed; 2: misuse.\n"
      "\nSolvers (--options SOLVER lists what --set can give them):\n",
      known_solvers());
}

double measured_l(const problems::Problem& problem, const Vec& x, const Vec& y) {
  return 1.1 * lanczos(problem.oracle->curvature_at(x, y), 10, 1).largest;
}

std::string output_folder(const po::variables_map& given, const std::string& name) {
  return given.count("out") > 0 ? given["out"].as<std::string>() : "results/" + name;
}

void add_comparison_options(po::options_description& options, const std::string& default_solvers,
                            const std::string& default_calls) {
  auto* calls = po::value<std::string>()->value_name("N");
  if (!default_calls.empty()) calls->default_value(default_calls);
  options.add_options()("solver", po::value<std::string>()->default_value(default_solvers)->value_name("A,B,C"),
                        "the solvers, in this order")(
      "set", po::value<std::vector<std::string>>()->composing()->value_name("OPTION=VALUE"),
      "an option of all solvers, or of one: SOLVER.OPTION=VALUE (may be given more than once)")(
      "options", po::value<std::string>()->value_name("SOLVER"), "list the options of a solver")(
      "tolerance", po::value<std::string>()->value_name("EPS"),
      "converged when |grad Phi| and its error together are <= EPS (1e-6)")(
      "rtol", po::value<std::string>()->value_name("R"), "or when they are <= R times the first |grad Phi| (0)")(
      "max-iterations", po::value<std::string>()->value_name("N"),
      "budget of outer iterations, for each solver (100000)")("max-calls", calls,
                                                              "budget of oracle calls, for each solver")(
      "max-seconds", po::value<std::string>()->value_name("S"), "budget of time, for each solver")(
      "levels", po::value<std::string>()->value_name("A,B,C"), "tell the calls until Phi <= A, Phi <= B, ...")(
      "out", po::value<std::string>()->value_name("DIR"),
      "folder for what is written (default results/ and the experiment's name)");
}

void add_tuning_options(po::options_description& options) {
  options.add_options()("tune", po::bool_switch(),
                        "first find each solver's best options on its grid; an interrupted tuning goes on")(
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

json to_json(const SolverEntry& entry, const Settings& settings, const Result& r, const std::vector<Metric>& metrics) {
  json out{
      {"solver", entry.name},
      {"status", to_string(r.status)},
      {"converged_by", converged_by(r)},
      {"message", r.message},
      {"phi", r.phi},
      {"gradient_norm", r.gradient_norm},
      {"error_bound", r.error_bound},
      {"error_estimate", r.error_estimate},
      {"counts", {{"f", r.counts.f}, {"g", r.counts.g}, {"jv", r.counts.jv}, {"hv", r.counts.hv}}},
      {"iterations", r.iterations},
      {"restarts", r.restarts},
      {"seconds", r.seconds},
  };
  for (const auto& [option, value] : settings) out["options"][option] = value;
  for (const Metric& metric : metrics)  // not after a failure, which may be the metric's
    out["metrics"][metric.name] = r.status == Status::failed ? json() : json(metric.value(r.x, r.y));
  return out;
}

std::string short_number(double value, int digits = 4) {
  std::ostringstream out = text_stream();
  out << std::setprecision(digits) << value;
  return out.str();
}

Table result_table(const json& runs, const std::vector<Metric>& metrics) {
  Table table{"Results",
              {"solver", "status", "Phi", "|grad Phi|", "bound", "estimate", "Gc(f)", "Gc(g)", "JV", "HV", "seconds",
               "restarts"},
              {}};
  for (const Metric& metric : metrics) table.header.push_back(metric.name);
  const auto number = [](const json& value, int digits = 4) {
    return value.is_number() && std::isfinite(value.get<double>()) ? short_number(value.get<double>(), digits) : "-";
  };
  for (const json& run : runs) {
    const std::string by = run.at("converged_by");
    std::vector<std::string> row{run.at("solver"),
                                 run.at("status").get<std::string>() + (by.empty() ? "" : " by " + by),
                                 number(run.at("phi"), 8),
                                 number(run.at("gradient_norm")),
                                 number(run.at("error_bound"), 3),
                                 number(run.at("error_estimate"), 3)};
    for (const char* kind : {"f", "g", "jv", "hv"}) row.push_back(run.at("counts").at(kind).dump());
    row.push_back(number(run.at("seconds"), 3));
    row.push_back(run.at("restarts").dump());
    for (const Metric& metric : metrics) row.push_back(number(run.at("metrics").at(metric.name)));
    table.rows.push_back(row);
  }
  return table;
}

/// Calls and seconds until Phi was at most each of some levels.
struct Reached {
  struct Entry {
    std::string solver;
    double level;
    std::int64_t calls;
    double seconds;
  };
  std::vector<double> levels;
  std::vector<Entry> entries;

  const Entry* find(const std::string& solver, double level) const {
    for (const Entry& entry : entries)
      if (entry.solver == solver && entry.level == level) return &entry;
    return nullptr;
  }

  Observer observer(const std::string& solver, Observer inner) {
    return [this, solver, inner = std::move(inner)](const Iterate& i) {
      for (const double level : levels)
        if (i.phi <= level && !find(solver, level)) entries.push_back({solver, level, i.counts.total(), i.seconds});
      return inner(i);
    };
  }

  Table table(const std::vector<const SolverEntry*>& chosen) const {
    Table out{"Calls (seconds) until Phi <=", {"solver"}, {}};
    for (const double level : levels) out.header.push_back(short_number(level));
    for (const SolverEntry* solver : chosen) {
      std::vector<std::string> row{solver->name};
      for (const double level : levels) {
        const Entry* entry = find(solver->name, level);
        row.push_back(entry ? text(entry->calls, " (", short_number(entry->seconds, 3), ")") : "-");
      }
      out.rows.push_back(row);
    }
    return out;
  }

  json to_json() const {
    json out = json::array();
    for (const Entry& e : entries)
      out.push_back({{"solver", e.solver}, {"level", e.level}, {"calls", e.calls}, {"seconds", e.seconds}});
    return out;
  }
};

double column_of(const TraceRow& row, const std::string& column, const std::vector<Metric>& metrics) {
  if (column == "phi") return row.phi;
  if (column == "gradient_norm") return row.gradient_norm;
  for (std::size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].name == column) return row.metrics[m];
  throw std::logic_error("no column " + column + " in the trace");
}

Figure to_figure(const TraceFigure& wanted, const Trace& trace, const Experiment& experiment, const std::string& note) {
  Figure figure{wanted.name,  wanted.title, wanted.against_calls ? "oracle calls" : "seconds",
                wanted.label, wanted.log_x, wanted.log_y,
                {},           note};
  for (const TraceRow& row : trace.rows()) {
    if (figure.series.empty() || figure.series.back().label != row.solver)
      figure.series.push_back({row.solver, {}, {}});
    figure.series.back().x.push_back(wanted.against_calls ? static_cast<double>(row.counts.total()) : row.seconds);
    figure.series.back().y.push_back(column_of(row, wanted.column, experiment.metrics) - wanted.minus);
  }
  return figure;
}

std::string numbered(const Vec& x) {
  std::ostringstream out = text_stream();
  out << "i,x\n" << std::setprecision(17);
  for (Index i = 0; i < x.size(); ++i) out << i + 1 << "," << x[i] << "\n";
  return out.str();
}

}  // namespace

Comparison compare(const po::variables_map& given, const Experiment& experiment) {
  Shared all{given, experiment, {}, {}};
  all.problems.push_back(experiment.make());
  all.plan = read_plan(given, experiment, all.problems[0]);
  const Plan& plan = all.plan;
  std::filesystem::create_directories(plan.folder);
  for (const auto& [name, value] : experiment.facts) std::cout << "  " << name << ": " << value << "\n";
  if (!plan.not_run.empty()) std::cout << "  not run, and their settings not used: " << plan.not_run << "\n";
  std::cout << std::flush;
  SolverSettings tuned;
  if (given.count("tune") > 0 && given["tune"].as<bool>()) tuned = tune(all);

  Comparison out;
  Trace trace(experiment.metrics);
  Reached reached{plan.levels, {}};
  json summary{{"problem", experiment.name}, {"seed", given["seed"].as<std::uint64_t>()}, {"runs", json::array()}};
  for (const auto& [name, value] : experiment.facts) summary["facts"][name] = value;
  std::string note = "seed " + std::to_string(given["seed"].as<std::uint64_t>());
  Table settings{"Settings", {"solver", "settings", "how it ended"}, {}};
  for (const SolverEntry* entry : plan.chosen) {
    const Settings used = settings_for(*entry, all, tuned[entry->name]);
    out.used.emplace_back(entry->name, used);
    const Result result =
        run_one(*entry, used, all.problems[0], reached.observer(entry->name, trace.observer(entry->name)));
    summary["runs"].push_back(to_json(*entry, used, result, experiment.metrics));
    summary["reached"] = reached.to_json();
    std::ostringstream csv = text_stream();
    trace.write_csv(csv);
    write_csv(plan.folder + "/trace.csv", csv.str());
    write_json(plan.folder + "/summary.json", summary.dump(2) + "\n", "runs");
    write_csv(plan.folder + "/x_" + entry->name + ".csv", numbered(result.x));
    if (is_trouble(result.status)) out.exit_code = 1;
    const std::string chosen = chosen_options(used);
    note += "; " + entry->name + (chosen.empty() ? "" : " " + chosen);
    settings.rows.push_back({entry->name, to_text(used), result.message});
  }

  std::vector<Table> tables{result_table(summary["runs"], experiment.metrics)};
  std::cout << experiment.name << "\n";
  print(tables.back());
  if (!plan.levels.empty()) {
    tables.push_back(reached.table(plan.chosen));
    std::cout << tables.back().title << "\n";
    print(tables.back());
  }
  for (const json& run : summary["runs"])
    if (run.at("status") != "converged")
      std::cout << "  " << run.at("solver").get<std::string>() << ": " << run.at("message").get<std::string>() << "\n";
  std::cout << "  wrote " << plan.folder << "/trace.csv and " << plan.folder << "/summary.json" << std::endl;
  if (experiment.figures.empty()) return out;

  tables.push_back(settings);
  Report report{experiment.name, "", tables, {}, experiment.facts};
  std::vector<Figure> figures = experiment.more_figures;
  for (const TraceFigure& wanted : experiment.figures) figures.push_back(to_figure(wanted, trace, experiment, note));
  for (const Figure& figure : figures) {
    const std::string trouble = draw(figure, plan.folder);
    if (trouble.empty())
      report.figures.push_back(figure.name);
    else
      std::cout << "  " << figure.name << " is not drawn: " << trouble << "\n";
  }
  for (const auto& fact : given_options(given)) report.facts.push_back(fact);
  for (const auto& fact : machine_facts()) report.facts.push_back(fact);
  write_report(report, plan.folder);
  std::cout << "  wrote " << plan.folder << "/report.html" << std::endl;
  return out;
}

}  // namespace hypertape::drivers
