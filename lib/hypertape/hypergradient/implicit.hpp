#pragma once

#include "hypertape/hypergradient/estimator.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"

namespace hypertape {

/// Hypergradient by implicit differentiation (AID), maths.md (2):
///   u = grad_x f - d2g/dxdy v,   d2g/dy2 v = grad_y f,   at (x, y) with y near y*(x),
/// y by (accelerated) gradient descent and v by conjugate gradients, both from where they were. Error bound (16).
/// Cost: T Gc(g), 1 Gc(f), 1 JV, T' HV and one more to start from v and for each refresh of the residual.
class ImplicitHypergradient : public DescentEstimator {
 public:
  ImplicitHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start, std::uint64_t seed);

  const Vec& v() const { return v_; }

  /// v, from where the next linear solve starts.
  void set_v(const Vec& v) { v_ = v; }

  void restart_from(const Vec& y) override;
  bool adapts() const override { return DescentEstimator::adapts() || !products_ || accurate_; }
  void set_accurate(bool accurate) override;
  void set_corrected(bool corrected) override { corrected_ = corrected; }

  /// Steps for y from now on.
  void set_steps(int steps) { lower_.set_steps(steps); }

 private:
  void estimate(const Vec& x, double sigma) override;
  bool bound_again(const Vec& x) override;

  /// How far conjugate gradients go: a number of steps, or half of sigma for the error that v makes in u.
  CgOptions wanted_of_v(double sigma) const;

  std::optional<int> products_;
  bool accurate_ = false, corrected_ = false;
  Vec v_, product_;
  CgWorkspace cg_;
};

}  // namespace hypertape
