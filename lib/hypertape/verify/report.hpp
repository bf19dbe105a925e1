#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace hypertape {

/// The verdict of one check over all points.
struct Check {
  std::string name;
  bool passed = true;               ///< nothing wrong was found
  int points = 0;                   ///< at how many points it was made
  double worst_relative_error = 0;  ///< largest deviation from the reference, relative to its size
  double observed_order = NAN;      ///< rate of the Taylor remainder, if there is one to observe
  double expected_order = NAN;      ///< 2 or 3
  std::string message{};            ///< what is wrong, what prevented the check, or a figure worth knowing

  /// False if it could not be made at any point. Such a check accuses nobody, and vouches for nothing.
  bool checked() const { return points > 0; }
};

struct Report {
  std::string problem;
  bool passed = true;  ///< no check failed; those that could not be made are in unchecked()
  std::vector<Check> checks;

  /// The names of checks that could not be made at any point, `a, b`; empty if there are none.
  std::string unchecked() const;

  /// The check of that name; throws std::out_of_range if there is none.
  const Check& check(const std::string& name) const;
};

/// A table for a terminal: a line per check, and a line for each message. The first line has the verdict, and names
/// what could not be checked.
std::string to_table(const Report& report);

/// An array of {problem, passed, checks: [{name, passed, checked, points, worst_relative_error, observed_order,
/// message}]}; observed_order is null where there is none.
std::string to_json(const std::vector<Report>& reports);

}  // namespace hypertape
