#pragma once

#include <array>
#include <cstddef>
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

/// One operation on doubles.
double evaluate(Op op, const std::array<double, 4>& arguments);

/// The same for every lane of a pack, by <cmath>: what kernels leave to it.
void evaluate_pack(Op op, double* out, const double* a, const double* b, const double* c, const double* d,
                   std::ptrdiff_t lanes);

}  // namespace hypertape
