// Part of a variant: exp, log, pow and what is made of them. All are within 1.5 ulp of the true value; infinities,
// zeros with their signs, subnormal numbers and not-a-numbers are those of <cmath>.
#pragma once

#include "hypertape/simd/variant/double_double.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

constexpr double infinity = __builtin_inf();

// log 2 in two parts. The first has 11 zeros behind it: its product with an exponent is exact.
constexpr double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;

/// 2^n for integers -1023 < n < 1024.
inline Simd power_of_two(Simd n) { return bits_as_double(double_as_bits(n + (round_shift + 1023)) << 52); }

/// p 2^n for |n| < 2000, in two factors, so that results near the ends of the range come out rounded, not lost.
inline Simd scale(Simd p, Simd n) {
  const Simd half = (n * 0.5 + round_shift) - round_shift;
  return p * power_of_two(half) * power_of_two(n - half);
}

/// x = n log 2 + r, |r.high| <= log(2) / 2, for |x| < 1400.
struct Exponent {
  Simd n;
  Sum r;
};
inline Exponent split_exponent(Simd x) {
  constexpr double log2e = 0x1.71547652b82fep0;
  const Simd n = (x * log2e + round_shift) - round_shift;
  const Simd near = x - n * ln2_high, far = n * ln2_low, r = near - far;
  return {n, {r, (near - r) - far}};
}

/// exp(r) - 1 - r for |r| <= log(2) / 2 by the Taylor polynomial of exp of degree 13, whose remainder is 4e-18.
inline Simd exp_curve(Simd r) {
  static constexpr double inverse_factorials[] = {1.0 / 6,        1.0 / 24,        1.0 / 120,       1.0 / 720,
                                                  1.0 / 5040,     1.0 / 40320,     1.0 / 362880,    1.0 / 3628800,
                                                  1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const Simd square = r * r;
  return square * 0.5 + square * r * polynomial(r, inverse_factorials);
}

/// exp(r + more) for |r.high| <= log(2) / 2 and a small number more (2^-40, say), which counts.
inline Sum exp_sum(Sum r, Simd more) {
  const Simd curve = exp_curve(r.high), low = r.low + more;
  const Sum one = ordered_sum(broadcast(1), r.high);
  return ordered_sum(one.high, one.low + (curve + (low + low * (r.high + curve))));
}

inline Simd simd_exp(Simd x) {
  const auto [n, r] = split_exponent(at_most(at_least(x, -746), 710));
  Simd result = scale(1.0 + (r.high + (r.low + exp_curve(r.high))), n);
  result = x > 709.782712893384 ? broadcast(infinity) : result;
  return x < -745.1332191019412 ? Simd{} : result;
}

/// expm1(x) 2^-n, and n.
struct ScaledExpm1 {
  Sum value;
  Simd n;
};
/// For -46 < x < 711.
inline ScaledExpm1 scaled_expm1(Simd x) {
  // 2^n (exp(r) - 1) + 2^n - 1 with all terms times 2^-n. 2^-1000 is as good as nothing, and can be had for every n.
  const auto [n, r] = split_exponent(x);
  const Sum shift = exact_sum(broadcast(1), -power_of_two(-at_most(n, 1000))), high = exact_sum(shift.high, r.high);
  return {ordered_sum(high.high, high.low + (shift.low + (r.low + exp_curve(r.high)))), n};
}

inline Simd simd_expm1(Simd x) {
  const auto [value, n] = scaled_expm1(at_most(at_least(x, -45), 710));  // exp(-45) is below half an ulp of one
  Simd result = with_sign(absolute(scale(value.high, n)), x);
  return x > 709.782712893384 ? broadcast(infinity) : result;
}

/// (exp(x) + sign exp(-x)) / 2 for x >= 0.
inline Simd hyperbolic(Simd x, double sign) {
  const auto [n, r] = split_exponent(at_most(x, 711));
  const Sum up = exp_sum(r, Simd{}), down = quotient({broadcast(1), Simd{}}, up);
  const Simd factor = sign * power_of_two(-at_most(2.0 * n, 1000));
  const Sum high = ordered_sum(up.high, factor * down.high);
  return scale(high.high + (high.low + (up.low + factor * down.low)), n - 1.0);
}
inline Simd simd_cosh(Simd x) { return hyperbolic(absolute(x), 1); }
inline Simd simd_sinh(Simd x) {
  const Simd magnitude = absolute(x);
  return with_sign(magnitude < 0x1p-27 ? magnitude : hyperbolic(magnitude, -1), x);
}

inline Simd simd_tanh(Simd x) {
  // -E / (2 + E), E = exp(-2 |x|) - 1. From 22.5 on it is one to the last digit.
  const auto [value, n] = scaled_expm1(-2.0 * at_most(absolute(x), 22.5));
  const Simd factor = -power_of_two(n);
  const Sum minus_e = {factor * value.high, factor * value.low};
  const Sum below = ordered_sum(broadcast(2), -minus_e.high);
  const Sum result = quotient(minus_e, {below.high, below.low - minus_e.low});
  return with_sign(absolute(result.high + result.low), x);
}

/// u = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for normal u > 0. Anything, but finite, for others.
struct Logarithm {
  Simd k, f;
};
inline Logarithm split_logarithm(Simd u) {
  // Counting exponents from sqrt(1/2) keeps 1 + f around one. Unsigned: differences may wrap around, for u < 0.
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd, exponents = std::uint64_t{0xfff} << 52;
  const SimdUnsigned bits = (SimdUnsigned)u - root_half;        // NOLINT: a cast of vectors keeps the bits
  const Simd m = (Simd)((SimdUnsigned)u - (bits & exponents));  // NOLINT
  // The exponent, which may be negative, into the low bits of 1.5 2^52: 2^11 is added for it to be positive.
  constexpr std::uint64_t lift = std::uint64_t{1} << 63;
  const Simd lifted = bits_as_double((SimdBits)((bits + lift) >> 52) + std::int64_t{0x4338000000000000});  // NOLINT
  return {lifted - (round_shift + 2048), m - 1.0};
}
/// The same for subnormal numbers too.
inline Logarithm split_logarithm_of_any(Simd x) {
  const SimdBits subnormal = x < 0x1p-1022;
  const auto [k, f] = split_logarithm(subnormal ? x * 0x1p54 : x);
  return {subnormal ? k - 54.0 : k, f};
}

/// log(1 + f) = 2 s + s z (2/3 + 2/5 z + ...), s = f / (2 + f), z = s^2 <= 0.0295: the sum in brackets by interpolation
/// at Chebyshev points, to 2^-72 of the logarithm but for the rounding of the first coefficient.
constexpr double atanh_curve[] = {0x1.5555555555555p-1, 0x1.9999999999998p-2, 0x1.249249249295ap-2,
                                  0x1.c71c71c64c6e6p-3, 0x1.745d17d364797p-3, 0x1.3b137b2f2ef1bp-3,
                                  0x1.111d282285abap-3, 0x1.debeb3c1b97c3p-4, 0x1.e6b13210d85a4p-4};

/// k log 2 + log(1 + f) + more, for a small number more.
inline Simd log_series(Simd k, Simd f, Simd more) {
  // 2 s + s z p = f - s (f - z p): the second form keeps the digits of f.
  const Simd s = f / (2.0 + f), z = s * s;
  return k * ln2_high + (f - (s * (f - z * polynomial(z, atanh_curve)) - (k * ln2_low + more)));
}

/// `result` where x > 0; what log has elsewhere.
inline Simd log_ends(Simd x, Simd result) {
  result = x == infinity ? x : result;
  result = x == 0.0 ? broadcast(-infinity) : result;
  result = x < 0.0 ? broadcast(__builtin_nan("")) : result;
  return x == x ? result : x;
}

inline Simd simd_log(Simd x) {
  const auto [k, f] = split_logarithm_of_any(x);
  return log_ends(x, log_series(k, f, Simd{}));
}

/// log(2^k u) for the number u, with all its digits also where u is near one; |u.low / u.high| < 2^-50.
inline Simd log_of_sum(Sum u, Simd k) {
  const auto [more_k, f] = split_logarithm(u.high);
  return log_series(k + more_k, f, u.low / u.high);
}

inline Simd simd_log1p(Simd x) {
  const Sum u = exact_sum(broadcast(1), x);
  const Simd result = log_ends(u.high, log_of_sum(u, Simd{}));
  return absolute(x) < 0x1p-54 ? x : result;
}

inline Simd simd_asinh(Simd x) {
  // log(1 + (|x| + x^2 / (1 + sqrt(1 + x^2)))), and log(2 |x|) where one is lost beside x^2.
  const Simd magnitude = absolute(x), square = magnitude * magnitude;
  const SimdBits large = magnitude > 0x1p28;
  const Sum one = exact_sum(broadcast(1), magnitude);
  const Sum u = exact_sum(one.high, square / (1.0 + square_root(1.0 + square)));
  const Sum chosen = {large ? magnitude : u.high, large ? Simd{} : u.low + one.low};
  const Simd result = log_of_sum(chosen, large ? broadcast(1) : Simd{});
  return with_sign(absolute(magnitude < infinity ? result : magnitude), x);
}

inline Simd simd_acosh(Simd x) {
  // log(x + sqrt(x^2 - 1)), or log(2 x).
  const SimdBits large = x > 0x1p28;
  const Sum square = exact_product(x, x), less_one = exact_sum(square.high, broadcast(-1));
  const Sum w = ordered_sum(less_one.high, less_one.low + square.low);
  const Simd root = square_root(w.high), root_low = (remainder(w.high, root, root) + w.low) / (2.0 * root);
  const Sum u = ordered_sum(x, root);
  const Simd low = u.low + (root == 0.0 ? Simd{} : root_low);
  const Simd result = log_of_sum({large ? x : u.high, large ? Simd{} : low}, large ? broadcast(1) : Simd{});
  return x < 1.0 ? broadcast(__builtin_nan("")) : x < infinity ? result : x;
}

inline Simd simd_atanh(Simd x) {
  // log(1 + 2 |x| / (1 - |x|)) / 2
  const Simd magnitude = absolute(x);
  const Sum ratio = quotient({2.0 * magnitude, Simd{}}, exact_sum(broadcast(1), -magnitude));
  const Sum u = exact_sum(broadcast(1), ratio.high);
  Simd result = 0.5 * log_of_sum({u.high, u.low + ratio.low}, Simd{});
  result = magnitude == 1.0 ? broadcast(infinity) : result;
  result = magnitude > 1.0 ? broadcast(__builtin_nan("")) : result;
  return with_sign(absolute(x == x ? result : x), x);
}

/// log(x) for x > 0 with a relative error of 2^-63; something finite for zero and infinity.
inline Sum log_sum(Simd x) {
  // As in log_series, with the term 2/3 s z, too, in two doubles.
  const auto [k, f] = split_logarithm_of_any(x);
  const Sum s = quotient({f, Simd{}}, ordered_sum(broadcast(2), f));
  const Sum square = exact_product(s.high, s.high), z = {square.high, square.low + 2.0 * s.high * s.low};
  const Simd rest = polynomial<1>(z.high, atanh_curve);
  const Sum sum = ordered_sum(broadcast(0x1.5555555555555p-1), 0x1.5555555555555p-55 + (z.high * rest + z.low * rest));
  const Sum curve = product(s, product(z, sum));
  const Sum line = ordered_sum(k * ln2_high, 2.0 * s.high), high = ordered_sum(line.high, curve.high);
  return {high.high, high.low + (line.low + (2.0 * s.low + curve.low) + k * ln2_low)};
}

/// Whether a number that is not negative is an integer: all are from 2^52 on.
inline SimdBits is_integer(Simd x) { return (x >= 0x1p52) | ((x + 0x1p52) - 0x1p52 == x); }

inline Simd simd_pow(Simd x, Simd y) {
  const Simd base = absolute(x), size = absolute(y);
  // exp(y log |x|). Beyond 2^66 an exponent makes every base but one zero or infinite.
  const Sum logarithm = log_sum(base);
  const Simd exponent = at_most(at_least(y, -0x1p66), 0x1p66);
  const Sum exact = exact_product(exponent, logarithm.high);
  const SimdBits ordinary = absolute(exact.high) < 800.0;
  const Simd clamped = at_most(at_least(exact.high, -800), 800);
  const auto [n, r] = split_exponent(clamped);
  const Simd low = r.low + (ordinary ? exact.low + exponent * logarithm.low : Simd{}), curve = exp_curve(r.high);
  Simd result = scale(1.0 + (r.high + (curve + (low + low * (r.high + curve)))), n);
  // Zero and infinite bases.
  const SimdBits grows = (base > 1.0) ^ (y < 0.0);
  result = ((base == 0.0) | (base == infinity)) ? (grows ? broadcast(infinity) : Simd{}) : result;
  // Negative bases.
  const SimdBits whole = is_integer(size), odd = whole & ~is_integer(0.5 * size);
  result = bits_as_double(double_as_bits(result) ^ (double_as_bits(x) & sign_bit & odd));
  const SimdBits undefined = (x < 0.0) & (base < infinity) & ~whole;
  result = choose(undefined, broadcast(__builtin_nan("")), result);
  result = choose(~((x == x) & (y == y)), x + y, result);
  return choose((y == 0.0) | (x == 1.0), broadcast(1), result);
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
