#pragma once

#include <vector>

#include "hypertape/hypergradient/estimator.hpp"

namespace hypertape {

/// Hypergradient by iterative differentiation (ITD): the exact derivative in x of f(x, y^D(x)) through D steps of
/// gradient descent from a fixed y^0, maths.md (20), by a reverse sweep with products only. Its error has a part that
/// only more steps D make smaller; the bound counts it to leading order, exactly where g is quadratic in y.
/// Cost: D Gc(g), 1 Gc(f), D JV, D - 1 HV, and D vectors of memory.
class IterativeHypergradient : public DescentEstimator {
 public:
  /// options.steps = D must be given; of the others those of the step and of bounds are read.
  IterativeHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start, std::uint64_t seed);

  bool adapts() const override { return false; }
  void set_accurate(bool) override {}

 private:
  void estimate(const Vec& x, double sigma) override;
  bool bound_again(const Vec& x) override;

  std::vector<Vec> path_;  // y^0 .. y^D
  Vec gradient_, product_x_, product_y_;
};

}  // namespace hypertape
