// The W-shaped minimax problem, from next to its saddle and from far away.

#include <algorithm>
#include <iostream>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "hypertape/core/require.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"

namespace po = boost::program_options;
using namespace hypertape;
using problems::MinimaxStart;

namespace {

/// The W itself.
void draw_shape(const std::string& folder) {
  drivers::Figure figure{"w_shape", "The W-shaped function", "x_3", "w(x_3)", false, false, {{"w", {}, {}}}, {}};
  const problems::SyntheticMinimax spec;
  for (int i = -90; i <= 90; ++i) {
    figure.series[0].x.push_back(0.01 * i);
    figure.series[0].y.push_back(problems::w_shape(0.01 * i, spec.eps, spec.L));
  }
  if (const auto trouble = drivers::draw(figure, folder); !trouble.empty())
    std::cout << "  w_shape is not drawn: " << trouble << "\n";
}

/// Calls until Phi - Phi* <= 1e-6 for several seeds, each solver as its defaults say.
void print_seeds(const drivers::Experiment& experiment, MinimaxStart start, const std::string& list, int seeds) {
  std::cout << "  calls until Phi - Phi* <= 1e-6, median and range of " << seeds << " seeds\n";
  std::string name;
  for (std::istringstream names(list); std::getline(names, name, ',');) {
    std::vector<std::int64_t> calls;
    for (int seed = 1; seed <= seeds; ++seed) {
      auto problem = problems::make_synthetic_minimax({}, start);
      Settings settings{{"mu", "10"}, {"l", "20"}, {"tolerance", "0"}, {"max_calls", "1000000"}};
      if (const auto found = experiment.defaults.find(name); found != experiment.defaults.end())
        settings.insert(settings.end(), found->second.begin(), found->second.end());
      settings.emplace_back("seed", std::to_string(seed));
      std::int64_t reached = 0;
      solver(name).solve(*problem.oracle, settings, problem.start, [&](const Iterate& i) {
        if (problem.closed_form.phi(i.x) - problem.optimum->phi > 1e-6) return true;
        reached = i.counts.total();
        return false;
      });
      if (reached > 0) calls.push_back(reached);
    }
    std::sort(calls.begin(), calls.end());
    std::cout << "    " << name << ": ";
    if (calls.empty())
      std::cout << "never\n";
    else
      std::cout << calls[calls.size() / 2] << " (" << calls.front() << " to " << calls.back() << "), " << calls.size()
                << " of " << seeds << " seeds\n";
  }
}

int run_from(const po::variables_map& given, MinimaxStart start) {
  const bool near = start == MinimaxStart::near_saddle;
  drivers::Experiment experiment{near ? "synthetic_minimax_near_saddle" : "synthetic_minimax_far",
                                 [start] { return problems::make_synthetic_minimax({}, start); }};
  const auto known = experiment.make();
  const auto phi = known.closed_form.phi;
  const double best = known.optimum->phi;
  experiment.metrics = {{"gap", [phi, best](const Vec& x, const Vec&) { return phi(x) - best; }}};
  experiment.figures = {
      {"gap_calls", "Phi - Phi* against oracle calls", "gap", "Phi - Phi*", true, 0, true},
      {"gap_time", "Phi - Phi* against time", "gap", "Phi - Phi*", false, 0, true},
  };
  // The paper's grid, its exponents read as negative: larger steps for y diverge.
  const std::vector<std::string> steps{"0.1", "0.5", "0.01", "0.05", "0.001", "0.005"};
  std::vector<std::string> thetas;
  for (int tenths = 1; tenths <= 9; ++tenths) thetas.push_back(text("0.", tenths));
  experiment.defaults = drivers::shipped_settings(experiment.name);
  experiment.grids["pragda"] = drivers::all_combinations(
      {{"eta", steps}, {"theta", thetas}, {"B", {"0.3", "inf"}}, {"r", {"1e-3"}}, {"steps", {"1", "3"}}});
  experiment.grids["gda"] = experiment.grids["perturbed_gda"] =
      drivers::all_combinations({{"eta", steps}, {"alpha", {"0.05", "0.01", "0.005", "0.001"}}});
  experiment.grids["imcn"] =
      drivers::all_combinations({{"M", {"0.5", "2", "8"}}, {"mu_s", {"0.5", "1", "2"}}, {"J", {"10", "50"}}});
  const int code = drivers::compare(given, experiment);
  if (near) draw_shape(given.count("out") > 0 ? given["out"].as<std::string>() : "results/" + experiment.name);
  print_seeds(experiment, start, given["solver"].as<std::string>(), given["seeds"].as<int>());
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
  line.examples = "  synthetic_minimax\n  synthetic_minimax --start near --tune --tune-calls 2000\n";
  line.options.add_options()("start", po::value<std::string>()->default_value("both")->value_name("WHERE"),
                             "near (next to the saddle), far, or both")(
      "seeds", po::value<int>()->default_value(21)->value_name("N"), "seeds for the table of calls")(
      "seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"), "seed of the runs that are drawn");
  drivers::add_comparison_options(line.options, "pragda,gda,perturbed_gda,imcn");
  drivers::add_tuning_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
