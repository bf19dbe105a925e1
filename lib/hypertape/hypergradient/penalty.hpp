#pragma once

#include "hypertape/hypergradient/estimator.hpp"

namespace hypertape {

/// Hypergradient from gradients alone (F2BA), maths.md (21): with z near argmin g + f/lambda and y near argmin g,
///   u = grad_x f(x, z) + lambda (grad_x g(x, z) - grad_x g(x, y)).
/// Its bias is O(1/lambda); the bound counts it to leading order, c_y |z - y|. The oracle must have grad_x g
/// (has_second_order). Cost: T Gc(g) for y, T Gc(f) and T Gc(g) for z, 1 Gc(f), 2 Gc(g).
class PenaltyGradient : public HypergradientEstimator {
 public:
  PenaltyGradient(BilevelOracle& oracle, const LowerOptions& options, double lambda, const Point& start, bool certified,
                  std::uint64_t seed);

  void restart_from(const Vec& y) override;

 private:
  void estimate(const Vec& x, double sigma) override;

  double lambda_;
  Vec z_, unused_x_, lower_at_z_, lower_at_y_;
};

}  // namespace hypertape
