// Part of a variant: see kernels.hpp beside this file.
#pragma once

#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// Whether every exponent is below that of infinity, whose next one is a carry into the sign.
bool all_finite(const double* v, Index size) {
  constexpr std::int64_t exponent = 0x7ff0000000000000;
  constexpr std::uint64_t one = 0x0010000000000000;
  SimdUnsigned seen{};
  Index i = 0;
  for (; i + simd_lanes <= size; i += simd_lanes)
    seen |= (SimdUnsigned)(double_as_bits(load(v + i)) & exponent) + one;  // NOLINT
  bool finite = true;
  for (int l = 0; l < simd_lanes; ++l) finite &= (seen[l] >> 63) == 0;
  for (; i < size; ++i) finite &= __builtin_isfinite(v[i]) != 0;
  return finite;
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
