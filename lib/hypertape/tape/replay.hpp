#pragma once

#include <array>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/select.hpp"
#include "hypertape/simd/op.hpp"

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

}  // namespace hypertape
