// The experiments' drivers, on small generated data.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "drivers/process.hpp"

using hypertape::testing::content;
using hypertape::testing::Outcome;
using hypertape::testing::run_driver;
using hypertape::testing::TemporaryFolder;

namespace {

const std::string small = "--training 60 --validation 30 --test 40 ";

}  // namespace

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
  CHECK(tried.at("runs").size() == 6);  // three steps, two numbers of steps for y

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
