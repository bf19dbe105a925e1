// Runs the driver as a user would.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "drivers/process.hpp"

namespace fs = std::filesystem;
using hypertape::testing::content;
using hypertape::testing::Outcome;
using hypertape::testing::TemporaryFolder;

namespace {

Outcome run(const std::string& arguments) { return hypertape::testing::run_driver("verify_oracles", arguments); }

}  // namespace

TEST_CASE("--all verifies every problem and writes the verdicts") {
  const TemporaryFolder folder;
  const Outcome outcome = run("--all --points 6 --json " + folder.file("report.json"));
  CHECK(outcome.code == 0);
  CHECK(outcome.has("problems verified"));
  const auto json = nlohmann::json::parse(content(folder.file("report.json")));
  CHECK(json.size() >= 3);
  for (const auto& problem : json) {
    CHECK(problem.at("passed") == true);
    for (const auto& check : problem.at("checks"))
      for (const char* key : {"name", "passed", "checked", "points", "worst_relative_error", "observed_order"})
        CHECK(check.contains(key));
  }
}

TEST_CASE("one problem, by name, seed and points, is repeatable") {
  const Outcome a = run("--problem ridge --seed 3 --points 4"), b = run("--problem ridge --seed 3 --points 4");
  CHECK(a.code == 0);
  CHECK(a.output == b.output);
  CHECK(a.has("ridge: passed"));
  CHECK(run("--problem ridge --seed 4 --points 4").output != a.output);
}

TEST_CASE("a failed verification is exit code 1, with a report all the same") {
  // A lower level that is barely convex: its smallest Ritz value drowns in rounding.
  const TemporaryFolder folder;
  std::ofstream(folder.file("flat.json")) << R"({"A": [[1, 0], [0, 1e-15]], "C": [[1], [1]], "b": [0, 0], "d": [0, 0],
                                                 "D": [[1]], "x0": [0]})";
  const Outcome outcome = run("--problem quadratic --points 3 --instance " + folder.file("flat.json") + " --json " +
                              folder.file("out.json"));
  CHECK(outcome.code == 1);
  CHECK(outcome.has("quadratic: FAILED"));
  CHECK(outcome.has("0 of 1 problems verified"));
  CHECK(nlohmann::json::parse(content(folder.file("out.json")))[0]["passed"] == false);
}

TEST_CASE("options may stand in a file, and the command line goes first") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("run.conf")) << "problem = ridge\npoints = 5\nseed = 9\n";
  const Outcome outcome = run("--points 4 --config " + folder.file("run.conf"));
  CHECK(outcome.code == 0);
  CHECK(outcome.output == run("--problem ridge --points 4 --seed 9").output);
  std::ofstream(folder.file("bad.conf")) << "pionts = 5\n";
  const Outcome bad = run("--problem ridge --config " + folder.file("bad.conf"));
  CHECK(bad.code == 2);
  CHECK(bad.has("bad.conf: unrecognised option 'pionts'"));
}

TEST_CASE("misuse is exit code 2 and a sentence") {
  CHECK(run("--help").code == 0);
  CHECK(run("--help").has("synthetic_minimax"));
  for (const auto& [arguments, words] :
       {std::pair{"--problem nope", "problem = nope, must be one of"},
        {"--bogus 3", "unrecognised option"},
        {"", "give either --problem NAME or --all"},
        {"--all --problem ridge", "give either"},
        {"--problem ridge --points 0", "--points = 0, must be positive"},
        {"--problem ridge --points many", "'many'"},
        {"--problem ridge --kappa 4", "--kappa is for quadratic, quadratic_minimax and quartic only"},
        {"--problem quadratic --instance /none", "/none: cannot be opened"},
        {"ridge", "verify_oracles: ridge: options begin with --"}}) {
    const Outcome outcome = run(arguments);
    CAPTURE(outcome.output);
    CHECK(outcome.code == 2);
    CHECK(outcome.has(words));
  }
}

TEST_CASE("a file that is not one of its reports is never overwritten, an old report is") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("thesis.txt")) << "years of work\n";
  const Outcome refused = run("--problem ridge --points 2 --json " + folder.file("thesis.txt"));
  CHECK(refused.code == 2);
  CHECK(content(folder.file("thesis.txt")) == "years of work\n");
  std::ofstream(folder.file("other.json")) << "[{\"mine\": 1}]";
  CHECK(run("--problem ridge --points 2 --json " + folder.file("other.json")).code == 2);
  CHECK(run("--problem ridge --points 2 --json " + folder.file("r.json")).code == 0);
  CHECK(run("--problem ridge --points 3 --json " + folder.file("r.json")).code == 0);
  CHECK(nlohmann::json::parse(content(folder.file("r.json")))[0]["checks"][0]["points"] == 3);
  std::ofstream(folder.file("empty.json")) << "";
  CHECK(run("--problem ridge --points 2 --json " + folder.file("empty.json")).code == 0);
  CHECK(run("--problem ridge --points 2 --json " + folder.path()).code == 2);
  CHECK(run("--problem ridge --points 2 --json " + folder.file("no/such/folder.json")).code == 2);
}
