// Verifies the oracles of shipped problems: every derivative against the functions themselves.

#include <iostream>
#include <vector>

#include "drivers/common/command_line.hpp"
#include "drivers/common/output.hpp"
#include "drivers/common/problem_options.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/verify/verify.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

Report verify_problem(const std::string& name, const problems::ProblemArguments& arguments, int points) {
  problems::Problem problem = problems::make_problem(name, arguments);
  return verify(*problem.oracle, problem.plain,
                {.problem = name, .seed = arguments.seed, .points = points, .more_points = problem.branches});
}

int run(const po::variables_map& given) {
  const auto arguments = drivers::problem_arguments(given);
  const int points = given["points"].as<int>();
  require(points > 0, "--points = ", points, ", must be positive");

  const bool all = given["all"].as<bool>();
  require(all != (given.count("problem") > 0), "give either --problem NAME or --all; the problems are\n",
          drivers::known_problems());
  std::vector<std::string> names;
  if (all) {
    for (const auto& entry : problems::registry()) names.push_back(entry.name);
  } else {
    names = given["problem"].as<std::vector<std::string>>();
  }

  std::vector<Report> reports;
  int failed = 0, in_part = 0;
  for (const auto& name : names) {
    reports.push_back(verify_problem(name, arguments, points));
    std::cout << to_table(reports.back()) << std::endl;
    if (!reports.back().passed)
      ++failed;
    else if (!reports.back().unchecked().empty())
      ++in_part;
  }
  if (given.count("json") > 0) drivers::write_json(given["json"].as<std::string>(), to_json(reports), "checks");
  std::cout << reports.size() - static_cast<std::size_t>(failed) << " of " << reports.size() << " problems verified";
  if (in_part > 0) std::cout << ", " << in_part << " of them only in part: see \"not checked\"";
  std::cout << "\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "verify_oracles";
  line.purpose =
      "checks every derivative of a problem against finite differences of its untaped functions,\n"
      "by value and by the rate of the Taylor remainder. Exit code 0: no check failed (what could not be checked\n"
      "is said); 1: a check failed; 2: misuse.";
  line.examples =
      "  verify_oracles --all\n"
      "  verify_oracles --problem quadratic --kappa 1000 --points 100\n"
      "  verify_oracles --problem quadratic --instance my.json --json report.json\n\nProblems:\n" +
      drivers::known_problems();
  line.options.add_options()("problem", po::value<std::vector<std::string>>()->composing()->value_name("NAME"),
                             "the problem to verify (may be given more than once)")(
      "all", po::bool_switch(), "verify every problem")("points", po::value<int>()->default_value(12)->value_name("N"),
                                                        "number of random points")(
      "json", po::value<std::string>()->value_name("FILE"), "also write the verdicts to FILE");
  drivers::add_problem_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
