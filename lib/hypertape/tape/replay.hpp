#pragma once

#include <array>
#include <vector>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/select.hpp"
#include "hypertape/simd/op.hpp"
#include "hypertape/tape/recording.hpp"

namespace hypertape {

/// What a select compares by.
inline Comparison comparison_of(Op op) {
  return static_cast<Comparison>(static_cast<int>(op) - static_cast<int>(Op::select_less));
}
static_assert(static_cast<int>(Op::select_greater) - static_cast<int>(Op::select_less) ==
              static_cast<int>(Comparison::greater));

/// One operation on scalars of CppAD, with any base type.
template <class Base>
CppAD::AD<Base> operation(Op op, const std::array<CppAD::AD<Base>, 4>& arguments) {
  const auto& [a, b, c, d] = arguments;
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::pow:
      return CppAD::pow(a, b);
    case Op::neg:
      return -a;
    case Op::abs:
      return CppAD::abs(a);
    case Op::sign:
      return CppAD::sign(a);
    case Op::exp:
      return CppAD::exp(a);
    case Op::expm1:
      return CppAD::expm1(a);
    case Op::log:
      return CppAD::log(a);
    case Op::log1p:
      return CppAD::log1p(a);
    case Op::sqrt:
      return CppAD::sqrt(a);
    case Op::sin:
      return CppAD::sin(a);
    case Op::cos:
      return CppAD::cos(a);
    case Op::tan:
      return CppAD::tan(a);
    case Op::asin:
      return CppAD::asin(a);
    case Op::acos:
      return CppAD::acos(a);
    case Op::atan:
      return CppAD::atan(a);
    case Op::sinh:
      return CppAD::sinh(a);
    case Op::cosh:
      return CppAD::cosh(a);
    case Op::tanh:
      return CppAD::tanh(a);
    case Op::asinh:
      return CppAD::asinh(a);
    case Op::acosh:
      return CppAD::acosh(a);
    case Op::atanh:
      return CppAD::atanh(a);
    case Op::erf:
      return CppAD::erf(a);
    case Op::erfc:
      return CppAD::erfc(a);
    case Op::detach:
      return detach(a);
    case Op::select_less:
    case Op::select_less_equal:
    case Op::select_equal:
    case Op::select_greater_equal:
    case Op::select_greater:
      return select_scalar(Condition<CppAD::AD<Base>>{comparison_of(op), a, b}, c, d);
    case Op::constant:
    case Op::input:
      break;
  }
  return a;
}

/// The recorded operations once more, on scalars of CppAD that stand for the inputs; the result. Comparisons are given
/// to on_comparison(op, arguments).
template <class Base, class OnComparison>
CppAD::AD<Base> replay(const Recording& recording, std::vector<CppAD::AD<Base>> values,
                       const OnComparison& on_comparison) {
  using Scalar = CppAD::AD<Base>;
  values.resize(static_cast<std::size_t>(recording.size()));
  auto comparison = recording.comparisons.begin();
  for (int n = recording.inputs(); n < recording.size(); ++n) {
    const Op op = recording.ops[static_cast<std::size_t>(n)];
    std::array<Scalar, 4> arguments;
    for (int k = 0; k < arity(op); ++k) {
      const auto operand = recording.argument(n, k);
      arguments[static_cast<std::size_t>(k)] =
          operand < 0 ? Scalar(recording.constant(operand)) : values[static_cast<std::size_t>(operand)];
    }
    if (comparison != recording.comparisons.end() && *comparison == n) {
      ++comparison;
      on_comparison(op, arguments);
    } else {
      values[static_cast<std::size_t>(n)] = operation(op, arguments);
    }
  }
  return values[static_cast<std::size_t>(recording.result)];
}

/// Ends a recording that an exception leaves behind.
template <class Scalar>
struct AbortRecording {
  ~AbortRecording() { Scalar::abort_recording(); }
};

}  // namespace hypertape
