// Part of a variant: see kernels.hpp beside this file.
#pragma once

#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// Looks at registers of doubles for exponents that say infinite or not a number: the largest there is.
template <class Doubles>
class FiniteSoFar {
 public:
  void look_at(Doubles v) {
    constexpr std::int64_t exponent = 0x7ff0000000000000;
    seen_ |= exponent - 1 - ((Bits)v & exponent);  // NOLINT: negative where the exponent is the largest
  }

  bool all() const {
    bool finite = true;
    for (unsigned l = 0; l < sizeof(Doubles) / sizeof(double); ++l) finite &= seen_[l] >= 0;
    return finite;
  }

 private:
  using Bits = decltype(Doubles{} < Doubles{});  // integers, as many and as long
  Bits seen_{};
};

bool all_finite(const double* v, Index size) {
  FiniteSoFar<Simd> so_far;
  Index i = 0;
  for (; i + simd_lanes <= size; i += simd_lanes) so_far.look_at(load(v + i));
  bool finite = so_far.all();
  for (; i < size; ++i) finite &= __builtin_isfinite(v[i]) != 0;
  return finite;
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
