#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hypertape/oracle/bilevel_oracle.hpp"
#include "hypertape/verify/differences.hpp"
#include "hypertape/verify/report.hpp"

namespace hypertape {

struct VerifyOptions {
  std::string problem = "problem";  ///< the name in the report
  std::uint64_t seed = 1;
  int points = 12;                        ///< random points, centre + scale * N(0, I), scales taken in turn
  std::vector<double> scales{0.1, 1, 2};  ///< each positive
  Point centre{};                         ///< empty: zeros
  std::vector<Point> more_points{};       ///< checked besides the random ones, such as one for every branch
  int directions = 3;                     ///< random directions at each point
  bool hypergradient = true;              ///< solves the lower level to 1e-12 some fifty times for each point
};

/// Every derivative of `oracle`, checked against the functions themselves, which are never taped (docs/maths.md,
/// "Verification"):
///
/// - values, gradients and second-order products against extrapolated central differences of f and g;
/// - the rate of their Taylor remainders: h^2 for a right gradient, h^3 for a right second derivative, one less else;
/// - symmetry of d2g/dy2, the adjoint identity of d2g/dxdy, strong convexity (the smallest Ritz value must be
/// positive);
/// - branches: a derivative that is right at some points and wrong at others does not follow a branch of its function;
/// - the hypergradient at y*(x) against differences of Phi(x) = f(x, y*(x)).
///
/// A failed check says what the numbers look like: a flipped sign, a wrong factor, a transposed product, a frozen
/// branch, a wrong term and the entry where it shows.
Report verify(BilevelOracle& oracle, const PlainFunctions& plain, const VerifyOptions& options = {});

/// The same for a problem that has its own plain functions, as taped problems do.
template <class Problem>
requires requires(const Problem& p) { p.plain(); }
Report verify(Problem& problem, const VerifyOptions& options = {}) { return verify(problem, problem.plain(), options); }

}  // namespace hypertape
