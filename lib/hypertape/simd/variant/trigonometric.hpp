// Part of a variant: sin, cos, tan and their inverses, within 1.5 ulp of the true value; infinities, zeros with their
// signs and not-a-numbers are those of <cmath>.
#pragma once

#include "hypertape/simd/variant/double_double.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// pi/2 in two doubles; so pi, which is twice, and pi/4.
constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

/// Beyond it sin, cos and tan are left to <cmath>: the multiple of pi/2 that is taken away must stay below 2^20.
constexpr double largest_angle = 0x1p20;

/// x = quadrant pi/2 + r, |r.high| <= pi/4, with a relative error of r of 2^-100. The quadrant's last bits count.
struct Angle {
  Sum r;
  SimdBits quadrant;
};
/// For 0 <= x <= largest_angle.
inline Angle split_angle(Simd x) {
  // pi/2 in parts of 33 bits, whose products with a multiple are exact, and a rest. Close to a multiple of pi/2, which
  // no double is by less than 2^-61, all four are needed.
  constexpr double parts[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  const Simd shifted = x * two_over_pi + round_shift, n = shifted - round_shift;
  const Sum second = exact_sum(x - n * parts[0], -(n * parts[1]));
  const Sum third = exact_sum(second.high, -(n * parts[2]));
  return {ordered_sum(third.high, third.low + (second.low - n * parts[3])), double_as_bits(shifted)};
}

/// sin and cos of r for |r.high| <= pi/4 by their Taylor polynomials, whose remainders are 2e-19 and 2e-18.
inline Sum sin_series(Sum r) {
  static constexpr double c[] = {-1.0 / 6,          1.0 / 120,         -1.0 / 5040,           1.0 / 362880,
                                 -1.0 / 39916800.0, 1.0 / 6227020800., -1.0 / 1307674368000., 1.0 / 355687428096000.};
  const Simd z = r.high * r.high;
  return {r.high, r.high * z * polynomial(z, c) + r.low * (1.0 - 0.5 * z)};
}
inline Sum cos_series(Sum r) {
  static constexpr double c[] = {1.0 / 24,        -1.0 / 720,          1.0 / 40320,          -1.0 / 3628800,
                                 1.0 / 479001600, -1.0 / 87178291200., 1.0 / 20922789888000.};
  const Simd z = r.high * r.high;
  const Sum line = ordered_sum(broadcast(1), -0.5 * z);
  return {line.high, line.low + (z * z * polynomial(z, c) - r.high * r.low)};
}

/// sin(|x| + more pi/2) but for its sign, which is the second lowest bit of `quadrant`.
inline Simd sin_of_quadrant(Sum r, SimdBits quadrant) {
  const Sum sine = sin_series(r), cosine = cos_series(r);
  const Simd result = choose(-(quadrant & 1), cosine.high + cosine.low, sine.high + sine.low);
  return bits_as_double(double_as_bits(result) ^ ((quadrant & 2) << 62));
}

// Up to largest_angle.
inline Simd simd_sin(Simd x) {
  const auto [r, quadrant] = split_angle(absolute(x));
  return bits_as_double(double_as_bits(sin_of_quadrant(r, quadrant)) ^ (double_as_bits(x) & sign_bit));
}
inline Simd simd_cos(Simd x) {
  const auto [r, quadrant] = split_angle(absolute(x));
  return sin_of_quadrant(r, quadrant + 1);
}
inline Simd simd_tan(Simd x) {
  const auto [r, quadrant] = split_angle(absolute(x));
  const Sum sine = sin_series(r), cosine = cos_series(r);
  const SimdBits odd = -(quadrant & 1);  // tan(r + pi/2) = -cos(r) / sin(r)
  const Sum above = {choose(odd, cosine.high, sine.high), choose(odd, cosine.low, sine.low)};
  const Sum below = {choose(odd, sine.high, cosine.high), choose(odd, sine.low, cosine.low)};
  const Sum above_sum = ordered_sum(above.high, above.low), below_sum = ordered_sum(below.high, below.low);
  const Sum result = quotient(above_sum, below_sum);
  return bits_as_double(double_as_bits(result.high + result.low) ^ ((double_as_bits(x) ^ odd) & sign_bit));
}

/// asin(t) = t + t^3 p(t^2) for t <= 1/2: p by interpolation at Chebyshev points, to 2^-57 of asin.
inline Simd asin_curve(Simd t, Simd square) {
  static constexpr double c[] = {
      0x1.5555555555556p-3, 0x1.3333333332ecap-4,  0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6, 0x1.6e8bb1c8209a2p-6,
      0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7,  0x1.782651caa6547p-7, 0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8,
      0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7, 0x1.d72b2bc8155f8p-6};
  return t * square * polynomial(square, c);
}

/// asin(t) for t = |x| <= 1/2, and of t = sqrt((1 - |x|) / 2) otherwise, where asin |x| = pi/2 - 2 asin(t).
struct HalfAsin {
  SimdBits halved;
  Sum value;
};
inline HalfAsin half_asin(Simd x) {
  const Simd magnitude = absolute(x);
  const SimdBits halved = magnitude > 0.5;
  const Simd square = halved ? 0.5 - 0.5 * magnitude : magnitude * magnitude;
  const Simd root = square_root(square), rest = remainder(square, root, root) / (2.0 * root);
  const Simd t = halved ? root : magnitude;
  const Simd low = (halved & (root != 0.0)) ? rest : Simd{};
  return {halved, {t, asin_curve(t, square) + low}};
}

inline Simd simd_asin(Simd x) {
  const auto [halved, value] = half_asin(x);
  const Sum line = ordered_sum(broadcast(half_pi), -2.0 * value.high);
  const Simd outer = line.high + (line.low + (half_pi_low - 2.0 * value.low));
  return with_sign(absolute(halved ? outer : value.high + value.low), x);
}

inline Simd simd_acos(Simd x) {
  // pi/2 - asin(x); 2 asin(t) near one, pi - 2 asin(t) near minus one.
  const auto [halved, value] = half_asin(x);
  const SimdBits negative = x < 0.0;
  const Simd quarter_turns = halved ? (negative ? broadcast(2) : Simd{}) : broadcast(1);
  const Simd outer = negative ? broadcast(-2) : broadcast(2), inner = negative ? broadcast(1) : broadcast(-1);
  const Simd factor = halved ? outer : inner;
  const Sum line = ordered_sum(quarter_turns * half_pi, factor * value.high);
  return line.high + (line.low + (quarter_turns * half_pi_low + factor * value.low));
}

inline Simd simd_atan(Simd x) {
  // |x| up to tan(pi/8), pi/4 + atan((|x| - 1) / (|x| + 1)) up to tan(3 pi/8), then pi/2 + atan(-1 / |x|).
  static constexpr double c[] = {-0x1.5555555555555p-2, 0x1.9999999999953p-3,  -0x1.249249248d7eep-3,
                                 0x1.c71c71c304b68p-4,  -0x1.745d165df3f95p-4, 0x1.3b1392d9e785cp-4,
                                 -0x1.110e880a7a521p-4, 0x1.e19a13b9fc6dfp-5,  -0x1.ac7a938b69c93p-5,
                                 0x1.74ddd408bb4c1p-5,  -0x1.1b33b923aa954p-5, 0x1.0ad36a455cafbp-6};
  const Simd magnitude = at_most(absolute(x), 0x1p100), one = broadcast(1);
  const SimdBits middle = magnitude > 0.41421356237309503, far = magnitude > 2.414213562373095;
  const Sum less = exact_sum(magnitude, -one), more = exact_sum(magnitude, one);
  const Sum above = {far ? -one : middle ? less.high : magnitude, (middle & ~far) ? less.low : Simd{}};
  const Sum below = {far ? magnitude : middle ? more.high : one, (middle & ~far) ? more.low : Simd{}};
  const Sum t = quotient(above, below);
  const Simd square = t.high * t.high;
  const Simd eighth_turns = far ? broadcast(2) : middle ? one : Simd{};
  const Sum line = ordered_sum(eighth_turns * (half_pi / 2), t.high);
  const Simd curve = t.high * square * polynomial(square, c);
  return with_sign(absolute(line.high + (line.low + (eighth_turns * (half_pi_low / 2) + (t.low + curve)))), x);
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
