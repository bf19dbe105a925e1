#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "drivers/common/figure.hpp"
#include "drivers/common/settings.hpp"
#include "hypertape/outer/registry.hpp"
#include "hypertape/trace/trace.hpp"
#include "problems/problem.hpp"

namespace hypertape::drivers {

/// A figure of the traces: one column of trace.csv against time or calls, a curve for each solver.
struct TraceFigure {
  std::string name;
  std::string title;
  std::string column;  ///< phi, gradient_norm or a metric
  std::string label;
  bool against_calls = true;  ///< else against seconds
  double minus = 0;           ///< subtracted, for errors against a known optimum
  bool log_y = false;
  bool log_x = false;
};

/// What an experiment hands over: a problem, what is measured at its points, and how its solvers are tuned.
struct Experiment {
  std::string name;
  std::function<problems::Problem()> make;  ///< called once, and once more for every other job of a tuning
  std::vector<Metric> metrics{};
  std::vector<TraceFigure> figures{};
  std::vector<Figure> more_figures{};                    ///< of other things than the runs
  SolverSettings defaults{};                             ///< below everything the command line says
  std::map<std::string, std::vector<Settings>> grids{};  ///< by solver, for --tune; the best has the smallest final Phi
  std::map<std::string, std::string> tuned_after{};      ///< by solver: whose best settings its grid starts from
  std::vector<std::pair<std::string, std::string>> facts{};  ///< what tells the problem from others, for the report

  /// If given, a run of the tuning is done where it holds, and the fewest calls until then win, not the smallest Phi.
  std::function<bool(const Vec& x, const Vec& y)> solved{};
};

/// --solver, --set, tolerances, budgets, --out, and --options to list a solver's options. Tables and figures have the
/// solvers in the order of --solver. `default_calls` is the default of --max-calls, empty for none.
void add_comparison_options(boost::program_options::options_description& options, const std::string& default_solvers,
                            const std::string& default_calls = {});

/// --tune and what belongs to it, for experiments that have grids.
void add_tuning_options(boost::program_options::options_description& options);

/// One line for each solver, for --help.
std::string known_solvers();

/// For the end of --help: what is written where, exit codes, solvers.
std::string comparison_help(const std::string& name);

/// If --options was given: prints them and returns true.
bool listed_options(const boost::program_options::variables_map& given);

/// Largest eigenvalue of d2g/dy2 at a point, from below, and a tenth more.
double measured_l(const problems::Problem& problem, const Vec& x, const Vec& y);

/// Where the experiment writes: --out, or results/NAME.
std::string output_folder(const boost::program_options::variables_map& given, const std::string& name);

struct Comparison {
  int exit_code = 0;                                   ///< 1 if a run met trouble
  std::vector<std::pair<std::string, Settings>> used;  ///< what each solver ran with, in the order of the runs
};

/// Tunes if asked; runs the solvers; prints a table; writes trace.csv, summary.json, figures and report.html into the
/// folder, the first two after every solver.
Comparison compare(const boost::program_options::variables_map& given, const Experiment& experiment);

/// Every combination of the values given for each option.
std::vector<Settings> all_combinations(const std::vector<std::pair<std::string, std::vector<std::string>>>& values);

}  // namespace hypertape::drivers
