// Part of a variant: the functions of programs, on as many lanes as are asked for.
#pragma once

#include "hypertape/simd/op.hpp"
#include "hypertape/simd/variant/error_function.hpp"
#include "hypertape/simd/variant/exponential.hpp"
#include "hypertape/simd/variant/trigonometric.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

template <class F>
void for_each_register(double* out, const double* a, Index lanes, const F& function) {
  for (Index l = 0; l < lanes; l += simd_lanes) store(out + l, function(load(a + l)));
}

/// A function of angles; those that are too large for it are left to <cmath>, one by one.
template <class F>
void for_angles(Op op, double* out, const double* a, Index lanes, const F& function) {
  SimdBits large{};
  for (Index l = 0; l < lanes; l += simd_lanes) large |= absolute(load(a + l)) > largest_angle;
  std::int64_t any = 0;
  for (int k = 0; k < simd_lanes; ++k) any |= large[k];
  if (any == 0) return for_each_register(out, a, lanes, function);
  for (Index l = 0; l < lanes; l += simd_lanes) {
    const Simd angles = load(a + l);  // `out` may be `a`
    store(out + l, function(angles));
    for (int k = 0; k < simd_lanes; ++k)
      if (__builtin_fabs(angles[k]) > largest_angle) out[l + k] = evaluate(op, {angles[k]});
  }
}

/// out = op(a), or op(a, b) for pow. The number of lanes is a multiple of eight.
void run_function(Op op, double* out, const double* a, const double* b, Index lanes) {
  const auto each = [&](auto&& function) { for_each_register(out, a, lanes, function); };
  switch (op) {
    case Op::abs:
      return each([](Simd x) { return absolute(x); });
    case Op::sign:
      return each([](Simd x) { return x > 0.0 ? broadcast(1) : x == 0.0 ? Simd{} : broadcast(-1); });
    case Op::sqrt:
      return each([](Simd x) { return square_root(x); });
    case Op::pow:
      for (Index l = 0; l < lanes; l += simd_lanes) store(out + l, simd_pow(load(a + l), load(b + l)));
      return;
    case Op::exp:
      return each([](Simd x) { return simd_exp(x); });
    case Op::expm1:
      return each([](Simd x) { return simd_expm1(x); });
    case Op::log:
      return each([](Simd x) { return simd_log(x); });
    case Op::log1p:
      return each([](Simd x) { return simd_log1p(x); });
    case Op::sin:
      return for_angles(op, out, a, lanes, [](Simd x) { return simd_sin(x); });
    case Op::cos:
      return for_angles(op, out, a, lanes, [](Simd x) { return simd_cos(x); });
    case Op::tan:
      return for_angles(op, out, a, lanes, [](Simd x) { return simd_tan(x); });
    case Op::asin:
      return each([](Simd x) { return simd_asin(x); });
    case Op::acos:
      return each([](Simd x) { return simd_acos(x); });
    case Op::atan:
      return each([](Simd x) { return simd_atan(x); });
    case Op::sinh:
      return each([](Simd x) { return simd_sinh(x); });
    case Op::cosh:
      return each([](Simd x) { return simd_cosh(x); });
    case Op::tanh:
      return each([](Simd x) { return simd_tanh(x); });
    case Op::asinh:
      return each([](Simd x) { return simd_asinh(x); });
    case Op::acosh:
      return each([](Simd x) { return simd_acosh(x); });
    case Op::atanh:
      return each([](Simd x) { return simd_atanh(x); });
    case Op::erf:
      return each([](Simd x) { return simd_erf(x); });
    case Op::erfc:
      return each([](Simd x) { return simd_erfc(x); });
    default:
      return each([](Simd x) { return x; });
  }
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
