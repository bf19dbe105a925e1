#pragma once

#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape::testing {

/// Any oracle, with one kind of call that goes wrong from its n-th time on.
class FaultyOracle final : public BilevelOracle {
 public:
  enum class Kind { value_f, grad_f, grad_y_g, curvature, cross_product };

  FaultyOracle(BilevelOracle& oracle, Kind kind, int from, double wrong)
      : oracle_(oracle), kind_(kind), from_(from), wrong_(wrong) {}

  bool went_wrong() const { return went_wrong_; }
  Dims dims() const override { return oracle_.dims(); }
  bool has_second_order() const override { return oracle_.has_second_order(); }

 private:
  class Curvature final : public LinearOperator {
   public:
    explicit Curvature(FaultyOracle& owner) : owner_(owner) {}
    Index dim() const override { return owner_.dims().y; }
    LinearOperator* right = nullptr;

   private:
    void do_apply(const Vec& v, Vec& out) override {
      right->apply(v, out);
      owner_.spoil(Kind::curvature, out);
    }
    FaultyOracle& owner_;
  };

  bool is_wrong(Kind kind) {
    if (kind != kind_ || ++calls_ < from_) return false;
    return went_wrong_ = true;
  }
  void spoil(Kind kind, Vec& out) {
    if (is_wrong(kind)) out[out.size() / 2] = wrong_;
  }

  double do_f(const Vec& x, const Vec& y) override { return oracle_.f(x, y); }
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
    const double value = oracle_.grad_f(x, y, gx, gy);
    spoil(Kind::grad_f, gy);
    return is_wrong(Kind::value_f) ? wrong_ : value;
  }
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override {
    oracle_.grad_y_g(x, y, out);
    spoil(Kind::grad_y_g, out);
  }
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override {
    curvature_.right = &oracle_.curvature_at(x, y);
    return curvature_;
  }
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override {
    oracle_.cross_product(x, y, v, out);
    spoil(Kind::cross_product, out);
  }
  double do_g(const Vec& x, const Vec& y) override { return oracle_.g(x, y); }
  double do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override { return oracle_.grad_g(x, y, gx, gy); }
  void do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) override {
    oracle_.adjoint_cross_product(x, y, u, out);
  }
  void do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override {
    oracle_.hess_f(x, y, p, q, out_x, out_y);
  }
  void do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override {
    oracle_.hess_g(x, y, p, q, out_x, out_y);
  }

  BilevelOracle& oracle_;
  Kind kind_;
  int from_, calls_ = 0;
  double wrong_;
  bool went_wrong_ = false;
  Curvature curvature_{*this};
};

}  // namespace hypertape::testing
