#pragma once

#include <cstddef>

#include "hypertape/simd/instruction_set.hpp"

namespace hypertape::benchmarks {

/// Rows that are worked on together.
inline constexpr std::ptrdiff_t block_rows = 32;

/// What derivatives written by hand do between the products with X, once for each instruction set, compiled with the
/// flags of the library's own kernels. z, u and p hold one component after the other, block_rows of each.
struct HandKernels {
  using Index = std::ptrdiff_t;

  /// z becomes exp(z - max) by rows, and `inverse` 1 / its sum; returns the sum of log-sum-exp over the first n rows.
  double (*softmax)(double* z, Index classes, Index n, double* inverse);

  /// z *= scale, by rows.
  void (*scale)(double* z, Index classes, const double* scale);

  /// u = weight p (u - p'u), by rows.
  void (*softmax_hessian)(const double* p, const double* weight, Index classes, double* u);

  /// result = scale p'u, by rows.
  void (*weighted_mean)(const double* p, const double* u, const double* scale, Index classes, double* result);

  /// The rows that follow stand one after the other, `width` numbers each: out = weight v.
  void (*weigh_rows)(const double* weight, const double* v, Index rows, Index width, double* out);

  /// out = weight a'b.
  void (*weighted_dots)(const double* weight, const double* a, const double* b, Index rows, Index width, double* out);
};

const HandKernels& hand_kernels(InstructionSet set);

}  // namespace hypertape::benchmarks
