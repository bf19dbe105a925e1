#include "hypertape/verify/report.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

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
