// Runs solvers on a shipped problem and compares them.

#include "drivers/common/command_line.hpp"
#include "drivers/common/comparison.hpp"
#include "drivers/common/problem_options.hpp"
#include "hypertape/core/require.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

int run(const po::variables_map& given) {
  if (drivers::listed_options(given)) return 0;
  require(given.count("problem") > 0, "give --problem NAME (--help shows the other options); the problems are\n",
          drivers::known_problems());
  const auto name = given["problem"].as<std::string>();
  return drivers::compare(given,
                          {name, [&] { return problems::make_problem(name, drivers::problem_arguments(given)); }})
      .exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "solve";
  line.purpose =
      "runs solvers on a problem, auto unless told otherwise, and compares what they reach and what it costs.";
  line.examples =
      "  solve --problem quadratic\n"
      "  solve --problem quadratic --solver auto,rahgd,aid,ba\n"
      "  solve --problem synthetic_minimax --solver auto,pragda,gda --tolerance 1e-8 --set eta=0.5\n"
      "  solve --problem quadratic --kappa 100 --solver auto,rahgd --set rahgd.theta=0.03 --out results/k100\n"
      "  solve --options rahgd\n\nProblems:\n" +
      drivers::known_problems() + drivers::comparison_help("PROBLEM");
  line.options.add_options()("problem", po::value<std::string>()->value_name("NAME"), "the problem");
  drivers::add_comparison_options(line.options, "auto");
  drivers::add_problem_options(line.options);
  return drivers::run_driver(argc, argv, std::move(line), run);
}
