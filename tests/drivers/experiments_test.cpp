// The experiments' drivers, on small generated data.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "drivers/common/parallel.hpp"
#include "drivers/common/settings.hpp"
#include "drivers/process.hpp"

using hypertape::testing::content;
using hypertape::testing::Outcome;
using hypertape::testing::run_driver;
using hypertape::testing::TemporaryFolder;

namespace {

const std::string small = "--training 60 --validation 30 --test 40 ";

}  // namespace

TEST_CASE("parallel_for does everything once, and passes exceptions on") {
  for (const int jobs : {1, 4}) {
    std::vector<int> done(100, 0);
    hypertape::drivers::parallel_for(done.size(), jobs, [&](std::size_t i, int job) {
      CHECK(job >= 0);
      CHECK(job < jobs);
      ++done[i];
    });
    for (const int times : done) CHECK(times == 1);
    CHECK_THROWS_WITH(hypertape::drivers::parallel_for(10, jobs,
                                                       [&](std::size_t i, int) {
                                                         if (i == 7) throw std::runtime_error("seven");
                                                       }),
                      "seven");
  }
}

TEST_CASE("hypercleaning compares its solvers, measures and reports") {
  const TemporaryFolder folder;
  const Outcome outcome = run_driver("hypercleaning", small + "--max-calls 200 --out " + folder.file("out"));
  CHECK(outcome.code == 0);
  CHECK(outcome.has("test accuracy of training on all labels as they are"));
  CHECK(outcome.has("test accuracy of training on the clean validation set alone"));
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  REQUIRE(summary.at("runs").size() == 6);
  for (const auto& run : summary.at("runs")) {
    const auto& counts = run.at("counts");
    CHECK(counts.at("f").get<int>() + counts.at("g").get<int>() + counts.at("jv").get<int>() +
              counts.at("hv").get<int>() <=
          200);
    for (const char* metric : {"test_loss", "test_accuracy", "precision", "recall", "f1"})
      CHECK(run.at("metrics").contains(metric));
    CHECK(run.at("metrics").at("test_accuracy").get<double>() <= 1);
  }
  CHECK(content(folder.file("out/trace.csv")).find("restarts,test_loss,test_accuracy,precision,recall,f1\n") !=
        std::string::npos);
  CHECK(content(folder.file("out/report.html")).find("wrong training labels") != std::string::npos);
}

TEST_CASE("tuning goes on where it was, and its settings are read back") {
  const TemporaryFolder folder;
  const std::string arguments =
      small + "--solver itd --max-calls 150 --tune --tune-calls 60 --out " + folder.file("out");
  CHECK(run_driver("hypercleaning", arguments).code == 0);
  auto tried = nlohmann::json::parse(content(folder.file("out/tuning.json")));
  CHECK(tried.at("runs").size() == 16);  // four steps, four numbers of steps for y

  // What was tried is not tried again: a value planted for one setting is believed.
  const std::string favourite = tried.at("runs").items().begin().key();
  tried["runs"][favourite]["phi"] = -1;
  std::ofstream(folder.file("out/tuning.json")) << tried.dump();
  const Outcome again = run_driver("hypercleaning", arguments);
  CHECK(again.has("Phi = -1"));
  const std::string config = content(folder.file("out/tuned.cfg"));
  CHECK(config.find("set = itd.eta=") != std::string::npos);
  CHECK(config.find("set = itd.steps=") != std::string::npos);

  const Outcome read_back =
      run_driver("hypercleaning", small + "--solver itd --max-calls 100 --config " + folder.file("out/tuned.cfg") +
                                      " --out " + folder.file("read_back"));
  CHECK(read_back.code == 0);
  const auto summary = nlohmann::json::parse(content(folder.file("read_back/summary.json")));
  const std::string eta = summary.at("runs")[0].at("options").at("eta");
  CHECK(config.find("itd.eta=" + eta + "\n") != std::string::npos);
}

TEST_CASE("a tuning in parallel finds what one after the other finds, and a perturbed method follows its own") {
  const TemporaryFolder folder;
  for (const std::string jobs : {"1", "3"})
    CHECK(run_driver("hypercleaning", small + "--solver paid --max-calls 60 --tune --tune-calls 200 --tune-jobs " +
                                          jobs + " --out " + folder.file(jobs))
              .code == 0);
  CHECK(content(folder.file("1/tuning.json")) == content(folder.file("3/tuning.json")));
  const std::string config = content(folder.file("1/tuned.cfg"));
  CHECK(config == content(folder.file("3/tuned.cfg")));
  for (const std::string option : {"eta", "steps", "products", "r"})
    CHECK(config.find("set = paid." + option + "=") != std::string::npos);
  CHECK(config.find("set = aid.") == std::string::npos);  // tuned on the way, but not asked for
}

TEST_CASE("results of tuning another problem are not believed, and not lost") {
  const TemporaryFolder folder;
  const std::string arguments =
      small + "--solver itd --max-calls 60 --tune --tune-calls 30 --out " + folder.file("out");
  CHECK(run_driver("hypercleaning", arguments).code == 0);
  const std::string before = content(folder.file("out/tuning.json"));
  const Outcome other = run_driver("hypercleaning", arguments + " --corruption 0.2");
  CHECK(other.code == 2);
  CHECK(other.has("tuning.json: is of another problem"));
  CHECK(content(folder.file("out/tuning.json")) == before);
  std::ofstream(folder.file("out/tuning.json")) << "{";
  CHECK(run_driver("hypercleaning", arguments).code == 2);
  CHECK(run_driver("hypercleaning", small + "--tune --tune-jobs -1").has("--tune-jobs -1, must not be negative"));
}

TEST_CASE("the settings that are shipped are those of the default run") {
  const auto shipped = hypertape::drivers::shipped_settings("hypercleaning");
  const TemporaryFolder folder;
  // Steps are given for 20,000 examples, and scale with their number.
  CHECK(run_driver("hypercleaning", small + "--max-calls 60 --out " + folder.file("out")).code == 0);
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  for (const auto& run : summary.at("runs")) {
    const std::string solver = run.at("solver");
    REQUIRE(shipped.count(solver) == 1);
    for (const auto& [option, value] : shipped.at(solver)) {
      const std::string used = run.at("options").at(option);
      if (option == "eta")
        CHECK(std::stod(used) == doctest::Approx(std::stod(value) * 60 / 20000).epsilon(1e-12));
      else
        CHECK(used == value);
    }
  }
  for (const char* name : {"newsgroups", "synthetic_minimax_near_saddle", "synthetic_minimax_far"})
    for (const auto& [solver, settings] : hypertape::drivers::shipped_settings(name))
      for (const auto& [option, value] : settings) CHECK(hypertape::solver(solver).has_option(option));
  CHECK_THROWS(hypertape::drivers::shipped_settings("nothing"));
}

TEST_CASE("complexity counts, fits and leaves out what is out of reach") {
  const TemporaryFolder folder;
  const Outcome outcome = run_driver("complexity",
                                     "--kappas 2,4,8 --relative 1e-2 --epsilons 0.5,0.1 --kappa 2 --seeds 2 "
                                     "--max-calls 20000 --out " +
                                         folder.file("out"));
  CHECK(outcome.code == 0);
  for (const std::string study : {"kappa", "epsilon"}) {
    const auto report = nlohmann::json::parse(content(folder.file("out/" + study + ".json")));
    CHECK(report.at("study") == study);
    int fitted = 0;
    for (const auto& slope : report.at("slopes"))
      if (slope.at("kind") == "all") {
        CAPTURE(slope.dump());
        CHECK(slope.at("points").get<std::size_t>() <= report.at("points").size());
        fitted += slope.at("slope").is_number();
      }
    CHECK(fitted >= 11);
    for (const auto& run : report.at("runs"))
      if (run.at("calls") > 0) {
        const auto& counts = run.at("counts");
        CHECK(counts.at("f").get<int>() + counts.at("g").get<int>() + counts.at("jv").get<int>() +
                  counts.at("hv").get<int>() ==
              run.at("calls"));
        CHECK_FALSE(run.at("settings").empty());
      }
    CHECK(content(folder.file("out/" + study + ".csv")).starts_with(study + ",\"BA (warm)\",\"AID-BiO\""));
  }
  const Outcome short_budget =
      run_driver("complexity", "--study kappa --kappas 2,4 --seeds 1 --max-calls 5 --out " + folder.file("short"));
  CHECK(short_budget.code == 0);
  CHECK(short_budget.has("| AID-BiO | - | - | - | 0 | 4.00 |"));
  CHECK(
      run_driver("complexity", "--study both --kappas 0.5,2").has("--kappas 0.5,2, must be numbers of at least 1 and"));
  CHECK(run_driver("complexity", "--epsilons 0.1").has("--epsilons 0.1, must have at least 2 numbers"));
  CHECK(run_driver("complexity", "--study x").has("--study x, must be kappa, epsilon or both"));
}

TEST_CASE("newsgroups runs on generated documents") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_driver("newsgroups", "--solver rahgd,aid --max-calls 800 --threads 1 --out " + folder.file("out"));
  CHECK(outcome.code == 0);
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  CHECK(summary.at("runs")[0].at("metrics").at("test_accuracy").get<double>() > 0.3);  // of five classes
  CHECK(summary.at("facts").at("documents") == "600 training, 300 validation, 300 test");
}

TEST_CASE("synthetic_minimax finds the basin from both starts") {
  const TemporaryFolder folder;
  for (const char* start : {"near", "far"}) {
    const Outcome outcome =
        run_driver("synthetic_minimax", std::string("--seeds 3 --start ") + start + " --out " + folder.file(start));
    CHECK(outcome.code == 0);
    CHECK(outcome.has("3 of 3 seeds"));
    const auto summary = nlohmann::json::parse(content(folder.file(std::string(start) + "/summary.json")));
    CHECK(summary.at("runs")[0].at("solver") == "pragda");
    CHECK(summary.at("runs")[0].at("metrics").at("gap").get<double>() < 1e-6);
  }
}

TEST_CASE("data that is not there, or not what it should be, is refused") {
  const TemporaryFolder folder;
  const Outcome missing =
      run_driver("hypercleaning", "--data " + folder.file("nowhere") + " --out " + folder.file("o"));
  CHECK(missing.code == 2);
  CHECK(missing.has("nowhere/train-images-idx3-ubyte"));
  CHECK(run_driver("newsgroups", "--data " + folder.file("nowhere") + " --out " + folder.file("o")).code == 2);
  CHECK(run_driver("hypercleaning", "--training 0").has("--training 0, must be positive"));
  CHECK(run_driver("hypercleaning", "--corruption 2").has("--corruption 2, must be in [0, 1]"));
  CHECK(run_driver("synthetic_minimax", "--start here").has("--start here, must be near, far or both"));
}
