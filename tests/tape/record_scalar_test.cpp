#include "hypertape/tape/record_scalar.hpp"

#include <doctest/doctest.h>

#include "hypertape/autodiff/select.hpp"
#include "hypertape/autodiff/tape_slot.hpp"
#include "hypertape/tape/cppad_tape.hpp"
#include "hypertape/tape/function.hpp"

using namespace hypertape;

namespace {

/// Prediction and recording of the same function must agree, up to the two operations that open and close a tape.
template <class F>
void check_prediction(F f, Dims dims) {
  const Function function("f", f);
  const TapeSlot slot;
  const auto entry = slot.enter();
  for (const auto independent : {Independent::y, Independent::both}) {
    CAPTURE(static_cast<int>(independent));
    const TapeOptions options{.record_x = Vec::Constant(dims.x, 0.5), .record_y = Vec::Constant(dims.y, 0.25)};
    const TapeSize predicted = function.predict_size(dims, independent, options);
    const CppadTape tape(function.record(dims, independent, options), "f", independent, false);
    CHECK(predicted.operations + 2 == tape.recorded_operations());
    CHECK(predicted.bytes > 0);
  }
}

}  // namespace

TEST_CASE("the size of a tape is predicted to the operation") {
  SUBCASE("arithmetic, with constants that CppAD folds") {
    check_prediction(
        []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
          S s = 0.0;
          for (Index i = 0; i < y.size(); ++i) s += (y[i] - x[i]) * (y[i] + x[i]) / (2.0 + y[i] * y[i]) - 1.0 * x[i];
          s -= 0.0 * x[0] + y[0] / 1.0 + 0.0;
          s *= 3.0;
          s /= -x[1];
          return +s - y[1];
        },
        {5, 5});
  }
  SUBCASE("functions") {
    check_prediction(
        []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
          S s = exp(y[0]) + log(x[0]) + sqrt(y[1]) + sin(y[2]) * cos(x[1]) + tan(y[0]) + tanh(x[0] * y[2]);
          s += asin(y[0]) + acos(y[1]) + atan(y[2]) + sinh(y[0]) + cosh(y[1]) + asinh(y[0]) + atanh(y[1]);
          s += log1p(y[0]) + expm1(y[1]) + abs(y[2]) + fabs(y[0]) + erf(y[0]) + acosh(1.5 + y[0]) + erfc(x[1] + y[0]);
          return s + pow(y[0], 3) + pow(y[1], y[2]) + pow(y[0], -2) + log10(y[0]);
        },
        {3, 3});
  }
  SUBCASE("branches and comparisons") {
    check_prediction(
        []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
          S s = hypertape::max(y[0], x[0]) + select(less(y[1], 0.5), y[0], y[2]);
          if (y[0] < y[1] || y[0] >= 3.0 || y[2] == 1.0 || x[0] != 2.0 || y[1] <= -1.0 || y[1] > 9.0) s += y[0] * x[2];
          return s;
        },
        {3, 3});
  }
  SUBCASE("Eigen expressions mixed with constant matrices") {
    const Mat A = Mat::Random(7, 7);
    const Vec b = Vec::Random(7);
    check_prediction(
        [=]<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
          return 0.5 * y.dot(A * y) + (A * x - b).squaredNorm() * y.head(3).sum() + y.tail(2).dot(x.segment(1, 2)) +
                 2.0 * y.array().exp().sum() + y.norm();
        },
        {7, 7});
  }
}
