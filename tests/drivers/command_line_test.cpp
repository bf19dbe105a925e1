// What every driver does with its command line.

#include "drivers/common/command_line.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "drivers/common/plan.hpp"
#include "drivers/common/settings.hpp"
#include "drivers/process.hpp"
#include "support/comma_locale.hpp"

using namespace hypertape;
using testing::Outcome;
using testing::run_driver;
using testing::TemporaryFolder;

namespace {

constexpr const char* every_driver[] = {"verify_oracles", "solve",      "complexity",
                                        "hypercleaning",  "newsgroups", "synthetic_minimax"};

}  // namespace

TEST_CASE("a negative seed is misuse, on the command line and in a file") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("run.cfg")) << "seed = -3\n";
  for (const std::string driver : every_driver) {
    if (driver == "complexity") continue;  // has --seeds, how many
    CAPTURE(driver);
    for (const char* arguments : {"--seed -1", "--seed=-1"}) {
      const Outcome outcome = run_driver(driver, arguments);
      CHECK(outcome.code == 2);
      CHECK(outcome.output == driver + ": --seed -1, must not be negative\n");
    }
    const Outcome outcome = run_driver(driver, "--config " + folder.file("run.cfg"));
    CHECK(outcome.code == 2);
    CHECK(outcome.output == driver + ": " + folder.file("run.cfg") + ": --seed -3, must not be negative\n");
  }
}

TEST_CASE("a folder is no config file") {
  const TemporaryFolder folder;
  for (const std::string driver : every_driver) {
    const Outcome outcome = run_driver(driver, "--config " + folder.path());
    CHECK(outcome.code == 2);
    CHECK(outcome.output == driver + ": " + folder.path() + ": is a folder, expected a file\n");
  }
}

TEST_CASE("standard output that cannot be written is a failure, whatever was found") {
  if (!std::filesystem::exists("/dev/full")) return;
  for (const std::string driver : every_driver) {
    const Outcome outcome = run_driver(driver, "--help", "2>&1 >/dev/full");
    CHECK(outcome.code == 2);
    CHECK(outcome.output == driver + ": standard output cannot be written, and what was said is lost\n");
  }
  CHECK(run_driver("verify_oracles", "--problem ridge --points 2", "2>&1 >/dev/full").code == 2);
  CHECK(run_driver("verify_oracles", "--problem ridge --points 2", "2>&1 >/dev/null").code == 0);
}

TEST_CASE("numbers on command lines and in settings are the same in a locale with commas") {
  const testing::CommaLocale locale;
  boost::program_options::variables_map given;
  given.insert({"levels", boost::program_options::variable_value(std::string("0.5, 1e-3,1234.5"), false)});
  CHECK(drivers::numbers(given, "levels") == std::vector<double>{0.5, 1e-3, 1234.5});
  CHECK(drivers::exact(1234.5) == "1234.5");
  CHECK(drivers::chosen_options({{"eta", "1234.5678"}, {"B", "inf"}, {"rule", "none"}}) == "eta=1235 B=inf rule=none");
}
