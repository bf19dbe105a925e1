#include "hypertape/oracle/bilevel_oracle.hpp"

#include <stdexcept>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

void shape(const Dims& dims, Vec& out_x, Vec& out_y) {
  out_x.resize(dims.x);
  out_y.resize(dims.y);
}

[[noreturn]] void not_provided(const char* what) {
  throw std::logic_error(text("this oracle does not provide ", what, " (has_second_order() is false)"));
}

}  // namespace

BilevelOracle::BilevelOracle() : place_(std::make_shared<OneThread>()) {}

BilevelOracle::BilevelOracle(const BilevelOracle& other)
    : place_(other.place_ ? std::make_shared<OneThread>() : nullptr) {}

BilevelOracle& BilevelOracle::operator=(const BilevelOracle& other) {
  if (!other.place_)
    place_.reset();
  else if (!place_)
    place_ = std::make_shared<OneThread>();
  return *this;
}

void BilevelOracle::require_not_moved_from() const {
  if (!place()) throw std::logic_error("this oracle was moved from: use the one that it was moved to");
}

void BilevelOracle::check_sizes_only() { place_->sizes_only = true; }

void BilevelOracle::require_argument(const char* where, const char* name, const Vec& v, Index expected) const {
  hypertape::require_argument(place().get(), where, name, v, expected);
}

void BilevelOracle::require_point(const char* where, const Vec& x, const Vec& y) const {
  require_argument(where, "x", x, dims().x);
  require_argument(where, "y", y, dims().y);
}

OneThread::Entry BilevelOracle::enter() const {
  require_not_moved_from();
  return OneThread::Entry(*place());
}

double BilevelOracle::f(const Vec& x, const Vec& y) {
  const auto entry = enter();
  require_point("f", x, y);
  return do_f(x, y);
}

double BilevelOracle::grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  const auto entry = enter();
  require_point("grad_f", x, y);
  shape(dims(), gx, gy);
  return do_grad_f(x, y, gx, gy);
}

Gradient BilevelOracle::grad_f(const Vec& x, const Vec& y) {
  Gradient out;
  out.value = grad_f(x, y, out.x, out.y);
  return out;
}

void BilevelOracle::grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  const auto entry = enter();
  require_point("grad_y_g", x, y);
  out.resize(dims().y);
  do_grad_y_g(x, y, out);
}

Vec BilevelOracle::grad_y_g(const Vec& x, const Vec& y) {
  Vec out;
  grad_y_g(x, y, out);
  return out;
}

LinearOperator& BilevelOracle::curvature_at(const Vec& x, const Vec& y) {
  const auto entry = enter();
  require_point("curvature_at", x, y);
  LinearOperator& out = do_curvature_at(x, y);
  if (out.place_ != place()) out.place_ = place();
  return out;
}

void BilevelOracle::cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  const auto entry = enter();
  require_point("cross_product", x, y);
  require_argument("cross_product", "v", v, dims().y);
  out.resize(dims().x);
  do_cross_product(x, y, v, out);
}

Vec BilevelOracle::cross_product(const Vec& x, const Vec& y, const Vec& v) {
  Vec out;
  cross_product(x, y, v, out);
  return out;
}

double BilevelOracle::g(const Vec& x, const Vec& y) {
  const auto entry = enter();
  require_point("g", x, y);
  return do_g(x, y);
}

double BilevelOracle::grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  const auto entry = enter();
  require_point("grad_g", x, y);
  shape(dims(), gx, gy);
  return do_grad_g(x, y, gx, gy);
}

Gradient BilevelOracle::grad_g(const Vec& x, const Vec& y) {
  Gradient out;
  out.value = grad_g(x, y, out.x, out.y);
  return out;
}

void BilevelOracle::adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) {
  const auto entry = enter();
  require_point("adjoint_cross_product", x, y);
  require_argument("adjoint_cross_product", "u", u, dims().x);
  out.resize(dims().y);
  do_adjoint_cross_product(x, y, u, out);
}

Vec BilevelOracle::adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u) {
  Vec out;
  adjoint_cross_product(x, y, u, out);
  return out;
}

void BilevelOracle::hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  const auto entry = enter();
  require_point("hess_f", x, y);
  require_argument("hess_f", "p", p, dims().x);
  require_argument("hess_f", "q", q, dims().y);
  shape(dims(), out_x, out_y);
  do_hess_f(x, y, p, q, out_x, out_y);
}

HessianProduct BilevelOracle::hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q) {
  HessianProduct out;
  hess_f(x, y, p, q, out.x, out.y);
  return out;
}

void BilevelOracle::hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  const auto entry = enter();
  require_point("hess_g", x, y);
  require_argument("hess_g", "p", p, dims().x);
  require_argument("hess_g", "q", q, dims().y);
  shape(dims(), out_x, out_y);
  do_hess_g(x, y, p, q, out_x, out_y);
}

HessianProduct BilevelOracle::hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q) {
  HessianProduct out;
  hess_g(x, y, p, q, out.x, out.y);
  return out;
}

double BilevelOracle::do_g(const Vec&, const Vec&) { not_provided("the value of g"); }
double BilevelOracle::do_grad_g(const Vec&, const Vec&, Vec&, Vec&) { not_provided("grad_x g"); }
void BilevelOracle::do_adjoint_cross_product(const Vec&, const Vec&, const Vec&, Vec&) { not_provided("d2g/dydx u"); }
void BilevelOracle::do_hess_f(const Vec&, const Vec&, const Vec&, const Vec&, Vec&, Vec&) { not_provided("Hess f"); }
void BilevelOracle::do_hess_g(const Vec&, const Vec&, const Vec&, const Vec&, Vec&, Vec&) { not_provided("Hess g"); }

}  // namespace hypertape
