#pragma once

#include <array>
#include <cstdint>

namespace hypertape {

/// What a node of an expression computes. Names of functions are those of <cmath>.
enum class Op : std::uint8_t {
  constant,
  input,
  add,
  sub,
  mul,
  div,
  pow,
  neg,
  abs,
  sign,
  exp,
  expm1,
  log,
  log1p,
  sqrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  detach,  // the argument, as a constant: derivatives are zero
  select_less,
  select_less_equal,
  select_equal,
  select_greater_equal,
  select_greater,  // (left, right, if_true, if_false)
};

/// The number of arguments of an operation.
int arity(Op op);

/// One operation on doubles, by <cmath>.
double evaluate(Op op, const std::array<double, 4>& arguments);

}  // namespace hypertape
