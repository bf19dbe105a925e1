#include "hypertape/verify/report.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/comma_locale.hpp"

using namespace hypertape;

namespace {

Report sample() {
  Report report{"sample", false, {}};
  report.checks.push_back(
      {.name = "grad_x f", .points = 12, .worst_relative_error = 1e-9, .observed_order = 2.01, .expected_order = 2});
  report.checks.push_back({.name = "grad_y g",
                           .passed = false,
                           .points = 3,
                           .worst_relative_error = std::numeric_limits<double>::infinity(),
                           .expected_order = 2,
                           .message = "has the wrong sign"});
  return report;
}

}  // namespace

TEST_CASE("the table shows verdicts, orders and messages") {
  const std::string table = to_table(sample());
  CHECK(table.find("sample: FAILED") == 0);
  CHECK(table.find("2.01 (2)") != std::string::npos);
  CHECK(table.find("exact (2)") != std::string::npos);
  CHECK(table.find("    has the wrong sign\n") != std::string::npos);
}

TEST_CASE("what could not be checked is no failure, and is said at once") {
  Report report = sample();
  report.passed = true;
  report.checks[1] = {.name = "hypergradient", .expected_order = 2, .message = "not checked at 3 of 3 points: why"};
  CHECK_FALSE(report.check("hypergradient").checked());
  CHECK(report.unchecked() == "hypergradient");
  CHECK(sample().unchecked().empty());
  const std::string table = to_table(report);
  CHECK(table.find("sample: passed, not checked: hypergradient\n") == 0);
  CHECK(table.find("hypergradient            not checked       0             -              -\n") != std::string::npos);
  CHECK(table.find("points: why\n") != std::string::npos);
  const auto json = nlohmann::json::parse(to_json({report}));
  CHECK(json[0]["passed"] == true);
  CHECK(json[0]["checks"][0]["checked"] == true);
  CHECK(json[0]["checks"][1]["checked"] == false);
}

TEST_CASE("table and JSON are the same in a locale with commas") {
  Report report = sample();
  report.checks[0].points = 12345;
  const std::string table = to_table(report), json = to_json({report});
  const testing::CommaLocale locale;
  CHECK(to_table(report) == table);
  CHECK(to_json({report}) == json);
}

TEST_CASE("JSON holds what the table shows, and only numbers that JSON has") {
  const auto json = nlohmann::json::parse(to_json({sample(), sample()}));
  REQUIRE(json.size() == 2);
  CHECK(json[0]["problem"] == "sample");
  CHECK(json[0]["passed"] == false);
  const auto& checks = json[1]["checks"];
  CHECK(checks[0]["name"] == "grad_x f");
  CHECK(checks[0]["passed"] == true);
  CHECK(checks[0]["points"] == 12);
  CHECK(checks[0]["worst_relative_error"] == 1e-9);
  CHECK(checks[0]["observed_order"] == 2.01);
  CHECK(checks[1]["observed_order"].is_null());
  CHECK(checks[1]["worst_relative_error"].is_number());
}

TEST_CASE("a check is found by its name") {
  CHECK(sample().check("grad_y g").points == 3);
  CHECK_THROWS_AS(sample().check("no such"), std::out_of_range);
}
