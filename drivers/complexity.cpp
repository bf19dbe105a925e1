// Counts oracle calls against the condition number and against the accuracy, every method at the best setting of its
// grid, and fits the slopes.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "drivers/common/output.hpp"
#include "drivers/common/report.hpp"
#include "hypertape/core/parallel.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/theory/complexity.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/quartic/quartic.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

using drivers::all_combinations;
using drivers::exact;

/// What a grid may depend on: the lower level's condition, and Hess Phi and |grad Phi| at the start.
struct Scale {
  double kappa;
  double L;
  double target;    // the accuracy asked for
  double relative;  // the same, relative to the start
};

using Values = std::vector<std::string>;

Values over(std::initializer_list<double> factors, double divisor) {
  Values out;
  for (const double factor : factors) out.push_back(exact(factor / divisor));
  return out;
}

Values whole(std::initializer_list<double> factors, double unit) {
  Values out;
  for (const double factor : factors) out.push_back(std::to_string(std::max(1L, std::lround(factor * unit))));
  return out;
}

std::vector<Settings> with(std::vector<Settings> grid, const Settings& more) {
  for (Settings& settings : grid) settings.insert(settings.end(), more.begin(), more.end());
  return grid;
}

/// Perturbations small enough not to spoil the accuracy.
std::string radius(const Scale& s) { return exact(0.01 * s.target / s.L); }

// The settings that are most likely to reach the accuracy come first: no later one may take more calls.

std::vector<Settings> nothing_to_tune(const Scale&) { return {{}}; }

std::vector<Settings> aid_grid(const Scale& s) {
  return all_combinations({{"steps", {"5", "2", "1", "10", "20"}},
                           {"products", {"5", "2", "1", "10"}},
                           {"eta", over({1.4, 1.8, 1.0, 0.5}, s.L)}});
}

std::vector<Settings> paid_grid(const Scale& s) {
  return with(aid_grid(s), {{"r", radius(s)}, {"threshold", exact(10 * s.target)}});
}

std::vector<Settings> ba_grid(const Scale& s) {
  return all_combinations(
      {{"c", {"1", "0.5", "0.2", "2"}}, {"products", {"5", "2", "1", "10"}}, {"eta", over({1.4, 1.8, 1.0, 0.5}, s.L)}});
}

std::vector<Settings> itd_grid(const Scale& s) {
  return all_combinations({{"steps", whole({16, 8, 4, 2, 1}, s.kappa)}, {"eta", over({1.8, 1.0}, s.L)}});
}

/// The penalty's bias falls with lambda, and has to be below the accuracy.
std::vector<Settings> f2ba_grid(const Scale& s) {
  return all_combinations({{"lambda", over({1000, 100, 10, 1}, s.relative)},
                           {"steps", whole({8, 4, 2, 1}, std::sqrt(s.kappa))},
                           {"eta", over({1.0}, s.L)}});
}

std::vector<Settings> accelerated_lower(const Scale& s) {
  return all_combinations({{"steps", whole({0.5, 1, 2, 4}, std::sqrt(s.kappa))},
                           {"products", whole({0.25, 0.5, 1, 2}, std::sqrt(s.kappa))},
                           {"eta", over({1}, s.L)},
                           {"B", {"inf"}}});
}

std::vector<Settings> rahgd_grid(const Scale& s) {
  std::vector<Settings> out;
  for (const char* theta : {"0.9", "0.5", "0.2", "0.1", "0.05", "0.02", "0.01", "0.005"})
    for (const Settings& settings : with(accelerated_lower(s), {{"theta", theta}})) out.push_back(settings);
  return out;
}

std::vector<Settings> prahgd_grid(const Scale& s) { return with(rahgd_grid(s), {{"r", radius(s)}}); }

std::vector<Settings> gradient_restart_grid(const Scale& s) {
  return with(accelerated_lower(s), {{"theta", "auto"}, {"gradient_restart", "true"}});
}

std::vector<Settings> pragda_grid(const Scale& s) {
  return all_combinations({{"steps", whole({0.5, 1, 2, 4}, std::sqrt(s.kappa))},
                           {"eta", over({1}, s.L)},
                           {"B", {"inf"}},
                           {"theta", {"0.9", "0.5", "0.2", "0.1", "0.05", "0.02", "0.01", "0.005"}},
                           {"r", {radius(s)}}});
}

std::vector<Settings> gda_grid(const Scale& s) {
  return all_combinations(
      {{"alpha", {"1", "1.8"}}, {"eta", over({1.8, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005}, s.L)}});
}

std::vector<Settings> perturbed_gda_grid(const Scale& s) {
  return with(gda_grid(s), {{"r", radius(s)}, {"threshold", exact(10 * s.target)}});
}

std::vector<Settings> imcn_grid(const Scale& s) {
  return all_combinations({{"steps", whole({0.5, 1, 2}, std::sqrt(s.kappa))},
                           {"products", whole({0.5, 1, 2}, std::sqrt(s.kappa))},
                           {"M", {"0.01", "0.1", "1"}},
                           {"L", {exact(s.L)}},
                           {"mu_s", over({1}, s.L)},
                           {"J", {"2", "5", "10", "50"}}});
}

/// A method and the settings among which it is tuned.
struct Method {
  std::string label;
  std::string solver;
  std::vector<Settings> (*grid)(const Scale&);
  bool minimax = false;
};

const std::vector<Method> methods{
    {"auto", "auto", nothing_to_tune},
    {"BA (warm)", "ba", ba_grid},
    {"AID-BiO", "aid", aid_grid},
    {"ITD-BiO", "itd", itd_grid},
    {"F2BA", "f2ba", f2ba_grid},
    {"RAHGD", "rahgd", rahgd_grid},
    {"RAHGD, gradient restart", "rahgd", gradient_restart_grid},
    {"PAID-BiO", "paid", paid_grid},
    {"PRAHGD", "prahgd", prahgd_grid},
    {"auto, minimax", "auto", nothing_to_tune, true},
    {"GDA", "gda", gda_grid, true},
    {"perturbed GDA", "perturbed_gda", perturbed_gda_grid, true},
    {"PRAGDA", "pragda", pragda_grid, true},
    {"iMCN", "imcn", imcn_grid, true},
};

/// One study: what grows along the x-axis, and the problem at each of its points.
struct Study {
  std::string name;   // of its files
  std::string title;  // of its figure
  std::string label;  // of its x-axis
  std::vector<double> points;
  double kappa, relative;  // whichever of them is not the x-axis

  double kappa_at(double point) const { return name == "kappa" ? point : kappa; }
  double relative_at(double point) const { return name == "kappa" ? relative : point; }

  /// Along kappa the outer problem has condition kappa^2 (bilevel, C = I) or kappa (minimax); along epsilon Phi is flat
  /// around its minimum, so that powers of epsilon count and not its logarithm.
  problems::Problem make(bool minimax, double point, std::uint64_t seed) const {
    if (name == "epsilon") return problems::make_quartic({.kappa = kappa, .minimax = minimax, .seed = seed});
    const auto q =
        problems::generate_quadratic({.dims = {20, 20}, .kappa = point, .identity_coupling = true, .seed = seed});
    return minimax ? problems::make_quadratic_minimax(q) : problems::make_quadratic(q);
  }
};

struct Best {
  OracleCounts counts;  // none if no setting reaches the accuracy
  Settings settings;
};

/// Calls until |grad Phi| <= target, the gradient in closed form and not counted; none if not within `most` calls.
OracleCounts calls_needed(const Method& method, Settings settings, problems::Problem& problem, double target,
                          std::int64_t most) {
  OracleCounts reached;
  const Observer observer = [&](const Iterate& i) {
    if (problem.closed_form.grad_phi(i.x).norm() > target) return true;
    reached = i.counts;
    return false;
  };
  const SolverEntry& entry = solver(method.solver);
  for (const auto& [option, value] : Settings{{"mu", exact(problem.constants.mu)},
                                              {"l", exact(problem.constants.l)},
                                              {"tolerance", "0"},
                                              {"max_iterations", "100000000"},
                                              {"max_calls", std::to_string(most)}})
    if (entry.has_option(option)) settings.emplace_back(option, value);
  entry.solve(*problem.oracle, settings, problem.start, observer);
  return reached;
}

/// The grid's best setting. No setting may take more calls than the best before it.
Best tune(const Method& method, const Study& study, double point, std::uint64_t seed, std::int64_t most) {
  auto problem = study.make(method.minimax, point, seed);
  const Mat hessian = problem.closed_form.hess_phi(problem.start.x);
  const Scale scale{study.kappa_at(point), problems::symmetric_eigenvalues(hessian).maxCoeff(),
                    study.relative_at(point) * problem.closed_form.grad_phi(problem.start.x).norm(),
                    study.relative_at(point)};
  Best best;
  for (const Settings& settings : method.grid(scale)) {
    const OracleCounts counts = calls_needed(method, settings, problem, scale.target, most);
    if (counts.total() == 0 || counts.total() >= most) continue;
    most = counts.total();
    best = {counts, settings};
  }
  return best;
}

/// The four kinds of calls and their sum, geometric means over the seeds; zero where a seed has none.
struct Means {
  double f, g, jv, hv, total;
};

constexpr std::pair<const char*, double Means::*> kinds[] = {
    {"Gc(f)", &Means::f}, {"Gc(g)", &Means::g}, {"JV", &Means::jv}, {"HV", &Means::hv}, {"all", &Means::total}};

Means geometric_means(const std::vector<Best>& of_seeds) {
  const auto mean = [&](const auto& count) {
    double logs = 0;
    for (const Best& best : of_seeds) {
      if (count(best.counts) == 0) return 0.0;
      logs += std::log(static_cast<double>(count(best.counts)));
    }
    return std::exp(logs / static_cast<double>(of_seeds.size()));
  };
  return {mean([](const OracleCounts& c) { return c.f; }), mean([](const OracleCounts& c) { return c.g; }),
          mean([](const OracleCounts& c) { return c.jv; }), mean([](const OracleCounts& c) { return c.hv; }),
          mean([](const OracleCounts& c) { return c.total(); })};
}

/// The exponent in the paper's bound, of the kind or of the largest kind; none where it has none.
std::optional<double> predicted_exponent(const Study& study, const std::string& solver, double Means::*kind) {
  const auto known = theory::methods();
  if (std::find(known.begin(), known.end(), solver) == known.end()) return std::nullopt;
  const theory::Complexity& bound = theory::complexity(solver);
  const auto exponent = [&](const std::optional<theory::Exponents>& e) -> std::optional<double> {
    if (!e) return std::nullopt;
    return study.name == "kappa" ? e->kappa : -e->epsilon;
  };
  if (kind == &Means::f) return exponent(bound.gc_f);
  if (kind == &Means::g) return exponent(bound.gc_g);
  if (kind == &Means::jv) return exponent(bound.jv);
  if (kind == &Means::hv) return exponent(bound.hv);
  return std::max({exponent(bound.gc_f), exponent(bound.gc_g), exponent(bound.jv), exponent(bound.hv)});
}

/// What a study found of one method.
struct Row {
  const Method* method;
  std::vector<std::vector<Best>> runs;  // by point, then by seed
  std::vector<Means> means;             // by point
};

/// The points at which there is such a count. Along epsilon the slope is that against 1 / epsilon.
theory::Slope slope_of(const Study& study, const Row& row, double Means::*kind) {
  std::vector<double> x, y;
  for (std::size_t p = 0; p < study.points.size(); ++p)
    if (row.means[p].*kind > 0) {
      x.push_back(study.name == "kappa" ? study.points[p] : 1 / study.points[p]);
      y.push_back(row.means[p].*kind);
    }
  return x.size() < 2 ? theory::Slope{NAN, NAN, static_cast<int>(x.size())} : theory::fit_slope(x, y);
}

std::string fixed(double value) {
  std::ostringstream out = text_stream();
  out << std::fixed << std::setprecision(2) << value;
  return out.str();
}

std::string slope_text(const theory::Slope& slope) {
  if (slope.points < 2) return "-";
  return fixed(slope.slope) + (slope.points < 3 ? "" : " +- " + fixed(slope.error));
}

/// Calls at every point, the slope with its error and the number of points, and the paper's exponent.
drivers::Table calls_table(const Study& study, const std::vector<Row>& rows) {
  drivers::Table out{"Calls against " + study.name, {study.name}, {}};
  for (const double point : study.points) out.header.push_back(text(point));
  for (const char* column : {"slope", "points", "bound"}) out.header.push_back(column);
  for (const Row& row : rows) {
    std::vector<std::string> cells{row.method->label};
    for (const Means& means : row.means) cells.push_back(means.total > 0 ? text(std::lround(means.total)) : "-");
    const theory::Slope slope = slope_of(study, row, &Means::total);
    const auto bound = predicted_exponent(study, row.method->solver, &Means::total);
    cells.insert(cells.end(), {slope_text(slope), text(slope.points), bound ? fixed(*bound) : "-"});
    out.rows.push_back(cells);
  }
  return out;
}

/// The slopes by kind of call, the paper's exponents in brackets.
drivers::Table kinds_table(const Study& study, const std::vector<Row>& rows) {
  drivers::Table out{"Slopes by kind of call (bound)", {study.name}, {}};
  for (const auto& [name, kind] : kinds)
    if (kind != &Means::total) out.header.push_back(name);
  for (const Row& row : rows) {
    std::vector<std::string> cells{row.method->label};
    for (const auto& [name, kind] : kinds) {
      if (kind == &Means::total) continue;
      const theory::Slope slope = slope_of(study, row, kind);
      const auto bound = predicted_exponent(study, row.method->solver, kind);
      cells.push_back((slope.points < 2 ? "-" : fixed(slope.slope)) + (bound ? " (" + fixed(*bound) + ")" : ""));
    }
    out.rows.push_back(cells);
  }
  return out;
}

nlohmann::json to_json(const Study& study, const std::vector<Row>& rows) {
  nlohmann::json out{{"study", study.name}, {"points", study.points}};
  if (study.name == "kappa")
    out["relative"] = study.relative;
  else
    out["kappa"] = study.kappa;
  for (const Row& row : rows) {
    for (std::size_t p = 0; p < study.points.size(); ++p)
      for (std::size_t s = 0; s < row.runs[p].size(); ++s) {
        const auto& [counts, settings] = row.runs[p][s];
        nlohmann::json chosen = nlohmann::json::object();
        for (const auto& [option, value] : settings) chosen[option] = value;
        out["runs"].push_back({{"method", row.method->label},
                               {study.name, study.points[p]},
                               {"seed", s + 1},
                               {"calls", counts.total()},
                               {"counts", {{"f", counts.f}, {"g", counts.g}, {"jv", counts.jv}, {"hv", counts.hv}}},
                               {"settings", chosen}});
      }
    for (const auto& [name, kind] : kinds) {
      const theory::Slope slope = slope_of(study, row, kind);
      const auto bound = predicted_exponent(study, row.method->solver, kind);
      out["slopes"].push_back({{"method", row.method->label},
                               {"kind", name},
                               {"slope", slope.slope},
                               {"error", slope.error},
                               {"points", slope.points},
                               {"bound", bound ? nlohmann::json(*bound) : nlohmann::json()}});
    }
  }
  return out;
}

std::string to_csv(const Study& study, const std::vector<Row>& rows) {
  std::ostringstream csv = text_stream();
  csv << study.name;
  for (const Row& row : rows) csv << ",\"" << row.method->label << '"';
  for (std::size_t p = 0; p < study.points.size(); ++p) {
    csv << '\n' << study.points[p];
    for (const Row& row : rows) {
      csv << ',';
      if (row.means[p].total > 0) csv << row.means[p].total;
    }
  }
  csv << '\n';
  return csv.str();
}

drivers::Figure to_figure(const Study& study, const std::vector<Row>& rows, int seeds) {
  const std::string setting =
      study.name == "kappa" ? text("accuracy ", study.relative, " of the start") : text("kappa = ", study.kappa);
  drivers::Figure figure{study.name, study.title, study.label, "oracle calls",
                         true,       true,        {},          text(setting, ", seeds 1 to ", seeds)};
  for (const Row& row : rows) {
    drivers::Series series{row.method->label, {}, {}};
    for (std::size_t p = 0; p < study.points.size(); ++p)
      if (row.means[p].total > 0) {
        series.x.push_back(study.name == "kappa" ? study.points[p] : 1 / study.points[p]);
        series.y.push_back(row.means[p].total);
      }
    if (!series.x.empty()) figure.series.push_back(series);
  }
  return figure;
}

void carry_out(const Study& study, int seeds, std::int64_t most, const std::string& folder, drivers::Report& report) {
  std::cout << "calls until |grad Phi| <= " << (study.name == "kappa" ? text(study.relative) : "epsilon")
            << " |grad Phi(x_0)|" << (study.name == "kappa" ? "" : text(" at kappa = ", study.kappa))
            << ", best of each grid, geometric mean of " << seeds << " seeds" << std::endl;
  std::vector<Row> rows;
  for (const Method& method : methods) {
    Row row{&method, std::vector(study.points.size(), std::vector<Best>(static_cast<std::size_t>(seeds))), {}};
    const auto of_point = static_cast<std::size_t>(seeds);
    for_each_chunk(static_cast<Index>(study.points.size() * of_point), usable_threads(0), [&](Index i, int) {
      const std::size_t run = static_cast<std::size_t>(i);
      const std::size_t p = study.points.size() - 1 - run / of_point, seed = run % of_point;  // the longest first
      row.runs[p][seed] = tune(method, study, study.points[p], seed + 1, most);
    });
    for (const auto& of_seeds : row.runs) row.means.push_back(geometric_means(of_seeds));
    rows.push_back(std::move(row));
    std::cout << "  " << method.label << " counted" << std::endl;
    drivers::write_csv(folder + "/" + study.name + ".csv", to_csv(study, rows));
    nlohmann::json found = to_json(study, rows);
    found["seeds"] = seeds;
    found["max_calls"] = most;
    drivers::write_json(folder + "/" + study.name + ".json", found.dump(2) + "\n", "study");
  }
  for (const drivers::Table& table : {calls_table(study, rows), kinds_table(study, rows)}) {
    drivers::print(table);
    report.tables.push_back(table);
  }
  std::cout << "wrote " << folder << "/" << study.name << ".csv and " << folder << "/" << study.name << ".json\n";
  const std::string trouble = drivers::draw(to_figure(study, rows, seeds), folder);
  if (trouble.empty())
    report.figures.push_back(study.name);
  else
    std::cout << "no figure: " << trouble << "\n";
}

std::vector<double> points(const po::variables_map& given, const char* option, double least, double below) {
  const auto out = drivers::numbers(given, option);
  const auto list = given[option].as<std::string>();
  for (const double number : out)
    require(number >= least && number < below, "--", option, " ", list, ", must be numbers of at least ", least,
            " and less than ", below);
  require(std::set<double>(out.begin(), out.end()).size() == out.size(), "--", option, " ", list, ", must differ");
  require(out.size() >= 2, "--", option, " ", list, ", must have at least 2 numbers");
  return out;
}

int run(const po::variables_map& given) {
  const auto kappas = points(given, "kappas", 1, 1e6), epsilons = points(given, "epsilons", 1e-12, 1);
  const double relative = given["relative"].as<double>(), kappa = given["kappa"].as<double>();
  require(relative > 0 && relative < 1, "--relative ", relative, ", must be between 0 and 1");
  require(kappa >= 1, "--kappa ", kappa, ", must be at least 1");
  const int seeds = given["seeds"].as<int>();
  require(seeds >= 1, "--seeds ", seeds, ", must be at least 1");
  const auto which = given["study"].as<std::string>();
  require(which == "kappa" || which == "epsilon" || which == "both", "--study ", which,
          ", must be kappa, epsilon or both");
  const auto most = given["max-calls"].as<std::int64_t>();
  const auto folder = given["out"].as<std::string>();
  std::filesystem::create_directories(folder);
  drivers::Report report{"complexity",
                         "Oracle calls of every solver, all but auto tuned on their grids for each point and seed.",
                         {},
                         {},
                         drivers::given_options(given)};
  if (which != "epsilon")
    carry_out({"kappa", "Oracle calls against the condition number", "condition number of the lower level", kappas,
               kappa, relative},
              seeds, most, folder, report);
  if (which != "kappa")
    carry_out({"epsilon", "Oracle calls against the accuracy", "1 / epsilon", epsilons, kappa, relative}, seeds, most,
              folder, report);
  for (const auto& fact : drivers::machine_facts()) report.facts.push_back(fact);
  drivers::write_report(report, folder);
  std::cout << "wrote " << folder << "/report.html\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "complexity";
  line.purpose =
      "counts oracle calls against the condition number kappa of the lower level and against the accuracy\n"
      "epsilon, for every solver, and fits the slopes beside the exponents of the paper's tables. Against kappa on\n"
      "quadratics with C = I (Hess Phi of condition kappa^2, minimax: kappa), against epsilon on sums of fourth\n"
      "powers. Each method but auto is tuned on its grid for each point and seed; what no setting reaches within the\n"
      "budget is left out. Needs no data; takes about a quarter of an hour on two cores. Exit code 0, or 2 after "
      "misuse.";
  line.examples =
      "  complexity\n"
      "  complexity --study epsilon --epsilons 1e-1,1e-2,1e-3 --seeds 5\n"
      "  complexity --study kappa --kappas 5,10,20 --relative 1e-4 --out results/quick\n";
  line.options.add_options()("study", po::value<std::string>()->default_value("both")->value_name("WHICH"),
                             "kappa, epsilon or both")(
      "kappas", po::value<std::string>()->default_value("5,10,20,40")->value_name("LIST"), "condition numbers")(
      "relative", po::value<double>()->default_value(1e-8)->value_name("R"),
      "accuracy of the study along kappa, relative to the start")(
      "epsilons", po::value<std::string>()->default_value("1e-1,3e-2,1e-2,3e-3,1e-3,3e-4,1e-4")->value_name("LIST"),
      "accuracies, relative to the start")("kappa", po::value<double>()->default_value(10)->value_name("K"),
                                           "condition number of the study along epsilon")(
      "seeds", po::value<int>()->default_value(3)->value_name("N"), "instances, seeds 1 to N")(
      "max-calls", po::value<std::int64_t>()->default_value(200'000)->value_name("N"), "budget for one run")(
      "out", po::value<std::string>()->default_value("results/complexity")->value_name("DIR"),
      "folder for report.html and, of each study, .csv, .json, .svg, .png and .gnuplot");
  return drivers::run_driver(argc, argv, std::move(line), run);
}
