#include "hypertape/verify/report.hpp"

#include <iomanip>
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

std::string Report::unchecked() const {
  std::string names;
  for (const Check& c : checks)
    if (!c.checked()) names += (names.empty() ? "" : ", ") + c.name;
  return names;
}

std::string to_table(const Report& report) {
  std::ostringstream out = text_stream();
  const std::string unchecked = report.unchecked();
  out << report.problem << ": " << (report.passed ? "passed" : "FAILED") << (unchecked.empty() ? "" : ", not checked: ")
      << unchecked << "\n";
  const auto line = [&](const auto& check, const auto& verdict, const auto& points, const auto& error,
                        const std::string& order) {
    out << "  " << std::left << std::setw(24) << check << " " << std::setw(11) << verdict << std::right << " "
        << std::setw(7) << points << " " << std::setw(13) << error << " " << std::setw(14) << order << "\n";
  };
  line("check", "verdict", "points", "worst error", "order (wants)");
  for (const Check& c : report.checks) {
    std::string order = "-";
    if (c.checked() && std::isfinite(c.expected_order)) {
      std::ostringstream observed = text_stream();
      observed << std::fixed << std::setprecision(2) << c.observed_order;
      order = text(std::isfinite(c.observed_order) ? observed.str() : "exact", " (", c.expected_order, ")");
    }
    std::ostringstream error = text_stream();
    error << std::scientific << std::setprecision(1) << c.worst_relative_error;
    line(c.name,
         !c.passed     ? "FAILED"
         : c.checked() ? "ok"
                       : "not checked",
         c.points, c.checked() ? error.str() : "-", order);
    if (!c.message.empty()) out << "    " << c.message << "\n";
  }
  return out.str();
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
                        {"checked", c.checked()},
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
