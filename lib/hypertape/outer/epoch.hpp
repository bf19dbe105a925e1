#pragma once

#include "hypertape/core/types.hpp"

namespace hypertape {

/// An epoch of RAHGD, maths.md (22): from where it began, without momentum, until it has gone far.
class Epoch {
 public:
  explicit Epoch(const Vec& start) : x_(start), x_previous_(start), w_(start) {}

  /// Begins anew at a point.
  void begin(const Vec& at) {
    x_ = x_previous_ = w_ = at;
    steps_ = 0;
    travelled_ = 0;
  }

  /// w, where the next hypergradient is to be taken; line 4. At first it is where the epoch began.
  const Vec& extrapolate(double momentum) {
    w_ = x_ + momentum * (x_ - x_previous_);
    return w_;
  }

  /// x <- w - eta u, line 8. Returns |x_{k+1} - x_k|^2.
  double descend(double eta, const Vec& u) {
    x_previous_.swap(x_);
    x_ = w_ - eta * u;
    const double step = (x_ - x_previous_).squaredNorm();
    travelled_ += step;
    ++steps_;
    return step;
  }

  const Vec& x() const { return x_; }
  const Vec& x_previous() const { return x_previous_; }

  /// Steps done, k of line 9; and whether k sum |x_{i+1} - x_i|^2 > B^2, line 10.
  int steps() const { return steps_; }
  bool has_gone(double B) const { return steps_ * travelled_ > B * B; }

 private:
  Vec x_, x_previous_, w_;
  int steps_ = 0;
  double travelled_ = 0;
};

}  // namespace hypertape
