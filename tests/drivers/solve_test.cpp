#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "drivers/process.hpp"

using hypertape::testing::content;
using hypertape::testing::Outcome;
using hypertape::testing::TemporaryFolder;

namespace {

Outcome solve(const std::string& arguments) { return hypertape::testing::run_driver("solve", arguments); }

}  // namespace

TEST_CASE("solvers are compared in a table, a trace and a summary") {
  const TemporaryFolder folder;
  const Outcome outcome = solve("--problem quadratic --solver auto,rahgd,aid --seed 3 --out " + folder.file("out"));
  CHECK(outcome.code == 0);
  CHECK(outcome.has("converged"));
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  CHECK(summary.at("problem") == "quadratic");
  CHECK(summary.at("seed") == 3);
  REQUIRE(summary.at("runs").size() == 3);
  for (const auto& run : summary.at("runs")) {
    CHECK(run.at("status") == "converged");
    const std::string by = run.at("converged_by");
    CHECK(by == (run.at("solver") == "auto" ? "estimate" : "bound"));
    CHECK(run.at("gradient_norm").get<double>() + run.at("error_" + by).get<double>() <= 1e-6);
    CHECK(outcome.has("converged by " + by));
    CHECK(run.at("counts").at("hv").get<int>() > 0);
    const std::string x = content(folder.file("out/x_" + run.at("solver").get<std::string>() + ".csv"));
    CHECK(x.starts_with("i,x\n1,"));
    CHECK(std::count(x.begin(), x.end(), '\n') == 11);
    for (const char* field : {"message", "phi", "iterations", "restarts", "seconds"}) CHECK(run.contains(field));
  }
  CHECK(summary.at("runs")[0].at("phi").get<double>() ==
        doctest::Approx(summary.at("runs")[1].at("phi").get<double>()).epsilon(1e-9));
  const std::string trace = content(folder.file("out/trace.csv"));
  CHECK(trace.starts_with(
      "solver,iteration,seconds,f,g,jv,hv,phi,gradient_norm,error_bound,error_estimate,restarts\nauto,1,"));
  CHECK(trace.find("\nrahgd,1,") != std::string::npos);
  CHECK(trace.find("\naid,1,") != std::string::npos);

  // Calls until Phi is at most a level: those of the first row of the trace that has it.
  const Outcome levels = solve("--problem quadratic --solver rahgd --levels 28,-1 --out " + folder.file("levels"));
  CHECK(levels.has("until Phi <="));
  const auto reached = nlohmann::json::parse(content(folder.file("levels/summary.json"))).at("reached");
  REQUIRE(reached.size() == 1);
  CHECK(reached[0].at("level") == 28);
  CHECK(levels.has(reached[0].at("calls").dump() + " ("));
  CHECK(solve("--problem quadratic --solver rahgd --levels 1,x").has("--levels 1,x, must be numbers"));

  // A second run replaces its own files, and nobody else's.
  CHECK(solve("--problem quadratic --solver rahgd --out " + folder.file("out")).code == 0);
  std::ofstream(folder.file("out/trace.csv")) << "my own notes\n";
  const Outcome refused = solve("--problem quadratic --solver rahgd --out " + folder.file("out"));
  CHECK(refused.code == 2);
  CHECK(refused.has("left alone"));
  CHECK(content(folder.file("out/trace.csv")) == "my own notes\n");
}

TEST_CASE("without --solver there is auto") {
  const TemporaryFolder folder;
  const Outcome outcome = solve("--problem quadratic --rtol 1e-2 --set rahgd.eta=1 --out " + folder.file("out"));
  CHECK(outcome.code == 0);
  CHECK(outcome.has("not run, and their settings not used: rahgd\n"));
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  REQUIRE(summary.at("runs").size() == 1);
  CHECK(summary.at("runs")[0].at("solver") == "auto");
  CHECK(summary.at("runs")[0].at("status") == "converged");
  CHECK(summary.at("runs")[0].at("options").at("rtol") == "1e-2");
  const Outcome strict = solve("--problem quadratic --out " + folder.file("out"));
  CHECK(nlohmann::json::parse(content(folder.file("out/summary.json"))).at("runs")[0].at("iterations") >
        summary.at("runs")[0].at("iterations"));
  CHECK_FALSE(strict.has("not run"));
}

TEST_CASE("options come from --set and from a config file") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("run.cfg")) << "problem = synthetic_minimax\nsolver = pragda, gda\nset = eta=0.5\n"
                                           "set = pragda.B=0.3\nmax-calls = 500\nout = "
                                        << folder.file("out") << "\n";
  CHECK(solve("--config " + folder.file("run.cfg")).code == 0);
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  CHECK(summary.at("runs")[0].at("options").at("B") == "0.3");
  CHECK(summary.at("runs")[1].at("options").at("eta") == "0.5");
  CHECK(!summary.at("runs")[1].at("options").contains("B"));
  CHECK(summary.at("runs")[0].at("counts").at("hv") == 0);

  // The command line has the last word.
  CHECK(solve("--config " + folder.file("run.cfg") + " --set eta=0.25").code == 0);
  const auto other = nlohmann::json::parse(content(folder.file("out/summary.json")));
  CHECK(other.at("runs")[1].at("options").at("eta") == "0.25");
}

TEST_CASE("a budget is no trouble, divergence is") {
  const TemporaryFolder folder;
  const std::string out = " --out " + folder.file("out");
  const Outcome budget = solve("--problem quadratic --solver aid --max-calls 100" + out);
  CHECK(budget.code == 0);
  CHECK(budget.has("call_limit"));
  CHECK(budget.has("100 oracle calls, all that are allowed"));
  const Outcome trouble = solve("--problem quadratic --solver aid --set eta=1000" + out);
  CHECK(trouble.code == 1);
  CHECK(trouble.has("diverged"));
  CHECK(trouble.has("is the step too long?"));
}

TEST_CASE("misuse says what is wrong and what is known") {
  CHECK(solve("").code == 2);
  CHECK(solve("").has("give --problem NAME (--help shows the other options); the problems are\n  quadratic: "));
  CHECK(solve("--solver rahgd").has("give --problem"));
  CHECK(solve("quadratic").has("solve: quadratic: options begin with -- (--help shows the options)"));
  CHECK(solve("--problem quadratik").has("quadratik, must be one of quadratic, "));
  CHECK(solve("--problem quadratic --solver auto,auto").has("--solver auto,auto: auto is there twice"));
  CHECK(solve("--problem quadratic --solver ''").has("--solver is empty; the solvers are\n  auto: "));
  CHECK(solve("--problem quadratic --solver sgd").has("solver sgd is unknown; known are auto, rahgd, prahgd"));
  CHECK(solve("--problem quadratic --solver pragda").has("pragda: solves minimax problems only"));
  CHECK(solve("--problem quadratic --solver rahgd --set speed=1")
            .has("--set speed=1: speed is no option of rahgd, nor of any other solver; --options rahgd lists"));
  CHECK(solve("--problem quadratic --set eta=1").has("--set eta=1: eta is no option of auto, but of rahgd, "));
  CHECK(solve("--problem quadratic --solver rahgd --set auto.eta=1").has("eta is no option of auto, but of rahgd, "));
  CHECK(solve("--problem quadratic --solver rahgd --set eta").has("must be OPTION=VALUE"));
  CHECK(solve("--problem quadratic --solver rahgd --set eta=fast").has("option eta = fast, must be a number"));
  CHECK(solve("--problem quadratic --solver rahgd --set theta=2")
            .has("rahgd: theta = 2, must satisfy 0 < theta <= 1, or auto"));
  CHECK(solve("--problem quadratic --solver rahgd --speed 3").code == 2);
  CHECK(solve("--options rahgd").has("gradient_restart"));
  CHECK(solve("--help").has("Solvers ("));
}
