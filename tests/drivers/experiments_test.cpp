// The experiments' drivers, on small generated data.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "drivers/common/settings.hpp"
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
  REQUIRE(summary.at("runs").size() == 7);
  CHECK(summary.at("runs")[0].at("solver") == "auto");
  for (const auto& run : summary.at("runs")) {
    const auto& counts = run.at("counts");
    CHECK(counts.at("f").get<int>() + counts.at("g").get<int>() + counts.at("jv").get<int>() +
              counts.at("hv").get<int>() <=
          200);
    for (const char* metric : {"test_loss", "test_accuracy", "precision", "recall", "f1"})
      CHECK(run.at("metrics").contains(metric));
    CHECK(run.at("metrics").at("test_accuracy").get<double>() > 0);
    const std::string x = content(folder.file("out/x_" + run.at("solver").get<std::string>() + ".csv"));
    CHECK(std::count(x.begin(), x.end(), '\n') == 61);
  }
  CHECK(content(folder.file("out/trace.csv")).find("restarts,test_loss,test_accuracy,precision,recall,f1\n") !=
        std::string::npos);
  CHECK(content(folder.file("out/report.html")).find("wrong training labels") != std::string::npos);
}

TEST_CASE("tuning goes on where it was, and its settings are read back") {
  const TemporaryFolder folder;
  const std::string arguments =
      small + "--solver auto,itd --max-calls 150 --tune --tune-calls 60 --out " + folder.file("out");
  const Outcome first = run_driver("hypercleaning", arguments);
  CHECK(first.code == 0);
  CHECK(first.has("auto: nothing to tune\n"));
  auto tried = nlohmann::json::parse(content(folder.file("out/tuning.json")));
  CHECK(tried.at("runs").size() == 32);  // four steps for x, two for y, four numbers of them

  // What was tried is not tried again: a value planted for one setting is believed.
  const std::string favourite = tried.at("runs").items().begin().key();
  tried["runs"][favourite]["score"] = -1;
  std::ofstream(folder.file("out/tuning.json")) << tried.dump();
  const Outcome again = run_driver("hypercleaning", arguments);
  CHECK(again.has("Phi = -1"));
  const std::string config = content(folder.file("out/tuned.cfg"));
  CHECK(config.find("set = itd.eta=") != std::string::npos);
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);)  // the favourite has won
    if (line.starts_with("set = itd.")) CHECK(favourite.find(" " + line.substr(10)) != std::string::npos);

  // Another solver's settings are added, and what is to be found cannot be given.
  CHECK(run_driver("hypercleaning",
                   small + "--solver ba --max-calls 60 --tune --tune-calls 60 --out " + folder.file("out"))
            .code == 0);
  CHECK(content(folder.file("out/tuned.cfg")).find("set = itd.eta=") != std::string::npos);
  CHECK(run_driver("hypercleaning", arguments + " --set eta=3")
            .has("--set eta: conflicts with --tune, which chooses it for itd"));

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
  // Steps for x are given for one example, and grow with their number; those for y are multiples of 1/l.
  CHECK(run_driver("hypercleaning", small + "--max-calls 60 --out " + folder.file("out")).code == 0);
  const auto summary = nlohmann::json::parse(content(folder.file("out/summary.json")));
  for (const auto& run : summary.at("runs")) {
    const std::string solver = run.at("solver");
    if (solver == "auto") continue;  // has none
    REQUIRE(shipped.count(solver) == 1);
    for (const auto& [option, value] : shipped.at(solver)) {
      const std::string used = run.at("options").at(option);
      if (option == "eta")
        CHECK(std::stod(used) == doctest::Approx(std::stod(value) * 60).epsilon(1e-12));
      else if (option == "alpha")
        CHECK(std::stod(used) * std::stod(run.at("options").at("l").get<std::string>()) ==
              doctest::Approx(std::stod(value)).epsilon(1e-12));
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
                                     "--kappas 2,4,8 --relative 0.1 --epsilons 0.5,0.3 --kappa 2 --seeds 1 "
                                     "--max-calls 600 --out " +
                                         folder.file("out"));
  CHECK(outcome.code == 0);
  for (const std::string study : {"kappa", "epsilon"}) {
    const auto report = nlohmann::json::parse(content(folder.file("out/" + study + ".json")));
    CHECK(report.at("study") == study);
    int fitted = 0;
    for (const auto& slope : report.at("slopes"))
      if (slope.at("kind") == "all") {
        CAPTURE(slope.dump());
        if (slope.at("method") == "AID-BiO" || slope.at("method") == "auto")
          CHECK(slope.at("points") == report.at("points").size());
        fitted += slope.at("slope").is_number();
      }
    CHECK(fitted >= 13);
    for (const auto& run : report.at("runs"))
      if (run.at("calls") > 0) {
        const auto& counts = run.at("counts");
        CHECK(counts.at("f").get<int>() + counts.at("g").get<int>() + counts.at("jv").get<int>() +
                  counts.at("hv").get<int>() ==
              run.at("calls"));
        CHECK(run.at("settings").empty() == run.at("method").get<std::string>().starts_with("auto"));
      }
    CHECK(content(folder.file("out/" + study + ".csv")).starts_with(study + ",\"auto\",\"BA (warm)\""));
  }
  const Outcome short_budget =
      run_driver("complexity", "--study kappa --kappas 2,4 --seeds 1 --max-calls 5 --out " + folder.file("short"));
  CHECK(short_budget.code == 0);
  const auto nothing = nlohmann::json::parse(content(folder.file("short/kappa.json")));
  for (const auto& slope : nothing.at("slopes")) {
    CHECK(slope.at("points") == 0);
    CHECK(slope.at("slope").is_null());
  }
  CHECK(content(folder.file("short/report.html")).find("AID-BiO") != std::string::npos);
  CHECK(run_driver("complexity", "--kappas 2,2").has("--kappas 2,2, must differ"));
  CHECK(
      run_driver("complexity", "--study both --kappas 0.5,2").has("--kappas 0.5,2, must be numbers of at least 1 and"));
  CHECK(run_driver("complexity", "--epsilons 0.1").has("--epsilons 0.1, must have at least 2 numbers"));
  CHECK(run_driver("complexity", "--study x").has("--study x, must be kappa, epsilon or both"));
}

TEST_CASE("newsgroups runs on generated documents") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_driver("newsgroups", "--solver auto,rahgd,aid --max-calls 800 --threads 1 --out " + folder.file("out"));
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
    const std::string seeds = content(folder.file(std::string(start) + "/seeds.csv"));
    for (const char* solver : {"pragda", "gda", "perturbed_gda", "imcn"})
      for (const char* seed : {"1", "2", "3"}) {
        const std::string row = std::string("\n") + solver + "," + seed + ",";
        REQUIRE(seeds.find(row) != std::string::npos);
        CHECK(std::isdigit(static_cast<unsigned char>(seeds[seeds.find(row) + row.size()])));
      }
    CHECK(content(folder.file(std::string(start) + "/w_shape.gnuplot")).find("The W-shaped function") !=
          std::string::npos);
    const auto summary = nlohmann::json::parse(content(folder.file(std::string(start) + "/summary.json")));
    const auto& runs = summary.at("runs");
    CHECK(runs[0].at("solver") == "auto");  // beside the saddle it ends there, as any method that descends
    CHECK(runs[0].at("metrics").at("gap").get<double>() < (start == std::string("far") ? 1e-6 : 1e-2));
    CHECK(runs[1].at("solver") == "pragda");
    CHECK(runs[1].at("metrics").at("gap").get<double>() < 1e-6);
    CHECK(seeds.starts_with("solver,seed,calls\nauto,1,"));
  }
}

TEST_CASE("synthetic_minimax is tuned by the calls to the basin") {
  const TemporaryFolder folder;
  CHECK(run_driver("synthetic_minimax",
                   "--start far --seeds 1 --solver gda --tune --tune-calls 300 --out " + folder.file("out"))
            .code == 0);
  const auto tried = nlohmann::json::parse(content(folder.file("out/tuning.json"))).at("runs");
  double fewest = 1e9;
  std::string best;
  for (const auto& [name, outcome] : tried.items())
    if (outcome.at("score").is_number() && outcome.at("score").get<double>() < fewest) {
      fewest = outcome.at("score").get<double>();
      best = name;
    }
  CHECK(fewest <= 300);
  CHECK(best.find(" eta=0.5 ") != std::string::npos);  // the longest steps of the grid
  CHECK(content(folder.file("out/tuned.cfg")).find("gda.eta=0.5\n") != std::string::npos);
  // The run after it, and the table of seeds, use what was found.
  CHECK(content(folder.file("out/seeds.csv")).find("gda,1," + std::to_string(static_cast<int>(fewest)) + "\n") !=
        std::string::npos);
}

TEST_CASE("hypercleaning reads images, and takes the validation set where it is told") {
  const TemporaryFolder folder;
  const auto images = [](int count) {
    std::string out{'\0', '\0', '\x08', '\x03', '\0', '\0', '\0', static_cast<char>(count),
                    '\0', '\0', '\0',   '\x02', '\0', '\0', '\0', '\x02'};
    for (int i = 0; i < count; ++i)
      for (int pixel = 0; pixel < 4; ++pixel) out += static_cast<char>(pixel == i % 4 ? 200 + i % 7 : i % 11);
    return out;
  };
  const auto labels = [](int count) {
    std::string out{'\0', '\0', '\x08', '\x01', '\0', '\0', '\0', static_cast<char>(count)};
    for (int i = 0; i < count; ++i) out += static_cast<char>(i % 4);
    return out;
  };
  folder.write("data/train-images-idx3-ubyte", images(100));
  folder.write("data/train-labels-idx1-ubyte", labels(100));
  folder.write("data/t10k-images-idx3-ubyte", images(40));
  folder.write("data/t10k-labels-idx1-ubyte", labels(40));
  const std::string begin = "--data " + folder.file("data") + " --training 60 --solver rahgd --max-calls 300";
  const Outcome apart = run_driver("hypercleaning", begin + " --validation 30 --out " + folder.file("apart"));
  CHECK(apart.code == 0);
  CHECK(apart.has("60 training, 30 validation, 40 test"));
  CHECK(apart.has("clean validation set alone: 100 %"));  // four pixels, four classes
  CHECK(run_driver("hypercleaning", begin + " --validation 30 --validation-from-test --out " + folder.file("head"))
            .has("60 training, 30 validation, 10 test"));
  CHECK(
      run_driver("hypercleaning", begin + " --validation-from-test --validation 40").has("--validation 40: leaves no"));
  CHECK(run_driver("hypercleaning", begin + " --validation 50").has("--validation 50: there are only 40 images"));
  CHECK(run_driver("hypercleaning", begin + " --validation 30 --test 50").has("--test 50: there are only 40 images"));
  CHECK(run_driver("hypercleaning", "--validation-from-test").has("--validation-from-test is for images"));
  folder.write("data/t10k-labels-idx1-ubyte", labels(39));
  CHECK(run_driver("hypercleaning", begin + " --validation 30").has("39 labels for 40 images"));
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
