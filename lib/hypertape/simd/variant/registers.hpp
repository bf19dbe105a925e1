// Part of a variant: see kernels.hpp beside this file. Registers of HYPERTAPE_LANES doubles, exp and log on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

using Index = std::ptrdiff_t;

constexpr int simd_lanes = HYPERTAPE_LANES;
using Simd = double __attribute__((vector_size(8 * simd_lanes)));
using SimdBits = std::int64_t __attribute__((vector_size(8 * simd_lanes)));
using SimdUnsigned = std::uint64_t __attribute__((vector_size(8 * simd_lanes)));

inline Simd load(const double* from) {
  Simd out;
  __builtin_memcpy(&out, from, sizeof out);
  return out;
}
inline void store(double* to, Simd value) { __builtin_memcpy(to, &value, sizeof value); }
inline Simd broadcast(double value) { return Simd{} + value; }
inline Simd bits_as_double(SimdBits bits) { return (Simd)bits; }  // NOLINT: a cast of vectors keeps the bits
inline SimdBits double_as_bits(Simd x) { return (SimdBits)x; }    // NOLINT

/// bits >> shift, with the sign. AVX2 and before have no such instruction for 64 bits: shifted as unsigned numbers.
inline SimdBits shift_right(SimdBits bits, int shift) {
  constexpr std::uint64_t top = std::uint64_t{1} << 63;
  return (SimdBits)(((SimdUnsigned)bits + top) >> shift) - static_cast<std::int64_t>(top >> shift);  // NOLINT
}

/// exp of every lane: within 1.25 ulp of the true value; infinities, zeros, subnormal numbers and
/// not-a-numbers as in <cmath>.
inline Simd simd_exp(Simd x) {
  // x = n log 2 + r with |r| <= log(2) / 2: exp(x) = 2^n exp(r), exp(r) by its Taylor polynomial of degree 13, whose
  // remainder is 4e-18. Adding 1.5 2^52 rounds to an integer and leaves it in the low bits.
  constexpr double shift = 0x1.8p52, log2e = 0x1.71547652b82fep0;
  constexpr double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
  const Simd low = broadcast(-746), high = broadcast(710);
  Simd clamped = x < low ? low : x;
  clamped = clamped > high ? high : clamped;
  const Simd shifted = clamped * log2e + shift;
  const Simd n = shifted - shift;
  const Simd r = (clamped - n * ln2_high) - n * ln2_low;
  Simd p = broadcast(1.0 / 6227020800);
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // 2^n in two factors, so that results near the ends of the range come out rounded, not lost.
  const SimdBits integer = double_as_bits(shifted) - static_cast<std::int64_t>(0x4338000000000000);
  const SimdBits half = shift_right(integer, 1), rest = integer - half;
  Simd result = p * bits_as_double((half + 1023) << 52) * bits_as_double((rest + 1023) << 52);
  result = x > broadcast(709.782712893384) ? broadcast(__builtin_inf()) : result;
  result = x < broadcast(-745.1332191019412) ? Simd{} : result;
  return x == x ? result : x;
}

/// log, likewise, within 1 ulp.
inline Simd simd_log(Simd x) {
  // x = 2^k m with sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(s), s = (m - 1) / (m + 1), by its series in s^2 <= 0.0295.
  constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  const SimdBits subnormal = x < broadcast(0x1p-1022);
  const Simd scaled = subnormal ? x * 0x1p54 : x;
  // Counting exponents from sqrt(1/2) keeps m around one. Unsigned: differences may wrap around, for x < 0.
  const SimdUnsigned bits = (SimdUnsigned)scaled;                                                   // NOLINT
  const SimdBits exponent = shift_right((SimdBits)(bits - std::uint64_t{0x3fe6a09e667f3bcd}), 52);  // NOLINT
  const Simd m = (Simd)(bits - ((SimdUnsigned)exponent << 52));                                     // NOLINT
  // int64 to double through the low bits of 1.5 2^52.
  Simd k = bits_as_double(exponent + static_cast<std::int64_t>(0x4338000000000000)) - 0x1.8p52;
  k = subnormal ? k - 54.0 : k;
  const Simd f = m - 1.0, s = f / (2.0 + f), z = s * s;
  Simd p = broadcast(2.0 / 23);
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  // log m = 2 s + s z p = f - s (f - z p): the second form keeps the digits of f.
  Simd result = k * ln2_high + (f - (s * (f - z * p) - k * ln2_low));
  result = x == broadcast(__builtin_inf()) ? x : result;
  result = x == Simd{} ? broadcast(-__builtin_inf()) : result;
  result = x < Simd{} ? broadcast(__builtin_nan("")) : result;
  return x == x ? result : x;
}

struct TwoRegisters {
  Simd first, second;
};

// Two registers with lanes exchanged between them: every other lane, pair of lanes, or half.
inline TwoRegisters ones(Simd a, Simd b) {
#if HYPERTAPE_LANES == 8
  return {__builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14),
          __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)};
#elif HYPERTAPE_LANES == 4
  return {__builtin_shufflevector(a, b, 0, 4, 2, 6), __builtin_shufflevector(a, b, 1, 5, 3, 7)};
#else
  return {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
#endif
}
#if HYPERTAPE_LANES >= 4
inline TwoRegisters twos(Simd a, Simd b) {
#if HYPERTAPE_LANES == 8
  return {__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)};
#else
  return {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7)};
#endif
}
#endif
#if HYPERTAPE_LANES == 8
inline TwoRegisters fours(Simd a, Simd b) {
  return {__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11),
          __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)};
}
#endif

/// The sums of the lanes of simd_lanes registers, as lanes: with one addition less than registers, not with all pairs.
inline Simd sum_each(Simd (&m)[simd_lanes]) {
  const auto fold = [](const TwoRegisters& halves) { return halves.first + halves.second; };
  for (int l = 0; l < simd_lanes; l += 2) m[l] = fold(ones(m[l], m[l + 1]));
#if HYPERTAPE_LANES >= 4
  for (int l = 0; l < simd_lanes; l += 4) m[l] = fold(twos(m[l], m[l + 2]));
#endif
#if HYPERTAPE_LANES == 8
  m[0] = fold(fours(m[0], m[4]));
#endif
  return m[0];
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
