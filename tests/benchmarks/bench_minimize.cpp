// What `minimize` needs, without a setting, on problems that nobody tuned it for; beside all other solvers, tuned; and
// whether error bounds and estimates are true.

#include <algorithm>
#include <iterator>

#include "bench_minimize.hpp"
#include "drivers/common/command_line.hpp"

namespace po = boost::program_options;
using namespace hypertape;

namespace {

struct Part {
  const char* name;
  const char* help;
  bool by_default;
  void (*run)(std::uint64_t seed, const std::string& only);
};

constexpr Part parts[] = {
    {"known", "known problems: calls beside those of its prototype", true,
     [](std::uint64_t, const std::string& only) { benchmarks::known_problems(only); }},
    {"scaling", "the same with f times 10^k, k = -4 .. 4", true,
     [](std::uint64_t, const std::string& only) { benchmarks::scaled_problems(only); }},
    {"ridges", "weights of 72 random ridges, three starts each", true,
     [](std::uint64_t seed, const std::string&) { benchmarks::ridge_weights(seed); }},
    {"random", "200 random problems", true,
     [](std::uint64_t seed, const std::string&) { benchmarks::random_problems(seed); }},
    {"tuned", "every other solver, tuned for each known problem: half an hour of processor time", false,
     [](std::uint64_t, const std::string& only) { benchmarks::tuned_solvers(only); }},
    {"bounds", "error bounds and estimates beside the truth, along runs in which mu falls: half a minute", false,
     benchmarks::checked_bounds},
};

int run(const po::variables_map& given) {
  const bool chosen =
      std::any_of(std::begin(parts), std::end(parts), [&](const Part& part) { return given.count(part.name) > 0; });
  for (const Part& part : parts)
    if (chosen ? given.count(part.name) > 0 : part.by_default)
      part.run(given["seed"].as<std::uint64_t>(), given["only"].as<std::string>());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  drivers::CommandLine line;
  line.name = "bench_minimize";
  line.purpose =
      "the solver auto on known and random problems, calls counted, true gradients measured apart. Parts that are "
      "named are run; otherwise known, scaling, ridges and random, some seconds. HYPERTAPE_ISA chooses instructions.";
  for (const Part& part : parts) line.options.add_options()(part.name, part.help);
  line.options.add_options()("seed", po::value<std::uint64_t>()->default_value(11)->value_name("N"),
                             "of what is random")("only",
                                                  po::value<std::string>()->default_value("")->value_name("TEXT"),
                                                  "known problems with TEXT in their name");
  return drivers::run_driver(argc, argv, std::move(line), run);
}
