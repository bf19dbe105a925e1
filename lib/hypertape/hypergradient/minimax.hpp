#pragma once

#include "hypertape/hypergradient/estimator.hpp"

namespace hypertape {

/// For minimax problems, g = -f, where grad_y f(x, y*(x)) = 0 and grad Phi(x) = grad_x f(x, y*(x)) by Danskin's
/// theorem:
///   u = grad_x f(x, y),   |u - grad Phi| <= |d2f/dxdy| |grad_y f| / mu.
/// No products at all, so mu and l cannot be estimated and must be given; |d2f/dxdy| <= l unless options.cross says
/// otherwise. Cost: T Gc(g), 1 Gc(f).
class MinimaxGradient : public HypergradientEstimator {
 public:
  /// `simultaneous`: u is taken at the y of the call before, and one step of y follows (gradient descent ascent);
  /// options.steps must be positive then.
  MinimaxGradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start, bool certified,
                  bool simultaneous = false);

 private:
  void estimate(const Vec& x, double sigma) override;

  bool simultaneous_;
};

/// The options with everything filled in that would need products to find out; `who` is named if mu or l is missing.
LowerOptions without_products(LowerOptions options, const char* who);

}  // namespace hypertape
