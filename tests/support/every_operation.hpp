#pragma once

#include <cmath>

#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/vec_t.hpp"

namespace hypertape::testing {

/// Every operation a user may write.
struct Everything {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    using std::exp, std::log, std::log1p, std::expm1, std::sqrt, std::sin, std::cos, std::tan, std::asin, std::acos,
        std::atan, std::atan2, std::sinh, std::cosh, std::tanh, std::asinh, std::acosh, std::atanh, std::pow, std::erf,
        std::erfc, std::abs, std::fabs, std::log10;
    S s = 0.0;
    s += exp(y[0]) + log(x[0]) + log1p(y[1]) + expm1(y[0]) + sqrt(x[1]) + sin(y[0]) * cos(y[1]) / tan(x[0]);
    s -= asin(y[0]) - acos(y[1]) + atan(x[0]) * sinh(y[0]) + cosh(y[1]) - tanh(x[1]);
    s *= 2 + asinh(y[0]) + acosh(1.0 + x[0]) - atanh(y[1]);
    s /= 3.0 - pow(y[0], 2) + pow(x[0], 1.5) + pow(x[0], y[1]) + pow(2.0, y[0]) + pow(x[1], -3) + pow(y[0], 0);
    s += erf(y[0]) + erfc(y[1]) + abs(-y[0]) + fabs(y[1]) + log10(x[0]) + atan2(y[0], x[0]) + atan2(y[1], -x[1]);
    s += hypertape::max(y[0], x[0]) + hypertape::min(y[0], 0.3) + clamp(y[1], -0.2, x[0]) + sigmoid(y[0]);
    s += log1p_exp(y[1]) + log_sum_exp(y) + select(less_equal(y[0], x[0]), y[0], 2.0) - (+y[1]);
    return s + y.squaredNorm() + 0.5 * y.dot(x) + (2.0 * y - x).sum();
  }
};

}  // namespace hypertape::testing
