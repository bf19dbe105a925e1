// Part of a variant: sums of two doubles, for the steps of a function where one double loses digits.
#pragma once

#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// The number high + low. Unless a function says otherwise, high is that number rounded to a double.
struct Sum {
  Simd high, low;
};

/// a + b without error; the first if |a| >= |b| (or a = 0), where three additions are enough.
inline Sum ordered_sum(Simd a, Simd b) {
  const Simd high = a + b;
  return {high, b - (high - a)};
}
inline Sum exact_sum(Simd a, Simd b) {
  const Simd high = a + b, b_in_high = high - a;
  return {high, (a - (high - b_in_high)) + (b - b_in_high)};
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline Simd multiply_add(Simd a, Simd b, Simd c) {
  Simd out;
  for (int l = 0; l < simd_lanes; ++l) out[l] = __builtin_fma(a[l], b[l], c[l]);
  return out;
}

/// a b without error, unless it underflows.
inline Sum exact_product(Simd a, Simd b) {
  const Simd high = a * b;
  return {high, multiply_add(a, b, -high)};
}

/// c - a b for a product close to c: exact, as far as a double can hold it.
inline Simd remainder(Simd c, Simd a, Simd b) { return multiply_add(-a, b, c); }
#else
inline Sum exact_product(Simd a, Simd b) {
  // Halves of 26 and 27 bits, whose products fit into doubles. Cut off by masks: nothing overflows, and it does not
  // matter whether a compiler contracts products and sums.
  constexpr std::int64_t upper = ~((std::int64_t{1} << 27) - 1);
  const Simd a_upper = bits_as_double(double_as_bits(a) & upper), a_lower = a - a_upper;
  const Simd b_upper = bits_as_double(double_as_bits(b) & upper), b_lower = b - b_upper;
  const Simd high = a * b;
  return {high, (((a_upper * b_upper - high) + a_upper * b_lower) + a_lower * b_upper) + a_lower * b_lower};
}

inline Simd remainder(Simd c, Simd a, Simd b) {
  const Sum product = exact_product(a, b);
  return (c - product.high) - product.low;
}
#endif

// The product and the quotient of sums with a relative error of 2^-98 or less. Here `high` may be some ulp off, which
// `low` makes good; arguments may be so, too.
inline Sum product(Sum a, Sum b) {
  const Sum high = exact_product(a.high, b.high);
  return {high.high, high.low + (a.high * b.low + a.low * b.high)};
}
inline Sum quotient(Sum a, Sum b) {
  const Simd inverse = 1.0 / b.high, high = a.high * inverse;
  return {high, (remainder(a.high, high, b.high) + (a.low - high * b.low)) * inverse};
}

/// Of a sum of `count` terms the first part, a power of two, the other one being no longer.
constexpr int first_part(int count) {
  int part = 1;
  while (2 * part < count) part *= 2;
  return part;
}

/// c[first] + c[first + 1] x + ..., `count` terms, given x^1, x^2, x^4, ... at 1, 2, 4, ...
template <int first, int count, int size>
Simd polynomial_part(const Simd* powers, const double (&c)[size]) {
  if constexpr (count == 1) {
    return broadcast(c[first]);
  } else {
    constexpr int half = first_part(count);
    return polynomial_part<first + half, count - half>(powers, c) * powers[half] +
           polynomial_part<first, half>(powers, c);
  }
}

/// c[0] + c[1] x + c[2] x^2 + ..., from c[first] on if that is given, by halves: a processor computes parts that do not
/// wait for each other at once.
template <int first = 0, int size>
Simd polynomial(Simd x, const double (&c)[size]) {
  Simd powers[17];
  powers[1] = x;
  for (int k = 2; k < size - first; k *= 2) powers[k] = powers[k / 2] * powers[k / 2];
  return polynomial_part<first, size - first>(powers, c);
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
