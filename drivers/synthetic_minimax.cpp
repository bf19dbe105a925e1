// The W-shaped minimax problem, from next to its saddle and from far away.

#include <algorithm>
#include <iostream>
#include <limits>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "drivers/common/output.hpp"
#include "hypertape/core/require.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"

namespace po = boost::program_options;
using namespace hypertape;
using problems::MinimaxStart;

namespace {

constexpr double basin = 1e-6;  // Phi - Phi*

/// The W itself.
drivers::Figure shape() {
  drivers::Figure figure{"w_shape", "The W-shaped function", "x_3", "w(x_3)", false, false, {{"w", {}, {}}}, {}};
  const problems::SyntheticMinimax spec;
  for (int i = -90; i <= 90; ++i) {
    figure.series[0].x.push_back(0.01 * i);
    figure.series[0].y.push_back(problems::w_shape(0.01 * i, spec.eps, spec.L));
  }
  return figure;
}

/// Calls until Phi is in the basin for several seeds, each solver as it ran before, but no run ends for its gradient;
/// writes seeds.csv.
void print_seeds(problems::Problem problem, const std::vector<std::pair<std::string, Settings>>& used,
                 const std::string& folder, int seeds) {
  std::cout << "  calls until Phi - Phi* <= " << basin << " at tolerance 0, median and range of " << seeds
            << " seeds\n";
  std::ostringstream csv = text_stream();
  csv << "solver,seed,calls\n";
  for (const auto& [name, settings] : used) {
    std::vector<std::int64_t> calls;
    int reached = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      Settings own = settings;
      own.insert(own.end(), {{"tolerance", "0"},
                             {"max_iterations", "10000000"},
                             {"max_calls", "1000000"},
                             {"seed", std::to_string(seed)}});
      calls.push_back(std::numeric_limits<std::int64_t>::max());
      solver(name).solve(*problem.oracle, own, problem.start, [&](const Iterate& i) {
        if (problem.closed_form.phi(i.x) - problem.optimum->phi > basin) return true;
        calls.back() = i.counts.total();
        return false;
      });
      const bool found = calls.back() < std::numeric_limits<std::int64_t>::max();
      reached += found;
      csv << name << "," << seed << "," << (found ? std::to_string(calls.back()) : "") << "\n";
    }
    std::sort(calls.begin(), calls.end());
    const auto shown = [](std::int64_t value) {
      return value == std::numeric_limits<std::int64_t>::max() ? std::string("never") : std::to_string(value);
    };
    std::cout << "    " << name << ": " << shown(calls[calls.size() / 2]) << " (" << shown(calls.front()) << " to "
              << shown(calls.back()) << "), " << reached << " of " << seeds << " seeds\n";
  }
  drivers::write_csv(folder + "/seeds.csv", csv.str());
  std::cout << "  wrote " << folder << "/seeds.csv\n";
}

int run_from(const po::variables_map& given, MinimaxStart start) {
  const bool near = start == MinimaxStart::near_saddle;
  drivers::Experiment experiment{near ? "synthetic_minimax_near_saddle" : "synthetic_minimax_far",
                                 [start] { return problems::make_synthetic_minimax({}, start); }};
  const auto known = experiment.make();
  const auto phi = known.closed_form.phi;
  const double best = known.optimum->phi;
  const auto gap = [phi, best](const Vec& x, const Vec&) { return phi(x) - best; };
  experiment.metrics = {{"gap", gap}};
  experiment.solved = [gap](const Vec& x, const Vec& y) { return gap(x, y) <= basin; };
  experiment.figures = {
      {"gap_calls", "Phi - Phi* against oracle calls", "gap", "Phi - Phi*", true, 0, true},
      {"gap_time", "Phi - Phi* against time", "gap", "Phi - Phi*", false, 0, true},
  };
  experiment.more_figures = {shape()};
  experiment.facts = {{"start", near ? "next to the saddle" : "far from the saddle"}};
  // The paper's grid, its exponents read as negative: larger steps for y diverge.
  const std::vector<std::string> steps{"0.1", "0.5", "0.01", "0.05", "0.001", "0.005"};
  std::vector<std::string> thetas;
  for (int tenths = 1; tenths <= 9; ++tenths) thetas.push_back(text("0.", tenths));
  experiment.defaults = drivers::shipped_settings(experiment.name);
  experiment.grids["pragda"] = drivers::all_combinations(
      {{"eta", steps}, {"theta", thetas}, {"B", {"0.3", "inf"}}, {"r", {"1e-3"}}, {"steps", {"1", "3"}}});
  const std::vector<std::string> alphas{"0.1", "0.05", "0.01", "0.005", "0.001"};  // 0.5 diverges
  experiment.grids["gda"] = drivers::all_combinations({{"eta", steps}, {"alpha", alphas}});
  experiment.grids["perturbed_gda"] = drivers::all_combinations({{"eta", steps}, {"alpha", alphas}, {"r", {"1e-3"}}});
  experiment.grids["imcn"] = drivers::all_combinations({{"M", {"0.5", "2", "8", "32", "128"}},
                                                        {"L", {"0.2", "1"}},
                                                        {"mu_s", {"0.5", "1", "2", "4", "8"}},
                                                        {"J", {"2", "5", "10", "50"}},
                                                        {"steps", {"1", "3"}},
                                                        {"products", {"1", "2"}}});
  const auto [code, used] = drivers::compare(given, experiment);
  print_seeds(experiment.make(), used, drivers::output_folder(given, experiment.name), given["seeds"].as<int>());
  return code;
}

int run(const po::variables_map& given) {
  if (drivers::listed_options(given)) return 0;
  require(given["seeds"].as<int>() >= 1, "--seeds ", given["seeds"].as<int>(), ", must be at least 1");
  const auto start = given["start"].as<std::string>();
  require(start == "near" || start == "far" || start == "both", "--start ", start, ", must be near, far or both");
  require(start != "both" || given.count("out") == 0, "--out is for one start: give --start near or --start far");
  int code = 0;
  if (start != "far") code = std::max(code, run_from(given, MinimaxStart::near_saddle));
  if (start != "near") code = std::max(code, run_from(given, MinimaxStart::far));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "synthetic_minimax";
  line.purpose = "min_x max_y of a W-shaped function with a strict saddle, from two starts, and who finds its basin.";
  line.examples =
      "  synthetic_minimax\n"
      "  synthetic_minimax --start near --tune --tune-calls 2000 --out results/tuned\n"
      "\nWith both starts there are two folders, results/synthetic_minimax_near_saddle and _far, and no --out.\n" +
      drivers::comparison_help("synthetic_minimax_...");
  line.options.add_options()("start", po::value<std::string>()->default_value("both")->value_name("WHERE"),
                             "near (next to the saddle), far, or both")(
      "seeds", po::value<int>()->default_value(21)->value_name("N"), "seeds for the table of calls")(
      "seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "seed of the runs that are drawn");
  drivers::add_comparison_options(line.options, "auto,pragda,gda,perturbed_gda,imcn");
  drivers::add_tuning_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
