// Part of a variant: between rows and packs, a square of registers at a time.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// Calls square(first row, first component, components done before) for squares that cover a whole pack; the last ones
/// overlap those before where the width is no multiple of a register.
template <class F>
void for_squares(Index width, const F& square) {
  for (Index done = 0; done < width; done += simd_lanes) {
    const Index j = done < width - simd_lanes ? done : width - simd_lanes;
    for (Index i = 0; i < pack_lanes; i += simd_lanes) square(i, j, done);
  }
}

bool has_squares(Index width, Index n) { return n == pack_lanes && width >= simd_lanes; }

void rows_to_pack(const double* rows, Index width, Index n, double* pack) {
  if (!has_squares(width, n)) {
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < n; ++i) pack[j * pack_lanes + i] = rows[i * width + j];
    return;
  }
  for_squares(width, [&](Index i, Index j, Index) {
    Simd m[simd_lanes];
    for (int k = 0; k < simd_lanes; ++k) m[k] = load(rows + (i + k) * width + j);
    transpose_square(m);
    for (int k = 0; k < simd_lanes; ++k) store(pack + (j + k) * pack_lanes + i, m[k]);
  });
}

void pack_to_rows(const double* pack, Index width, Index n, double* rows) {
  if (!has_squares(width, n)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width; ++j) rows[i * width + j] = pack[j * pack_lanes + i];
    return;
  }
  for_squares(width, [&](Index i, Index j, Index) {
    Simd m[simd_lanes];
    for (int k = 0; k < simd_lanes; ++k) m[k] = load(pack + (j + k) * pack_lanes + i);
    transpose_square(m);
    for (int k = 0; k < simd_lanes; ++k) store(rows + (i + k) * width + j, m[k]);
  });
}

void add_pack_to_rows(const double* pack, Index width, Index n, double* rows) {
  if (!has_squares(width, n)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width; ++j) rows[i * width + j] += pack[j * pack_lanes + i];
    return;
  }
  for_squares(width, [&](Index i, Index j, Index done) {
    Simd m[simd_lanes];
    for (int k = 0; k < simd_lanes; ++k) m[k] = j + k < done ? Simd{} : load(pack + (j + k) * pack_lanes + i);
    transpose_square(m);
    for (int k = 0; k < simd_lanes; ++k) {
      double* const row = rows + (i + k) * width + j;
      store(row, load(row) + m[k]);
    }
  });
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
