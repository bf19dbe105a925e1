#include "hypertape/verify/report.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hypertape/core/require.hpp"

namespace hypertape {

const Check& Report::check(const std::string& name) const {
  for (const Check& c : checks)
    if (c.name == name) return c;
  throw std::out_of_range(text("no check named ", name));
}

std::string to_table(const Report& report) {
  std::string out = text(report.problem, ": ", report.passed ? "passed" : "FAILED", "\n");
  char line[160];
  std::snprintf(line, sizeof line, "  %-24s %-7s %7s %13s %14s\n", "check", "verdict", "points", "worst error",
                "order (wants)");
  out += line;
  for (const Check& c : report.checks) {
    char order[32] = "-";
    if (std::isfinite(c.expected_order)) {
      if (std::isfinite(c.observed_order))
        std::snprintf(order, sizeof order, "%.2f (%.0f)", c.observed_order, c.expected_order);
      else
        std::snprintf(order, sizeof order, "exact (%.0f)", c.expected_order);
    }
    std::snprintf(line, sizeof line, "  %-24s %-7s %7d %13.1e %14s\n", c.name.c_str(), c.passed ? "ok" : "FAILED",
                  c.points, c.worst_relative_error, order);
    out += line;
    if (!c.message.empty()) out += text("    ", c.message, "\n");
  }
  return out;
}

std::string to_json(const std::vector<Report>& reports) {
  auto array = nlohmann::ordered_json::array();
  for (const Report& report : reports) {
    auto checks = nlohmann::ordered_json::array();
    for (const Check& c : report.checks) {
      // JSON has no infinity: a deviation beyond all bounds is written as the largest number.
      const double error =
          std::isfinite(c.worst_relative_error) ? c.worst_relative_error : std::numeric_limits<double>::max();
      nlohmann::ordered_json order = nullptr;
      if (std::isfinite(c.observed_order)) order = c.observed_order;
      checks.push_back({{"name", c.name},
                        {"passed", c.passed},
                        {"points", c.points},
                        {"worst_relative_error", error},
                        {"observed_order", order},
                        {"message", c.message}});
    }
    array.push_back({{"problem", report.problem}, {"passed", report.passed}, {"checks", checks}});
  }
  return array.dump(2) + "\n";
}

}  // namespace hypertape
