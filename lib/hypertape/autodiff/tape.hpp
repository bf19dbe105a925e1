#pragma once

#include <cstddef>
#include <string>

#include "hypertape/autodiff/function.hpp"
#include "hypertape/core/types.hpp"

namespace hypertape {

/// The size of a tape: how many operations, and how many bytes with the Taylor coefficients that its products need. A
/// prediction is of the largest size, while the tape is recorded and optimised.
struct TapeSize {
  std::size_t operations = 0;
  std::size_t bytes = 0;
};

struct TapeOptions {
  /// A problem whose tapes would take more bytes than this is refused; 0 stands for half of the machine's memory.
  std::size_t max_bytes = 0;

  /// The point at which functions are recorded; empty stands for zeros. It matters to a function that compares values
  /// of x or y, or refuses some of them.
  Vec record_x{};
  Vec record_y{};

  /// A comparison of values of x or y (`if`, `?:`, std::max) is decided once, at the recording point. At a point where
  /// it would be decided otherwise the tape is not the user's function, and FrozenBranch is thrown; true ignores that.
  bool allow_frozen_branches = false;
};

/// Which arguments of a function a tape differentiates by: y alone, x then being a parameter, or x and y together.
enum class Independent { y, both };

/// The size that the tape of `function` will have, by running it with SizeProbe; records nothing.
TapeSize predict_size(const Function& function, Dims dims, Independent independent, const TapeOptions& options = {});

/// A scalar function recorded once, optimised, and evaluated at any point: value, gradient, Hessian products. z stands
/// for y or for (x, y), by `independent`. Works inside a TapeSlot.
class Tape {
 public:
  Tape(const Function& function, Dims dims, Independent independent, const TapeOptions& options);

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
