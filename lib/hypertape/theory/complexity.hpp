#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hypertape::theory {

/// kappa^a epsilon^b
struct Exponents {
  double kappa = 0;
  double epsilon = 0;
  bool operator==(const Exponents&) const = default;
};

/// Upper bounds of the number of oracle calls, up to constants and logarithms; none where the method makes no such
/// call. Of minimax methods, where g = -f, the paper counts gradients together: they are under gc_g.
struct Complexity {
  std::optional<Exponents> gc_f;  ///< gradients of f
  std::optional<Exponents> gc_g;  ///< gradients of g
  std::optional<Exponents> jv;    ///< products d2g/dxdy v
  std::optional<Exponents> hv;    ///< products d2g/dy2 v
};

/// The paper's tables 1 and 2 and, for minimax problems, theorem 5.2 with the comparison after it: ba, aid, itd, rahgd
/// for first-order points; paid, prahgd and, minimax, pragda, imcn for second-order points.
const Complexity& complexity(std::string_view method);

/// The names that `complexity` knows, in the order above.
std::vector<std::string> methods();

/// Calls as predicted, with all hidden constants and logarithms 1; 0 where the method makes no such call.
struct PredictedCalls {
  double gc_f = 0;
  double gc_g = 0;
  double jv = 0;
  double hv = 0;
  double total() const { return gc_f + gc_g + jv + hv; }
};

/// kappa >= 1, epsilon > 0. Only ratios mean anything: between two kappas, two epsilons or two methods.
PredictedCalls predicted(std::string_view method, double kappa, double epsilon);

/// An exponent measured.
struct Slope {
  double slope = 0;
  double error = 0;  ///< standard error of the slope; not a number with 2 points
  int points = 0;
};

/// The a of y = c x^a by least squares in logarithms, maths.md (41). At least 2 points, not all x equal, all positive.
Slope fit_slope(std::span<const double> x, std::span<const double> y);

}  // namespace hypertape::theory
