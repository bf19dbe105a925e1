#pragma once

#include "hypertape/simd/op.hpp"

namespace hypertape {

/// The partial derivatives of one operation of one or two arguments, at a and b where it has the given result.
struct LocalDerivatives {
  double a = 0, b = 0;
  double aa = 0, ab = 0, bb = 0;
};

LocalDerivatives local_derivatives(Op op, double a, double b, double result);

}  // namespace hypertape
