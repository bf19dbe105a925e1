#pragma once

#include "hypertape/hypergradient/estimator.hpp"

namespace hypertape {

/// For minimax problems, g = -f, where grad_y f(x, y*(x)) = 0 and grad Phi(x) = grad_x f(x, y*(x)) by Danskin's
/// theorem:
///   u = grad_x f(x, y),   |u - grad Phi| <= gain_v |y - y*| in the energy norm <= |d2f/dxdy| |grad_y f| / mu.
/// No products at all if mu and l are given; |d2f/dxdy| <= l then, unless options.cross says otherwise. Without them,
/// what is missing is measured by products. Cost: T Gc(g), 1 Gc(f).
class MinimaxGradient : public DescentEstimator {
 public:
  /// `simultaneous`: u is taken at the y of the call before, and one step of y follows (gradient descent ascent);
  /// options.steps must be given then.
  MinimaxGradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start, std::uint64_t seed,
                  bool simultaneous = false);

 private:
  void estimate(const Vec& x, double sigma) override;
  bool bound_again(const Vec& x) override;

  bool simultaneous_, products_;
};

}  // namespace hypertape
