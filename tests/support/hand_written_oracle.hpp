#pragma once

#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape::testing {

/// Bugs that people write into derivatives.
enum class Bug {
  none,
  coefficient_in_grad_y_g,     ///< the quartic term differentiated as y^3 / 2
  factor_in_grad_y_f,          ///< twice the gradient
  missing_term_in_grad_x_f,    ///< the coupling term forgotten
  missing_term_in_curvature,   ///< the curvature of the quartic term forgotten
  transposed_cross_product,    ///< C instead of C'
  sign_of_cross_product,       ///< the minus forgotten
  frozen_branch_in_grad_y_g,   ///< max(y_0, 0)^3 as it is for y_0 < 0
  frozen_branch_in_curvature,  ///< the same, in the second derivative only
  asymmetric_curvature,        ///< a skew part added
  not_convex,                  ///< g has a direction of negative curvature, derivatives are right
  sign_of_grad_x_f,
};

/// f and g with derivatives written by hand, for tests of whatever takes an oracle. dims (3, 3):
///
///   g = sum_i (a_i y_i^2 / 2 + y_i^4 / 4) - y'C x + max(y_0, 0)^3,   C not symmetric
///   f = |y - d|^2 / 2 + cos(x_0) y_1 + x_2 y_0 y_2 + |x|^2 / 2
class HandWrittenOracle final : public BilevelOracle {
 public:
  explicit HandWrittenOracle(Bug bug = Bug::none);

  Dims dims() const override { return {3, 3}; }
  PlainFunctions plain() const;

 private:
  class Curvature final : public LinearOperator {
   public:
    Index dim() const override { return 3; }
    Mat matrix;

   private:
    void do_apply(const Vec& v, Vec& out) override { out = matrix * v; }
  };

  double do_f(const Vec& x, const Vec& y) override;
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override;
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override;
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override;

  Bug bug_;
  Vec a_{{1.0, 2.0, 3.0}}, d_{{0.5, -0.5, 1.0}};
  Mat C_{{1.0, 0.5, -0.25}, {0.0, 2.0, 0.75}, {-1.0, 0.125, 1.5}};
  Curvature curvature_;
};

}  // namespace hypertape::testing
