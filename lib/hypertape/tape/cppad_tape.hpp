#pragma once

#include <cstddef>
#include <string>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/core/types.hpp"
#include "hypertape/tape/recording.hpp"
#include "hypertape/tape/tape_options.hpp"

namespace hypertape {

/// A recording as a tape of CppAD, optimised, and swept at any point: value, gradient, Hessian products. z stands for y
/// or for (x, y), by `independent`. `name` is the function's in messages. Works inside a TapeSlot.
class CppadTape {
 public:
  CppadTape(const Recording& recording, std::string name, Independent independent, bool allow_frozen_branches);

  TapeSize size() const;

  /// Operations as recorded, before the optimiser took away what it could.
  std::size_t recorded_operations() const { return recorded_operations_; }

  /// Cost: one sweep, of order zero.
  double value(const Vec& x, const Vec& y);

  /// The gradient over z lands in gradient_x (only if x is independent) and gradient_y. Cost: a sweep forward, one
  /// back.
  double gradient(const Vec& x, const Vec& y, Vec* gradient_x, Vec& gradient_y);

  /// The Hessian over z at the point last given to value or gradient, times (p, q); null stands for zeros (p) and for a
  /// part of the product that is not wanted. Cost: a sweep forward and one back, both of order one.
  void hessian_product(const Vec* p, const Vec* q, Vec* out_x, Vec* out_y);

 private:
  using Values = CppAD::vector<double>;  // memory from CppAD's pools: no system allocation once they are warm

  void fill(Values& z, const Vec* x, const Vec* y) const;

  std::string name_;
  Dims dims_;
  Independent independent_;
  bool allow_frozen_branches_;
  std::size_t recorded_operations_ = 0;
  CppAD::ADFun<double> fun_;
  Values parameters_, z_, direction_, weight_{1};
};

}  // namespace hypertape
