#pragma once

#include <algorithm>

#include "hypertape/autodiff/pack.hpp"
#include "hypertape/core/types.hpp"

namespace hypertape {

// Between `n` rows of `width` components, stored one row after the other, and a pack, stored by component: component j
// of row i at j * pack_lanes + i. Registers at a time where there are eight lanes, scalar elsewhere.

#if defined(__AVX512F__)
/// Row i of the square becomes its column i.
inline void transpose_square(Simd (&m)[8]) {
  const auto exchange = [&](int i, int k, auto halves) {
    const Simd a = m[i], b = m[k];
    m[i] = halves(a, b).first;
    m[k] = halves(a, b).second;
  };
  for (int i = 0; i < 8; i += 2) exchange(i, i + 1, ones);
  for (const int i : {0, 1, 4, 5}) exchange(i, i + 2, twos);
  for (int i = 0; i < 4; ++i) exchange(i, i + 4, fours);
}
#endif

inline void rows_to_pack(const double* rows, Index width, Index n, double* pack) {
#if defined(__AVX512F__)
  if (n == pack_lanes && width >= 8) {
    for (Index done = 0; done < width; done += 8) {
      const Index j = std::min(done, width - 8);  // the last square overlaps the one before
      for (Index i = 0; i < pack_lanes; i += 8) {
        Simd m[8];
        for (int k = 0; k < 8; ++k) m[k] = load(rows + (i + k) * width + j);
        transpose_square(m);
        for (int k = 0; k < 8; ++k) store(pack + (j + k) * pack_lanes + i, m[k]);
      }
    }
    return;
  }
#endif
  for (Index j = 0; j < width; ++j)
    for (Index i = 0; i < n; ++i) pack[j * pack_lanes + i] = rows[i * width + j];
}

inline void add_pack_to_rows(const double* pack, Index width, Index n, double* rows) {
#if defined(__AVX512F__)
  if (n == pack_lanes && width >= 8) {
    for (Index done = 0; done < width; done += 8) {
      const Index j = std::min(done, width - 8);
      for (Index i = 0; i < pack_lanes; i += 8) {
        Simd m[8];
        for (int k = 0; k < 8; ++k) m[k] = j + k < done ? Simd{} : load(pack + (j + k) * pack_lanes + i);
        transpose_square(m);
        for (int k = 0; k < 8; ++k) {
          double* const row = rows + (i + k) * width + j;
          store(row, load(row) + m[k]);
        }
      }
    }
    return;
  }
#endif
  for (Index j = 0; j < width; ++j)
    for (Index i = 0; i < n; ++i) rows[i * width + j] += pack[j * pack_lanes + i];
}

}  // namespace hypertape
