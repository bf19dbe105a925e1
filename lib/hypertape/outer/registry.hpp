#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hypertape/outer/solver.hpp"

namespace hypertape {

/// Options by name, as a command line or a file gives them.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// An option of a solver with its default.
struct SolverOption {
  std::string name;
  std::string value;
  std::string help;
};

/// Any solver, by name.
struct SolverEntry {
  std::string name;
  std::string summary;
  bool minimax = false;  ///< for minimax problems (g = -f) only
  std::vector<SolverOption> options;
  std::function<Result(BilevelOracle&, const Settings&, const Point& start, const Observer&)> solve;

  bool has_option(const std::string& option) const;
};

/// Every solver.
const std::vector<SolverEntry>& solvers();

/// The solver of that name; an unknown name throws std::invalid_argument with the known ones.
const SolverEntry& solver(const std::string& name);

}  // namespace hypertape
