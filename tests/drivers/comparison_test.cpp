#include "drivers/common/comparison.hpp"

#include <doctest/doctest.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "hypertape/tape/taped_problem.hpp"
#include "support/contains.hpp"
#include "support/temporary_folder.hpp"

namespace po = boost::program_options;
using namespace hypertape;
using nlohmann::json;
using testing::contains;
using testing::content;

namespace {

/// y*(x) = x, Phi = (x - 4)^2 / 2 from x = 0; taped where y < 2, beyond which g would be another function.
problems::Problem with_frozen_branch() {
  const auto f = [](const auto&, const auto& y) { return 0.5 * (y[0] - 4.0) * (y[0] - 4.0); };
  const auto g = [](const auto& x, const auto& y) {
    const auto cost = 0.5 * (y[0] - x[0]) * (y[0] - x[0]);
    if (y[0] > 2.0) return 2.0 * cost;
    return cost;
  };
  problems::Problem problem;
  problem.name = "frozen";
  problem.oracle = std::make_unique<TapedProblem>(make_bilevel({1, 1}, f, g));
  problem.start = {Vec::Zero(1), Vec::Zero(1)};
  problem.constants = {1, 1};
  return problem;
}

struct Outcome {
  int code;
  std::string output;
  json summary;
};

Outcome run(const drivers::Experiment& experiment, const std::string& folder) {
  po::options_description options;
  drivers::add_comparison_options(options, "rahgd,aid");
  options.add_options()("seed", po::value<std::uint64_t>()->default_value(1), "");
  po::variables_map given;
  po::store(
      po::command_line_parser(std::vector<std::string>{"--out", folder, "--set", "eta=0.2"}).options(options).run(),
      given);
  std::ostringstream output;
  auto* const before = std::cout.rdbuf(output.rdbuf());
  const int code = drivers::compare(given, experiment).exit_code;
  std::cout.rdbuf(before);
  return {code, output.str(), json::parse(content(folder + "/summary.json"))};
}

}  // namespace

TEST_CASE("a run that ends with an exception is reported, with what it had reached, and the others are run") {
  const testing::TemporaryFolder folder;
  const Outcome outcome = run({"frozen", with_frozen_branch}, folder.file("out"));
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.output, "rahgd: g: the tape is not the function here"));
  REQUIRE(outcome.summary.at("runs").size() == 2);
  for (const json& of_run : outcome.summary.at("runs")) {
    CHECK(of_run.at("status") == "failed");
    CHECK(contains(of_run.at("message").get<std::string>(), "g: the tape is not the function here"));
    CHECK(of_run.at("iterations").get<int>() >= 1);
    CHECK(of_run.at("phi").get<double>() < 8);
    CHECK(content(folder.file("out/x_" + of_run.at("solver").get<std::string>() + ".csv")).starts_with("i,x\n1,"));
  }
  const std::string trace = content(folder.file("out/trace.csv"));
  CHECK(contains(trace, "\nrahgd,1,"));
  CHECK(contains(trace, "\naid,1,"));
}

TEST_CASE("a metric that throws is reported, not lost with the run") {
  const testing::TemporaryFolder folder;
  const Metric metric{"accuracy", [](const Vec& x, const Vec&) -> double {
                        if (x[0] > 1) throw std::runtime_error("no accuracy beyond 1");
                        return x[0];
                      }};
  const Outcome outcome = run({"frozen", with_frozen_branch, {metric}}, folder.file("out"));
  CHECK(outcome.code == 1);
  CHECK(contains(outcome.output, "aid: no accuracy beyond 1"));
  CHECK(outcome.summary.at("runs")[1].at("status") == "failed");
  CHECK(outcome.summary.at("runs")[1].at("metrics").at("accuracy").is_null());
}
