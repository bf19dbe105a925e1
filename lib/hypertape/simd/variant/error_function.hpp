// Part of a variant: erf and erfc, within 1.5 ulp of the true value, erfc far into its tail too.
#pragma once

#include "hypertape/simd/variant/exponential.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// erf(x) / x - 1 for |x| <= 1, a function of x^2: by interpolation at Chebyshev points, to 2^-56.
inline Simd erf_curve(Simd x) {
  static constexpr double c[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b30p-4,
                                 -0x1.b82ce31284e00p-6,  0x1.565bcd0dbaa38p-8,   -0x1.c02db3dac435fp-11,
                                 0x1.f9a321d5b8e1ep-14,  -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b97p-20,
                                 -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27,  -0x1.389d4f2641625p-30,
                                 0x1.05ffd737fb32ep-34};
  return polynomial(x * x, c);
}

/// erfc(x) for 1/2 <= x.
inline Simd erfc_tail(Simd x) {
  // exp(-x^2) / (1 + 2 x) times a function that stays between 1.12 and 1.29: by interpolation at Chebyshev points of
  // t = (x - 4) / (x + 4), to 2^-57. It is 1.23 + t q(t), where the first term has two doubles.
  static constexpr double c[] = {-0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd575p-7,   0x1.16ecefcfa547fp-4,
                                 -0x1.9ddb23c3e7cf5p-4,  0x1.7fee004e106bdp-4,   -0x1.0fb06dfe6b25cp-4,
                                 0x1.3079edf6b9159p-5,   -0x1.0962387dac933p-6,  0x1.49c6727ace9e5p-8,
                                 -0x1.8d4aa17050e08p-11, -0x1.a1df222b3ca59p-13, 0x1.3be0d61957f14p-13,
                                 -0x1.9958d66770982p-16, -0x1.78a3b73fcffbfp-17, 0x1.7f19bc91ad5ccp-18,
                                 0x1.41a5d9b6c3abbp-22,  -0x1.b99bb9bcb0974p-21, 0x1.1fde3f8d8313bp-24,
                                 0x1.c5e4aa4a32304p-24,  -0x1.a403ddb107533p-27, -0x1.67fa3128dee34p-27};
  x = at_most(x, 28);  // zero from 27.3 on
  const Simd t = (x - 4.0) / (x + 4.0);
  const Sum factor = ordered_sum(broadcast(0x1.3ba5916e9fd7fp+0), t * polynomial(t, c) - 0x1.94807b5ea2483p-55);
  const Sum square = exact_product(x, x);
  const auto [n, r] = split_exponent(-square.high);
  const Sum result = quotient(product(exp_sum(r, -square.low), factor), ordered_sum(2.0 * x, broadcast(1)));
  return scale(result.high + result.low, n);
}

inline Simd simd_erf(Simd x) {
  const Simd magnitude = absolute(x);
  const Simd result = magnitude < 1.0 ? magnitude + magnitude * erf_curve(x) : 1.0 - erfc_tail(magnitude);
  return with_sign(absolute(result), x);
}

inline Simd simd_erfc(Simd x) {
  const Simd magnitude = absolute(x), tail = erfc_tail(magnitude);
  const Sum line = ordered_sum(broadcast(1), -x);
  const Simd inner = line.high + (line.low - x * erf_curve(x));
  return x < 0.5 ? (x > -1.0 ? inner : 2.0 - tail) : tail;
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
