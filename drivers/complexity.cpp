// Counts oracle calls against the condition number, every method at the best setting of its grid, and fits the slopes.

#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "drivers/common/output.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/outer/registry.hpp"
#include "hypertape/theory/complexity.hpp"
#include "problems/quadratic/quadratic.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

using drivers::exact;

std::string whole(double value) { return std::to_string(std::max(1L, std::lround(value))); }

/// One method and the settings among which it is tuned, for a lower level of condition kappa and an outer constant L.
struct Method {
  std::string label;
  std::string solver;
  std::vector<Settings> (*grid)(double kappa, double L);
};

std::vector<Settings> aid_grid(double, double L) {
  std::vector<Settings> out;
  for (const char* D : {"1", "2", "5", "10", "20"})
    for (const char* N : {"1", "2", "5", "10"})
      for (const double eta : {1.8, 1.4, 1.0, 0.5})
        out.push_back({{"steps", D}, {"products", N}, {"eta", exact(eta / L)}});
  return out;
}

std::vector<Settings> rahgd_grid(double kappa, double L) {
  std::vector<Settings> out;
  for (const double T : {0.5, 1.0, 2.0, 4.0})
    for (const double N : {0.25, 0.5, 1.0, 2.0})
      for (const double theta : {0.5, 1.0, 2.0, 4.0})
        out.push_back({{"steps", whole(T * std::sqrt(kappa))},
                       {"products", whole(N * std::sqrt(kappa))},
                       {"theta", exact(std::min(1.0, theta / kappa))},
                       {"B", "inf"},
                       {"eta", exact(1 / L)}});
  return out;
}

std::vector<Settings> gradient_restart_grid(double kappa, double L) {
  std::vector<Settings> out;
  for (const double T : {0.5, 1.0, 2.0, 4.0})
    for (const double N : {0.25, 0.5, 1.0, 2.0})
      out.push_back({{"steps", whole(T * std::sqrt(kappa))},
                     {"products", whole(N * std::sqrt(kappa))},
                     {"theta", "0"},
                     {"gradient_restart", "true"},
                     {"B", "inf"},
                     {"eta", exact(1 / L)}});
  return out;
}

const std::vector<Method> methods{
    {"AID-BiO", "aid", aid_grid},
    {"RAHGD", "rahgd", rahgd_grid},
    {"RAHGD, gradient restart", "rahgd", gradient_restart_grid},
};

/// Calls until |grad Phi| <= relative |grad Phi(x_0)|, the gradient in closed form and not counted; 0 if not within
/// `most` calls.
std::int64_t calls_needed(const Method& method, Settings settings, problems::Problem& problem, double relative,
                          std::int64_t most) {
  const double target = relative * problem.closed_form.grad_phi(problem.start.x).norm();
  std::int64_t reached = 0;
  const Observer observer = [&](const Iterate& i) {
    if (problem.closed_form.grad_phi(i.x).norm() > target) return true;
    reached = i.counts.total();
    return false;
  };
  settings.insert(settings.begin(), {{"mu", exact(problem.constants.mu)},
                                     {"l", exact(problem.constants.l)},
                                     {"tolerance", "0"},
                                     {"max_iterations", "100000000"},
                                     {"max_calls", std::to_string(most)}});
  solver(method.solver).solve(*problem.oracle, settings, problem.start, observer);
  return reached;
}

struct Best {
  std::int64_t calls = 0;
  Settings settings;
};

/// The grid's best setting. No setting may take more calls than the best before it.
Best tune(const Method& method, double kappa, std::uint64_t seed, double relative, std::int64_t most) {
  auto problem = problems::make_quadratic(
      problems::generate_quadratic({.dims = {20, 20}, .kappa = kappa, .identity_coupling = true, .seed = seed}));
  const Mat hessian = problem.closed_form.hess_phi(problem.start.x);
  const double L = Eigen::SelfAdjointEigenSolver<Mat>(hessian, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
  Best best{most, {}};
  for (const Settings& settings : method.grid(kappa, L)) {
    const std::int64_t calls = calls_needed(method, settings, problem, relative, best.calls);
    if (calls > 0 && calls < best.calls) best = {calls, settings};
  }
  require(!best.settings.empty(), method.label, ": no setting reaches the accuracy within ", most, " calls");
  return best;
}

std::vector<double> parse_numbers(const std::string& list) {
  std::vector<double> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) {
    char* end = nullptr;
    out.push_back(std::strtod(item.c_str(), &end));
    require(!item.empty() && *end == '\0' && out.back() >= 1, "--kappas ", list,
            ", must be numbers of at least 1, separated by commas");
  }
  require(out.size() >= 2, "--kappas ", list, ", must have at least 2 numbers");
  return out;
}

/// The exponent of kappa in the paper's bound of all calls together, which holds for every problem.
double predicted_exponent(const std::string& solver) {
  const theory::Complexity& bound = theory::complexity(solver);
  double largest = 0;
  for (const auto& kind : {bound.gc_f, bound.gc_g, bound.jv, bound.hv})
    if (kind) largest = std::max(largest, kind->kappa);
  return largest;
}

void plot(const std::vector<double>& kappas, const std::vector<std::vector<double>>& table, const std::string& note,
          const std::string& folder) {
  drivers::Figure figure{"kappa",
                         "Oracle calls against the condition number",
                         "condition number of the lower level",
                         "oracle calls",
                         true,
                         true,
                         {},
                         note};
  for (std::size_t m = 0; m < methods.size(); ++m) figure.series.push_back({methods[m].label, kappas, table[m]});
  const std::string trouble = drivers::draw(figure, folder);
  std::cout << (trouble.empty() ? "wrote " + folder + "/kappa.svg" : "no plot: " + trouble) << "\n";
}

int run(const po::variables_map& given) {
  const auto kappas = parse_numbers(given["kappas"].as<std::string>());
  const double relative = given["relative"].as<double>();
  require(relative > 0 && relative < 1, "--relative ", relative, ", must be between 0 and 1");
  const int seeds = given["seeds"].as<int>();
  require(seeds >= 1, "--seeds ", seeds, ", must be at least 1");
  const auto most = given["max-calls"].as<std::int64_t>();
  const auto folder = given["out"].as<std::string>();
  std::filesystem::create_directories(folder);

  nlohmann::json report{{"study", "kappa"}, {"relative", relative}, {"seeds", seeds}, {"kappas", kappas}};
  std::cout << "calls until |grad Phi| <= " << relative << " |grad Phi(x_0)|, best of each grid, geometric mean of "
            << seeds << " seeds\n"
            << std::left << std::setw(26) << "kappa" << std::right;
  for (const double kappa : kappas) std::cout << std::setw(10) << kappa;
  std::cout << std::setw(16) << "slope" << std::setw(8) << "bound" << std::endl;
  std::vector<std::vector<double>> table;
  for (const Method& method : methods) {
    std::cout << std::left << std::setw(26) << method.label << std::right;
    std::vector<double> means;
    for (const double kappa : kappas) {
      double logs = 0;
      for (int seed = 1; seed <= seeds; ++seed) {
        const Best best = tune(method, kappa, static_cast<std::uint64_t>(seed), relative, most);
        logs += std::log(static_cast<double>(best.calls));
        nlohmann::json chosen;
        for (const auto& [option, value] : best.settings) chosen[option] = value;
        report["runs"].push_back(
            {{"method", method.label}, {"kappa", kappa}, {"seed", seed}, {"calls", best.calls}, {"settings", chosen}});
      }
      means.push_back(std::exp(logs / seeds));
      std::cout << std::setw(10) << std::lround(means.back()) << std::flush;
    }
    const theory::Slope slope = theory::fit_slope(kappas, means);
    std::cout << std::setw(8) << std::fixed << std::setprecision(2) << slope.slope << " +- " << slope.error
              << std::setw(8) << predicted_exponent(method.solver) << std::defaultfloat << std::setprecision(6)
              << std::endl;
    report["slopes"].push_back({{"method", method.label},
                                {"slope", slope.slope},
                                {"error", slope.error},
                                {"points", slope.points},
                                {"bound", predicted_exponent(method.solver)}});
    table.push_back(means);
  }
  std::ostringstream csv;
  csv << "kappa";
  for (const Method& method : methods) csv << ",\"" << method.label << '"';
  for (std::size_t k = 0; k < kappas.size(); ++k) {
    csv << '\n' << kappas[k];
    for (const auto& means : table) csv << ',' << means[k];
  }
  csv << '\n';
  drivers::write_csv(folder + "/kappa.csv", csv.str());
  drivers::write_json(folder + "/kappa.json", report.dump(2) + "\n", "study");
  std::cout << "wrote " << folder << "/kappa.csv and " << folder << "/kappa.json\n";
  plot(kappas, table, text("accuracy ", relative, " of the start, seeds 1 to ", seeds), folder);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "complexity";
  line.purpose =
      "counts oracle calls against the condition number kappa of the lower level, on the quadratic problem\n"
      "with C = I, whose Hess Phi has condition kappa^2. Each method is tuned on its grid for each kappa and seed.";
  line.examples = "  complexity\n  complexity --kappas 5,10,20 --relative 1e-4 --seeds 5 --out results/quick\n";
  line.options.add_options()("kappas", po::value<std::string>()->default_value("5,10,20,40,80")->value_name("LIST"),
                             "condition numbers")("relative", po::value<double>()->default_value(1e-8)->value_name("R"),
                                                  "accuracy, relative to the start")(
      "seeds", po::value<int>()->default_value(3)->value_name("N"), "instances, seeds 1 to N")(
      "max-calls", po::value<std::int64_t>()->default_value(3'000'000)->value_name("N"), "budget for one run")(
      "out", po::value<std::string>()->default_value("results/complexity")->value_name("DIR"),
      "folder for kappa.csv, kappa.json and kappa.svg");
  return drivers::run_driver(argc, argv, std::move(line), run);
}
