#pragma once

#include <optional>

#include "hypertape/hypergradient/estimator.hpp"

namespace hypertape {

/// Hypergradient from gradients alone (F2BA), maths.md (21): with z near argmin g + f/lambda and y near argmin g,
///   u = grad_x f(x, z) + lambda (grad_x g(x, z) - grad_x g(x, y)).
/// Its bias is O(1/lambda); the bound counts it to leading order, gain_y |z - y| in the energy norm. The oracle must
/// have grad_x g (has_second_order). Cost: T Gc(g) for y, T Gc(f) and T Gc(g) for z, 1 Gc(f), 2 Gc(g).
class PenaltyGradient : public DescentEstimator {
 public:
  PenaltyGradient(BilevelOracle& oracle, const LowerOptions& options, double lambda, const Point& start,
                  std::uint64_t seed);

  void restart_from(const Vec& y) override;
  void set_accurate(bool accurate) override;

 private:
  /// The problem whose lower level is g + f/lambda.
  class Penalised final : public BilevelOracle {
   public:
    Penalised(BilevelOracle& oracle, double lambda) : oracle_(oracle), lambda_(lambda) {}
    Dims dims() const override { return oracle_.dims(); }

   private:
    double do_f(const Vec& x, const Vec& y) override { return oracle_.f(x, y); }
    double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override { return oracle_.grad_f(x, y, gx, gy); }
    void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override;
    LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override { return oracle_.curvature_at(x, y); }
    void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override {
      oracle_.cross_product(x, y, v, out);
    }

    BilevelOracle& oracle_;
    double lambda_;
    Vec gx_, gy_;
  };

  void estimate(const Vec& x, double sigma) override;
  bool bound_again(const Vec& x) override;
  void bound(const Vec& x);

  /// Sees to it that z can be solved for, with steps half as long as those for y: f/lambda adds to the curvature of g,
  /// by at most as much for every lambda that is of use.
  bool prepare_z(const Vec& x);

  LowerOptions given_;
  double lambda_;
  Penalised penalised_;
  std::optional<AcceleratedLower> z_;
  double step_ = 0;   // for y, when z_ was made
  double apart_ = 0;  // |z - y| in the energy norm
  Vec start_z_, x_at_z_, x_at_y_, y_at_z_, y_at_y_;
};

}  // namespace hypertape
