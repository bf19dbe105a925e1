#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "problems/problem.hpp"

namespace hypertape::problems {

/// What a command line can say of a problem. A problem refuses what it has no use for.
struct ProblemArguments {
  std::uint64_t seed = 1;
  std::optional<std::string> instance{};  ///< quadratic, quadratic_minimax: a JSON file
  std::optional<double> kappa{};          ///< these and quartic: condition number of the lower level
};

struct ProblemEntry {
  std::string name;
  std::string summary;
  Problem (*make)(const ProblemArguments&);
};

/// Every shipped problem.
const std::vector<ProblemEntry>& registry();

/// The problem of that name; an unknown name throws std::invalid_argument with the known ones.
Problem make_problem(const std::string& name, const ProblemArguments& arguments = {});

}  // namespace hypertape::problems
