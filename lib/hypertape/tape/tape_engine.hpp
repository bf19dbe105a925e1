#pragma once

#include "hypertape/core/types.hpp"
#include "hypertape/tape/tape_options.hpp"

namespace hypertape {

/// A recorded function of (x, y) with its derivatives. Results have their sizes already. Throws FrozenBranch where the
/// recording is not the function.
class TapeEngine {
 public:
  virtual ~TapeEngine() = default;

  virtual EngineSize size() const = 0;

  virtual double value(const Vec& x, const Vec& y) = 0;

  /// Both gradients; returns the value.
  virtual double gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y) = 0;

  /// The gradient over y, many times for one x.
  virtual void gradient_y(const Vec& x, const Vec& y, Vec& out) = 0;

  /// d2/dy2 at a point, for any number of products, whatever else is asked in between.
  virtual void linearise(const Vec& x, const Vec& y) = 0;
  virtual void curvature(const Vec& v, Vec& out) = 0;

  /// d2/dxdy v, and its adjoint d2/dydx u.
  virtual void cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x) = 0;
  virtual void adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y) = 0;

  /// The whole Hessian times (p, q).
  virtual void hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) = 0;
};

}  // namespace hypertape
