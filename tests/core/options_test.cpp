#include "hypertape/core/options.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace hypertape {
namespace {

/// One field of every type, and their list.
struct Everything {
  double eta = 0.25;
  int steps = 3;
  std::int64_t calls = 4;
  std::uint64_t seed = 5;
  bool warm = false;
  OptionList list;

  Everything() {
    list.add("eta", &eta, "step length");
    list.add("steps", &steps, "steps for y");
    list.add("calls", &calls, "budget");
    list.add("seed", &seed, "of everything random");
    list.add("warm", &warm, "start from the last y");
  }
  Everything(const Everything&) = delete;
  Everything& operator=(const Everything&) = delete;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("options are listed in order, with their help and their fields") {
  Everything all;
  const auto& options = all.list.options();
  REQUIRE(options.size() == 5);
  CHECK(options[0].name == "eta");
  CHECK(options[0].help == "step length");
  CHECK(std::get<double*>(options[0].field) == &all.eta);
  CHECK(options[4].name == "warm");
  CHECK(options[4].help == "start from the last y");
  CHECK(std::get<bool*>(options[4].field) == &all.warm);
  CHECK(OptionList().options().empty());
}

TEST_CASE("a field of every type is set from text, and no other field with it") {
  Everything all;
  SUBCASE("double") {
    all.list.set("eta", "-1.5e-3");
    CHECK(all.eta == -1.5e-3);
    all.list.set("eta", "2");
    CHECK(all.eta == 2);
    CHECK(all.steps == 3);
  }
  SUBCASE("int") {
    all.list.set("steps", "-12");
    CHECK(all.steps == -12);
    CHECK(all.calls == 4);
  }
  SUBCASE("int64") {
    all.list.set("calls", "-9223372036854775808");
    CHECK(all.calls == std::numeric_limits<std::int64_t>::min());
    CHECK(all.seed == 5);
  }
  SUBCASE("uint64") {
    all.list.set("seed", "18446744073709551615");
    CHECK(all.seed == std::numeric_limits<std::uint64_t>::max());
    CHECK(all.calls == 4);
  }
  SUBCASE("bool") {
    for (const char* yes : {"true", "yes", "on", "1"}) {
      CAPTURE(yes);
      all.warm = false;
      all.list.set("warm", yes);
      CHECK(all.warm);
    }
    for (const char* no : {"false", "no", "off", "0"}) {
      CAPTURE(no);
      all.warm = true;
      all.list.set("warm", no);
      CHECK_FALSE(all.warm);
    }
    CHECK(all.eta == 0.25);
  }
}

TEST_CASE("infinity is a number") {
  Everything all;
  all.list.set("eta", "inf");
  CHECK(all.eta == infinity);
  CHECK(to_string(all.list.options()[0].field) == "inf");
  all.list.set("eta", "-inf");
  CHECK(all.eta == -infinity);
  all.list.set("eta", "infinity");
  CHECK(all.eta == infinity);
  CHECK_THROWS_WITH(all.list.set("steps", "inf"), "option steps = inf, must be a whole number");
}

TEST_CASE("a field of every type is printed") {
  Everything all;
  const auto printed = [&](std::size_t i) { return to_string(all.list.options()[i].field); };
  CHECK(printed(0) == "0.25");
  CHECK(printed(1) == "3");
  CHECK(printed(2) == "4");
  CHECK(printed(3) == "5");
  CHECK(printed(4) == "false");
  all.steps = std::numeric_limits<int>::min();
  all.calls = std::numeric_limits<std::int64_t>::min();
  all.seed = std::numeric_limits<std::uint64_t>::max();
  all.warm = true;
  CHECK(printed(1) == "-2147483648");
  CHECK(printed(2) == "-9223372036854775808");
  CHECK(printed(3) == "18446744073709551615");
  CHECK(printed(4) == "true");
}

TEST_CASE("what is printed is read back to the last bit") {
  Everything all;
  for (const double value : {1.0 / 3, 0.1, -std::sqrt(2.0), 1e-300, 5e-324, 1.7976931348623157e308, 123456789.0, 0.0}) {
    CAPTURE(value);
    all.eta = value;
    const std::string text = to_string(all.list.options()[0].field);
    all.eta = -1;
    all.list.set("eta", text);
    CHECK(all.eta == value);
  }
}

TEST_CASE("text that is no such value is refused with option, value and what is expected") {
  Everything all;
  struct Bad {
    const char *name, *value, *expected;
  };
  const Bad cases[] = {
      {"eta", "fast", "a number"},
      {"eta", "", "a number"},
      {"eta", "1.5x", "a number"},
      {"eta", " 1", "a number"},
      {"eta", "1,5", "a number"},
      {"eta", "1e999", "a number"},
      {"steps", "2.5", "a whole number"},
      {"steps", "many", "a whole number"},
      {"steps", "2147483648", "a whole number"},
      {"calls", "1e6", "a whole number"},
      {"calls", "9223372036854775808", "a whole number"},
      {"seed", "-1", "a whole number"},
      {"seed", "18446744073709551616", "a whole number"},
      {"warm", "maybe", "true or false"},
      {"warm", "2", "true or false"},
      {"warm", "", "true or false"},
      {"warm", "True", "true or false"},
  };
  for (const Bad& bad : cases) {
    const std::string message =
        std::string("option ") + bad.name + " = " + bad.value + ", must be " + std::string(bad.expected);
    CHECK_THROWS_WITH_AS(all.list.set(bad.name, bad.value), message.c_str(), std::invalid_argument);
  }
}

TEST_CASE("a refused value leaves the field as it was") {
  Everything all;
  all.warm = true;
  CHECK_THROWS(all.list.set("eta", "fast"));
  CHECK(all.eta == 0.25);
  CHECK_THROWS(all.list.set("steps", "2147483648"));
  CHECK(all.steps == 3);
  CHECK_THROWS(all.list.set("eta", "1.5x"));
  CHECK_THROWS(all.list.set("steps", "7.5"));
  CHECK_THROWS(all.list.set("warm", "maybe"));
  CHECK(all.eta == 0.25);
  CHECK(all.steps == 3);
  CHECK(all.warm);
}

TEST_CASE("an unknown option is refused with those that are known") {
  Everything all;
  CHECK_THROWS_WITH_AS(all.list.set("etta", "1"), "option etta is unknown; known are eta, steps, calls, seed, warm",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(all.list.set("", "1"), "option  is unknown; known are eta, steps, calls, seed, warm",
                       std::invalid_argument);
  CHECK_THROWS_AS(all.list.set("Eta", "1"), std::invalid_argument);  // names are taken as they are
  CHECK_THROWS_AS(all.list.set("et", "1"), std::invalid_argument);   // and in full
  CHECK(all.eta == 0.25);
}

}  // namespace hypertape
