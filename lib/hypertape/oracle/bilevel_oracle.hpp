#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "hypertape/core/types.hpp"
#include "hypertape/oracle/linear_operator.hpp"

namespace hypertape {

/// A value of f or g with both parts of its gradient.
struct Gradient {
  double value = 0;
  Vec x;
  Vec y;
};

/// A product with the Hessian over x and y together.
struct HessianProduct {
  Vec x;
  Vec y;
};

/// All that a solver knows of  min_x f(x, y*(x)),  y*(x) = argmin_y g(x, y).
///
/// The public functions check their arguments (sizes, finite entries), give outputs their size, and call the private
/// do_... function of the derived class, which may rely on both. Every primitive writes into its output arguments; the
/// overloads that return a vector are conveniences. Outputs must not alias inputs.
///
/// An oracle may keep state between calls (tapes do), so no function is const and one object, with the operator that
/// curvature_at returned, serves one thread at a time: a call while another thread is inside throws std::logic_error,
/// and so does a call of an object that was moved from. Separate objects may be used at the same time, copies as well.
class BilevelOracle {
 public:
  BilevelOracle();
  BilevelOracle(const BilevelOracle& other);
  BilevelOracle& operator=(const BilevelOracle& other);
  BilevelOracle(BilevelOracle&&) noexcept = default;
  BilevelOracle& operator=(BilevelOracle&&) noexcept = default;
  virtual ~BilevelOracle() = default;

  virtual Dims dims() const = 0;

  double f(const Vec& x, const Vec& y);

  /// gx = grad_x f, gy = grad_y f; returns f(x, y), which comes with them.
  double grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy);
  Gradient grad_f(const Vec& x, const Vec& y);

  /// out = grad_y g in R^dy.
  void grad_y_g(const Vec& x, const Vec& y, Vec& out);
  Vec grad_y_g(const Vec& x, const Vec& y);

  /// The map v |-> d2g/dy2 (x, y) v, linearised here once for all its products. It stays valid, whatever else is asked
  /// of the oracle, until the next call of curvature_at.
  LinearOperator& curvature_at(const Vec& x, const Vec& y);

  /// out = d2g/dxdy v in R^dx: the derivative in x of <grad_y g(x, y), v>.
  void cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out);
  Vec cross_product(const Vec& x, const Vec& y, const Vec& v);

  /// Whether the functions below are there. Most solvers need none of them; an oracle without them throws
  /// std::logic_error from each.
  virtual bool has_second_order() const { return false; }

  double g(const Vec& x, const Vec& y);

  /// gx = grad_x g, gy = grad_y g; returns g(x, y).
  double grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy);
  Gradient grad_g(const Vec& x, const Vec& y);

  /// out = d2g/dydx u in R^dy, the adjoint of cross_product: <u, cross_product(v)> = <adjoint_cross_product(u), v>.
  void adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out);
  Vec adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u);

  /// (out_x, out_y) = Hess f(x, y) (p, q), over x and y together; likewise for g.
  void hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y);
  HessianProduct hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q);
  void hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y);
  HessianProduct hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q);

 protected:
  /// Throws std::logic_error if this object was moved from; for functions of derived classes that are not below.
  void require_not_moved_from() const;

  /// From here on the sizes of arguments are checked, and nothing else: for a derived class that throws NotFinite
  /// itself where an entry is not finite. Looking at long arguments in a pass of its own can take as long as a product.
  void check_sizes_only();

 private:
  virtual double do_f(const Vec& x, const Vec& y) = 0;
  virtual double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) = 0;
  virtual void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) = 0;
  virtual LinearOperator& do_curvature_at(const Vec& x, const Vec& y) = 0;
  virtual void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) = 0;

  virtual double do_g(const Vec& x, const Vec& y);
  virtual double do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy);
  virtual void do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out);
  virtual void do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y);
  virtual void do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y);

  /// Where threads meet; null in an object that was moved from. A wrapper that forwards to do_... has that of the
  /// wrapped oracle.
  virtual const std::shared_ptr<OneThread>& place() const { return place_; }
  OneThread::Entry enter() const;

  void require_argument(const char* where, const char* name, const Vec& v, Index expected) const;
  void require_point(const char* where, const Vec& x, const Vec& y) const;

  std::shared_ptr<OneThread> place_;

  friend class CountingOracle;  // forwards to the do_... functions, so that arguments are checked once
};

/// Thrown by an oracle at a point where it is not the function it stands for: a comparison of values of x or y was
/// decided once, when the function was recorded, and would be decided otherwise there.
class FrozenBranch : public std::domain_error {
  using std::domain_error::domain_error;
};

/// f and g themselves, as they were written and without any derivative: what an oracle is verified against.
struct PlainFunctions {
  std::function<double(const Vec& x, const Vec& y)> f;
  std::function<double(const Vec& x, const Vec& y)> g;
};

}  // namespace hypertape
