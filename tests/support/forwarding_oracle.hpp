#pragma once

#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape::testing {

enum class Call { f, grad_f, grad_y_g, linearise, curvature, cross_product, diagonal, other };

/// Any oracle, with something done around each of its calls.
class ForwardingOracle : public BilevelOracle {
 public:
  explicit ForwardingOracle(BilevelOracle& oracle) : oracle_(oracle) {}
  Dims dims() const override { return oracle_.dims(); }
  bool has_second_order() const override { return oracle_.has_second_order(); }

 private:
  virtual void before() {}
  /// What came out may be changed: the value, or a vector.
  virtual void after(Call, double* /*value*/, Vec* /*out*/) {}

  class Curvature final : public LinearOperator {
   public:
    explicit Curvature(ForwardingOracle& owner) : owner_(owner) {}
    Index dim() const override { return owner_.dims().y; }
    bool has_diagonal() const override { return inner->has_diagonal(); }
    LinearOperator* inner = nullptr;

   private:
    void do_apply(const Vec& v, Vec& out) override {
      owner_.before();
      inner->apply(v, out);
      owner_.after(Call::curvature, nullptr, &out);
    }
    void do_diagonal(Vec& out) override {
      owner_.before();
      inner->diagonal(out);
      owner_.after(Call::diagonal, nullptr, &out);
    }
    ForwardingOracle& owner_;
  };

  double do_f(const Vec& x, const Vec& y) override {
    before();
    double value = oracle_.f(x, y);
    after(Call::f, &value, nullptr);
    return value;
  }
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
    before();
    double value = oracle_.grad_f(x, y, gx, gy);
    after(Call::grad_f, &value, &gy);
    return value;
  }
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override {
    before();
    oracle_.grad_y_g(x, y, out);
    after(Call::grad_y_g, nullptr, &out);
  }
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override {
    before();
    curvature_.inner = &oracle_.curvature_at(x, y);
    after(Call::linearise, nullptr, nullptr);
    return curvature_;
  }
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override {
    before();
    oracle_.cross_product(x, y, v, out);
    after(Call::cross_product, nullptr, &out);
  }
  double do_g(const Vec& x, const Vec& y) override {
    before();
    double value = oracle_.g(x, y);
    after(Call::other, &value, nullptr);
    return value;
  }
  double do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
    before();
    double value = oracle_.grad_g(x, y, gx, gy);
    after(Call::other, &value, &gy);
    return value;
  }
  void do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) override {
    before();
    oracle_.adjoint_cross_product(x, y, u, out);
    after(Call::other, nullptr, &out);
  }
  void do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override {
    before();
    oracle_.hess_f(x, y, p, q, out_x, out_y);
    after(Call::other, nullptr, &out_x);
  }
  void do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override {
    before();
    oracle_.hess_g(x, y, p, q, out_x, out_y);
    after(Call::other, nullptr, &out_x);
  }

  BilevelOracle& oracle_;
  Curvature curvature_{*this};
};

}  // namespace hypertape::testing
