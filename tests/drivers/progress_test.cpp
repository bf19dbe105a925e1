#include "drivers/common/progress.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "support/comma_locale.hpp"

using namespace hypertape;
using namespace hypertape::drivers;

namespace {

const Vec nothing;

Iterate iterate(int iteration, double phi, double norm, std::int64_t calls, double seconds) {
  return {iteration, nothing, nothing, nothing, nothing, phi, norm, 0, {.g = calls}, seconds, 0};
}

/// The line that a terminal shows.
std::string shown(const std::string& solver, const StopRule& budget, const Iterate& i) {
  std::ostringstream out;
  const Observer observer = with_progress({}, solver, budget, out, true);
  CHECK(observer(i));
  const std::string line = out.str(), begin = "\r\033[K";
  REQUIRE(line.starts_with(begin));
  return line.substr(begin.size());
}

}  // namespace

TEST_CASE("in a pipe there is silence, and the observer works all the same") {
  std::ostringstream out;
  int calls = 0;
  const Observer inner = [&](const Iterate& i) { return ++calls, i.iteration < 2; };
  const Observer observer = with_progress(inner, "aid", {}, out, false);
  CHECK(observer(iterate(1, 0, 0, 0, 1)));
  CHECK_FALSE(observer(iterate(2, 0, 0, 0, 2)));
  CHECK(calls == 2);
  CHECK(with_progress({}, "aid", {}, out, false)(iterate(1, 0, 0, 0, 0)));
  clear_progress(out, false);
  CHECK(out.str() == "");
}

TEST_CASE("on a terminal one line is rewritten, at most 5 times a second, and cleared") {
  std::ostringstream out;
  int calls = 0;
  const Observer inner = [&](const Iterate& i) { return ++calls, i.iteration >= 0; };
  const Observer observer = with_progress(inner, "aid", {}, out, true);
  int given = 0;
  for (; given < 500; ++given) CHECK(observer(iterate(given, 1, 1, given, 0.001 * (given + 1))));
  CHECK(calls == given);
  CHECK_FALSE(observer(iterate(-1, 0, 0, 0, 0)));
  const std::string text = out.str();
  const auto lines = std::count(text.begin(), text.end(), '\r');
  CHECK(lines == 2);  // in half a second
  CHECK(text.find('\n') == std::string::npos);
  out.str("");
  clear_progress(out, true);
  CHECK(out.str() == "\r\033[K");
}

TEST_CASE("a run that is over at once shows nothing") {
  std::ostringstream out;
  const Observer observer = with_progress({}, "aid", {}, out, true);
  CHECK(observer(iterate(1, 0, 0, 0, 0)));
  CHECK(out.str() == "");
}

TEST_CASE("the line says how far the run is, and what the nearest budget leaves") {
  StopRule budget;
  budget.max_iterations = 100;
  CHECK(shown("rahgd", budget, iterate(20, 0.5, 0.012, 300, 4)) ==
        "rahgd: it 20, Phi 0.5, |u| 1.2e-02, 300 calls, 4.0 s, <= 0:16 left");
  budget.max_calls = 600;
  CHECK(shown("aid", budget, iterate(20, 0.5, 0.012, 300, 4)).ends_with(", 4.0 s, <= 4.0 s left"));
  budget.max_seconds = 5;
  CHECK(shown("aid", budget, iterate(20, 0.5, 0.012, 300, 4)).ends_with(", <= 1.0 s left"));
  CHECK(shown("aid", budget, iterate(20, 0.5, 0.012, 300, 9)).ends_with(", <= 0.0 s left"));
  budget = {};
  budget.max_iterations = 10000;
  CHECK(shown("aid", budget, iterate(1, 0.5, 0.012, 300, 3.7)).ends_with(", 3.7 s, <= 10:16:36 left"));
  CHECK(shown("aid", budget, iterate(1, 0.5, 0.012, 300, 100)).ends_with(", 1:40, <= 11 days left"));
  CHECK(shown("aid", budget, iterate(0, 0.5, 0.012, 0, 0.3)).ends_with(", 0 calls, 0.3 s"));
}

TEST_CASE("the line fits, and ends with a whole piece") {
  if (isatty(STDERR_FILENO)) {
    MESSAGE("the width of this terminal is not known here: not tested");
    return;
  }
  StopRule budget;
  budget.max_seconds = 2000;
  const std::string usual = shown("rahgd", budget, iterate(12345, 0.123456, 1.2e-5, 1234567, 754));
  CHECK(usual.size() <= 79);
  CHECK(usual.ends_with(" left"));
  const std::string full = shown("a solver with a very long name\n and lines", budget,
                                 iterate(2'000'000'000, -1.23456e-300, 1e-300, 9'000'000'000'000'000'000, 1e5));
  CHECK(full.size() <= 79);
  CHECK(full.ends_with("|u| 1.0e-300"));
  CHECK(full.find('\n') == std::string::npos);
}

TEST_CASE("the line is the same in a locale with commas") {
  const Iterate i = iterate(12345, 1234.5, 0.0015, 6789, 7.25);
  const std::string plain = shown("aid", {}, i);
  CHECK(plain.starts_with("aid: it 12345, Phi 1234.5, |u| 1.5e-03, 6789 calls, 7.2 s"));
  const hypertape::testing::CommaLocale locale;
  CHECK(shown("aid", {}, i) == plain);
}
