#pragma once

#include <functional>

#include "hypertape/core/types.hpp"

namespace hypertape {
using Value = std::function<double(const Vec& x, const Vec& y)>;

/// A number found by differences, with an estimate of its error (truncation and rounding together).
struct Estimate {
  double value = 0;
  double error = 0;
};

/// phi(0) for an even function phi known at h > 0 only, by Richardson extrapolation over halved steps from h0: the
/// first derivative from phi(h) = (F(h) - F(-h)) / (2 h), a mixed second one from phi(h) = (F(h,h) - F(h,-h) - F(-h,h)
/// + F(-h,-h)) / (4 h^2). `noise` is that of F and `order` the power of h it is divided by. The step is chosen by the
/// estimate's own consistency, so there is no epsilon to pick.
Estimate extrapolate(const std::function<double(double h)>& phi, double h0, double noise, int order);

/// The size of the rounding noise in values F(t) near t = 0, from a difference table of values a tiny step apart (after
/// More and Wild): differences of high order cancel every smooth function and leave the noise.
double noise_level(const std::function<double(double t)>& F, double step);

/// The order p at which a remainder R(h) = O(h^p) falls: the slope of log R against log h over the three smallest of
/// the halved steps from h0 at which R stands clear of `noise`. Not a number when there are no three: then R is zero up
/// to rounding.
double observed_order(const std::function<double(double h)>& remainder, double h0, double noise);

/// Derivatives of a function at a point, along given directions, by its values alone. `noise` is what noise() says.
class Differences {
 public:
  /// Refers to both, which must outlive it.
  Differences(const Value& F, const Point& at);

  double noise(const Point& d) const;

  /// <grad F, d>, and <d, Hess F e>.
  Estimate first(const Point& d, double noise) const;
  Estimate second(const Point& d, const Point& e, double noise) const;

  /// The order of F(z + h d) - F(z) - h claimed: 2 if claimed = <grad F, d>, else 1.
  double first_order(const Point& d, double claimed, double noise) const;

  /// The order of F(z + h d + h e) - F(z + h d) - F(z + h e) + F(z) - h^2 claimed: 3 if claimed = <d, Hess F e>,
  /// else 2.
  double second_order(const Point& d, const Point& e, double claimed, double noise) const;

  /// What rounding alone can make of a difference quotient of first or second order.
  double floor(int order, double noise) const;

 private:
  double value(double a, const Point& d) const;
  double value(double a, const Point& d, double b, const Point& e) const;

  const Value& F_;
  const Point& at_;
  double h0_;
};

}  // namespace hypertape
