// Part of a variant: between rows and packs, a square of registers at a time.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/finite.hpp"
#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

// Squares of four: with eight lanes there would be fewer shuffles, but a width of 20 would need as many squares as 24,
// and is 1.4 times slower (measured on an AMD EPYC).
constexpr int side = simd_lanes < 4 ? simd_lanes : 4;
using Line = double __attribute__((vector_size(8 * side)));

inline Line load_line(const double* from) {
  Line out;
  __builtin_memcpy(&out, from, sizeof out);
  return out;
}
inline void store_line(double* to, Line value) { __builtin_memcpy(to, &value, sizeof value); }

/// Row i of the square becomes its column i.
inline void transpose_square(Line (&m)[side]) {
#if HYPERTAPE_LANES >= 4
  const Line a = __builtin_shufflevector(m[0], m[1], 0, 4, 2, 6), b = __builtin_shufflevector(m[0], m[1], 1, 5, 3, 7);
  const Line c = __builtin_shufflevector(m[2], m[3], 0, 4, 2, 6), d = __builtin_shufflevector(m[2], m[3], 1, 5, 3, 7);
  m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  m[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  m[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
  const Line a = m[0];
  m[0] = __builtin_shufflevector(a, m[1], 0, 2);
  m[1] = __builtin_shufflevector(a, m[1], 1, 3);
#endif
}

/// Calls square(first row, first component, components done before) for squares that cover a whole pack, in the order
/// of rows; the last squares overlap those before where the width is no multiple of a side. The rows that follow are
/// fetched meanwhile, into the second cache: a pass over a variable goes on there.
template <class F>
void for_squares(const double* rows, Index width, const F& square) {
  for (Index i = 0; i < pack_lanes; i += side) {
    const double* const ahead = rows + (i + pack_lanes) * width;
    for (Index e = 0; e < side * width; e += 8) __builtin_prefetch(ahead + e, 0, 2);
    for (Index done = 0; done < width; done += side) square(i, done < width - side ? done : width - side, done);
  }
}

bool has_squares(Index width, Index n) { return n == pack_lanes && width >= side; }

bool rows_to_pack(const double* rows, Index width, Index n, double* pack) {
  if (!has_squares(width, n)) {
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < n; ++i) pack[j * pack_lanes + i] = rows[i * width + j];
    return all_finite(rows, n * width);
  }
  FiniteSoFar<Line> so_far;
  for_squares(rows, width, [&](Index i, Index j, Index) {
    Line m[side];
    for (int k = 0; k < side; ++k) so_far.look_at(m[k] = load_line(rows + (i + k) * width + j));
    transpose_square(m);
    for (int k = 0; k < side; ++k) store_line(pack + (j + k) * pack_lanes + i, m[k]);
  });
  return so_far.all();
}

void pack_to_rows(const double* pack, Index width, Index n, double* rows) {
  if (!has_squares(width, n)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width; ++j) rows[i * width + j] = pack[j * pack_lanes + i];
    return;
  }
  for_squares(rows, width, [&](Index i, Index j, Index) {
    Line m[side];
    for (int k = 0; k < side; ++k) m[k] = load_line(pack + (j + k) * pack_lanes + i);
    transpose_square(m);
    for (int k = 0; k < side; ++k) store_line(rows + (i + k) * width + j, m[k]);
  });
}

void add_pack_to_rows(const double* pack, Index width, Index n, double* rows) {
  if (!has_squares(width, n)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width; ++j) rows[i * width + j] += pack[j * pack_lanes + i];
    return;
  }
  for_squares(rows, width, [&](Index i, Index j, Index done) {
    Line m[side];
    for (int k = 0; k < side; ++k) m[k] = j + k < done ? Line{} : load_line(pack + (j + k) * pack_lanes + i);
    transpose_square(m);
    for (int k = 0; k < side; ++k) {
      double* const row = rows + (i + k) * width + j;
      store_line(row, load_line(row) + m[k]);
    }
  });
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
