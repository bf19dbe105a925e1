#pragma once

#include "hypertape/hypergradient/estimator.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"

namespace hypertape {

/// Hypergradient by implicit differentiation (AID), maths.md (2):
///   u = grad_x f - d2g/dxdy v,   d2g/dy2 v = grad_y f,   at (x, y) with y near y*(x),
/// y by (accelerated) gradient descent and v by conjugate gradients, both from where they were. Error bound (16).
/// Cost: T Gc(g), 1 Gc(f), 1 JV, T' HV and one more to start from v and for each refresh of the residual.
class ImplicitHypergradient : public HypergradientEstimator {
 public:
  ImplicitHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start, bool certified,
                        std::uint64_t seed);

  const Vec& v() const { return v_; }

  /// v, from where the next linear solve starts.
  void set_v(const Vec& v) { v_ = v; }

  void restart_from(const Vec& y) override;
  bool adapts() const override { return options_.steps == 0 || options_.products == 0; }

  /// Steps for y from now on.
  void set_steps(int steps) { options_.steps = given_.steps = steps; }

 private:
  void estimate(const Vec& x, double sigma) override;

  Vec v_, product_;
  CgWorkspace cg_;
};

}  // namespace hypertape
