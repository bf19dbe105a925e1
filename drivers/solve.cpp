// Runs solvers on a shipped problem and compares them.

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/output.hpp"
#include "drivers/common/problem_options.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/outer/registry.hpp"
#include "hypertape/trace/trace.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

std::string known_solvers() {
  std::string out;
  for (const SolverEntry& entry : solvers()) out += text("  ", entry.name, ": ", entry.summary, "\n");
  return out;
}

std::string options_of(const SolverEntry& entry) {
  std::ostringstream out;
  out << entry.name << ": " << entry.summary << "\n";
  for (const SolverOption& option : entry.options)
    out << "  " << std::left << std::setw(18) << option.name << std::setw(24) << option.value << option.help << "\n";
  return out.str();
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) out.push_back(name);
  return out;
}

/// One `--set`: an option of one solver, `rahgd.eta=0.1`, or of all that are run, `eta=0.1`.
struct Setting {
  std::string solver, option, value;
};

Setting parse_setting(const std::string& given) {
  const auto equals = given.find('=');
  require(equals != std::string::npos && equals > 0, "--set ", given, ", must be OPTION=VALUE or SOLVER.OPTION=VALUE");
  const std::string name = given.substr(0, equals);
  const auto dot = name.find('.');
  if (dot == std::string::npos) return {{}, name, given.substr(equals + 1)};
  return {name.substr(0, dot), name.substr(dot + 1), given.substr(equals + 1)};
}

/// What the command line says for one solver, later settings last: what the problem knows, the common options, --set.
Settings settings_for(const SolverEntry& entry, const problems::Problem& problem, const po::variables_map& given,
                      const std::vector<Setting>& set) {
  Settings out;
  const auto add = [&](const std::string& option, const std::string& value) {
    if (entry.has_option(option)) out.emplace_back(option, value);
  };
  const auto exact = [](double value) {
    std::ostringstream digits;
    digits << std::setprecision(17) << value;
    return digits.str();
  };
  add("mu", exact(problem.constants.mu));
  add("l", exact(problem.constants.l));
  add("seed", std::to_string(given["seed"].as<std::uint64_t>()));
  for (const char* budget : {"tolerance", "max-iterations", "max-calls", "max-seconds"})
    if (given.count(budget) > 0) {
      std::string option = budget;
      std::replace(option.begin(), option.end(), '-', '_');
      add(option, given[budget].as<std::string>());
    }
  for (const Setting& setting : set)
    if (setting.solver == entry.name || setting.solver.empty()) add(setting.option, setting.value);
  return out;
}

void check_settings(const std::vector<Setting>& set, const std::vector<const SolverEntry*>& chosen) {
  for (const Setting& setting : set) {
    bool used = false;
    for (const SolverEntry* entry : chosen)
      used = used || ((setting.solver.empty() || setting.solver == entry->name) && entry->has_option(setting.option));
    require(used, "--set ", setting.solver, setting.solver.empty() ? "" : ".", setting.option,
            ": no solver that is run has this option; --options SOLVER lists them");
  }
}

nlohmann::json to_json(const SolverEntry& entry, const Settings& settings, const Result& r) {
  nlohmann::json out{
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
  return out;
}

void print_header(const std::string& problem) {
  std::cout << problem << "\n  " << std::left << std::setw(14) << "solver" << std::setw(16) << "status" << std::right
            << std::setw(15) << "Phi" << std::setw(11) << "|grad Phi|" << std::setw(10) << "+- bound" << std::setw(9)
            << "Gc(f)" << std::setw(9) << "Gc(g)" << std::setw(9) << "JV" << std::setw(9) << "HV" << std::setw(9)
            << "seconds" << std::setw(9) << "restarts" << std::endl;
}

void print_row(const std::string& solver, const Result& r) {
  std::cout << "  " << std::left << std::setw(14) << solver << std::setw(16) << to_string(r.status) << std::right
            << std::setw(15) << std::setprecision(9) << r.phi << std::setprecision(3) << std::setw(11)
            << r.gradient_norm << std::setw(10) << r.error_bound << std::setw(9) << r.counts.f << std::setw(9)
            << r.counts.g << std::setw(9) << r.counts.jv << std::setw(9) << r.counts.hv << std::setw(9) << r.seconds
            << std::setw(9) << r.restarts << std::endl;
}

bool is_trouble(Status status) {
  return status == Status::not_finite || status == Status::diverged || status == Status::indefinite;
}

int run(const po::variables_map& given) {
  if (given.count("options") > 0) {
    std::cout << options_of(solver(given["options"].as<std::string>()));
    return 0;
  }
  require(given.count("problem") > 0, "give --problem NAME; the problems are\n", drivers::known_problems());
  require(given.count("solver") > 0, "give --solver A,B,C; the solvers are\n", known_solvers());
  const auto name = given["problem"].as<std::string>();
  const auto arguments = drivers::problem_arguments(given);
  std::vector<const SolverEntry*> chosen;
  for (const auto& one : split(given["solver"].as<std::string>())) chosen.push_back(&solver(one));
  require(!chosen.empty(), "--solver is empty; the solvers are\n", known_solvers());
  std::vector<Setting> set;
  if (given.count("set") > 0)
    for (const auto& one : given["set"].as<std::vector<std::string>>()) set.push_back(parse_setting(one));
  check_settings(set, chosen);

  const std::string folder = given.count("out") > 0 ? given["out"].as<std::string>() : "results/" + name;
  std::filesystem::create_directories(folder);
  Trace trace;
  nlohmann::json summary{{"problem", name}, {"seed", arguments.seed}, {"runs", nlohmann::json::array()}};
  std::vector<std::string> troubles;
  print_header(name);
  for (const SolverEntry* entry : chosen) {
    problems::Problem problem = problems::make_problem(name, arguments);
    require(!entry->minimax || problem.minimax, entry->name, ": solves minimax problems only, which ", name, " is not");
    const Settings settings = settings_for(*entry, problem, given, set);
    const Result result = entry->solve(*problem.oracle, settings, problem.start, trace.observer(entry->name));
    print_row(entry->name, result);
    if (result.status != Status::converged) troubles.push_back(entry->name + ": " + result.message);
    if (is_trouble(result.status)) summary["trouble"] = true;
    summary["runs"].push_back(to_json(*entry, settings, result));
  }
  for (const auto& trouble : troubles) std::cout << "  " << trouble << "\n";
  std::ostringstream table;
  trace.write_csv(table);
  drivers::write_csv(folder + "/trace.csv", table.str());
  drivers::write_json(folder + "/summary.json", summary.dump(2) + "\n", "runs");
  std::cout << "  wrote " << folder << "/trace.csv and " << folder << "/summary.json" << std::endl;
  return summary.contains("trouble") ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "solve";
  line.purpose =
      "runs solvers on a problem and compares what they reach and what it costs.\n"
      "Exit code 0: every run converged or kept its budget; 1: a run met numerical trouble; 2: misuse.";
  line.examples =
      "  solve --problem quadratic --solver rahgd,aid,ba\n"
      "  solve --problem synthetic_minimax --solver pragda,gda --tolerance 1e-8 --set eta=0.5\n"
      "  solve --problem quadratic --kappa 100 --solver rahgd --set rahgd.theta=0.03 --out results/k100\n"
      "  solve --options rahgd\n\nProblems:\n" +
      drivers::known_problems() + "\nSolvers:\n" + known_solvers();
  line.options.add_options()("problem", po::value<std::string>()->value_name("NAME"), "the problem")(
      "solver", po::value<std::string>()->value_name("A,B,C"), "the solvers, in this order")(
      "set", po::value<std::vector<std::string>>()->composing()->value_name("OPTION=VALUE"),
      "an option of all solvers, or of one: SOLVER.OPTION=VALUE (may be given more than once)")(
      "options", po::value<std::string>()->value_name("SOLVER"), "list the options of a solver")(
      "tolerance", po::value<std::string>()->value_name("EPS"), "converged when |u| + error bound <= EPS")(
      "max-iterations", po::value<std::string>()->value_name("N"), "budget of outer iterations")(
      "max-calls", po::value<std::string>()->value_name("N"), "budget of oracle calls, for each solver")(
      "max-seconds", po::value<std::string>()->value_name("S"), "budget of time, for each solver")(
      "out", po::value<std::string>()->value_name("DIR"),
      "folder for trace.csv and summary.json (default results/PROBLEM)");
  drivers::add_problem_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
