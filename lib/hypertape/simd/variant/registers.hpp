// Part of a variant: see kernels.hpp beside this file. Registers of HYPERTAPE_LANES doubles.
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

/// Adding it rounds a double, |x| < 2^51, to an integer, which is then in the low bits.
constexpr double round_shift = 0x1.8p52;

inline Simd square_root(Simd x) {
  Simd out;
  for (int l = 0; l < simd_lanes; ++l) out[l] = __builtin_sqrt(x[l]);
  return out;
}

// Bits of the lanes where the mask (all ones, or zero) says so, others elsewhere. Cheaper than ?: where the mask is no
// comparison of doubles: AVX2 and before would compare it with zero first.
inline Simd choose(SimdBits mask, Simd chosen, Simd other) {
  return bits_as_double((double_as_bits(chosen) & mask) | (double_as_bits(other) & ~mask));
}

constexpr std::int64_t sign_bit = INT64_MIN;
inline Simd absolute(Simd x) { return bits_as_double(double_as_bits(x) & ~sign_bit); }
/// The number `magnitude`, which is not negative, with the sign of another: that of zeros included.
inline Simd with_sign(Simd magnitude, Simd sign) {
  return bits_as_double(double_as_bits(magnitude) | (double_as_bits(sign) & sign_bit));
}
inline Simd at_most(Simd x, double bound) { return x > bound ? broadcast(bound) : x; }
inline Simd at_least(Simd x, double bound) { return x < bound ? broadcast(bound) : x; }

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
