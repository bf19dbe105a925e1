#include "drivers/common/problem_options.hpp"

#include "hypertape/core/require.hpp"

namespace hypertape::drivers {

namespace po = boost::program_options;

void add_problem_options(po::options_description& options) {
  options.add_options()("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"),
                        "seed of generated data and of everything random")(
      "instance", po::value<std::string>()->value_name("FILE"),
      "quadratic, quadratic_minimax: the instance, a JSON file with A, C, b, d, D, x0")(
      "kappa", po::value<double>()->value_name("K"),
      "quadratic, quadratic_minimax, quartic: condition number of the lower level (default 10)");
}

problems::ProblemArguments problem_arguments(const po::variables_map& given) {
  problems::ProblemArguments arguments;
  arguments.seed = given["seed"].as<std::uint64_t>();
  if (given.count("instance") > 0) arguments.instance = given["instance"].as<std::string>();
  if (given.count("kappa") > 0) arguments.kappa = given["kappa"].as<double>();
  return arguments;
}

std::string known_problems() {
  std::string out;
  for (const auto& entry : problems::registry()) out += text("  ", entry.name, ": ", entry.summary, "\n");
  return out;
}

}  // namespace hypertape::drivers
