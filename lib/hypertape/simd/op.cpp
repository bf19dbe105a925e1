#include "hypertape/simd/op.hpp"

#include <cmath>

namespace hypertape {

int arity(Op op) {
  if (op == Op::constant || op == Op::input) return 0;
  if (op <= Op::pow) return 2;
  return op < Op::select_less ? 1 : 4;
}

double evaluate(Op op, const std::array<double, 4>& arguments) {
  const auto [a, b, c, d] = arguments;
  switch (op) {
    case Op::constant:
    case Op::input:
    case Op::detach:
      return a;
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::pow:
      return std::pow(a, b);
    case Op::neg:
      return -a;
    case Op::abs:
      return std::abs(a);
    case Op::sign:
      return a > 0 ? 1 : a == 0 ? 0 : -1;  // as CppAD's
    case Op::exp:
      return std::exp(a);
    case Op::expm1:
      return std::expm1(a);
    case Op::log:
      return std::log(a);
    case Op::log1p:
      return std::log1p(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::asin:
      return std::asin(a);
    case Op::acos:
      return std::acos(a);
    case Op::atan:
      return std::atan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::asinh:
      return std::asinh(a);
    case Op::acosh:
      return std::acosh(a);
    case Op::atanh:
      return std::atanh(a);
    case Op::erf:
      return std::erf(a);
    case Op::erfc:
      return std::erfc(a);
    case Op::select_less:
      return a < b ? c : d;
    case Op::select_less_equal:
      return a <= b ? c : d;
    case Op::select_equal:
      return a == b ? c : d;
    case Op::select_greater_equal:
      return a >= b ? c : d;
    case Op::select_greater:
      return a > b ? c : d;
  }
  return 0;
}

}  // namespace hypertape
