#pragma once

#include <array>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/simd/op.hpp"

namespace hypertape {

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
      return CppAD::CondExpLt(a, b, c, d);
    case Op::select_less_equal:
      return CppAD::CondExpLe(a, b, c, d);
    case Op::select_equal:
      return CppAD::CondExpEq(a, b, c, d);
    case Op::select_greater_equal:
      return CppAD::CondExpGe(a, b, c, d);
    case Op::select_greater:
      return CppAD::CondExpGt(a, b, c, d);
    case Op::constant:
    case Op::input:
      break;
  }
  return a;
}

/// The comparison that a select makes, decided now.
template <class Base>
bool compare(Op op, const CppAD::AD<Base>& left, const CppAD::AD<Base>& right) {
  switch (op) {
    case Op::select_less:
      return left < right;
    case Op::select_less_equal:
      return left <= right;
    case Op::select_greater_equal:
      return left >= right;
    case Op::select_greater:
      return left > right;
    default:
      return left == right;
  }
}

}  // namespace hypertape
