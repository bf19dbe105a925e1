// Part of a variant: products of a tall matrix with few columns, dense and sparse.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

// Accumulators that fit the register file beside what is being loaded: AVX-512 has 32 registers, what came before 16.
constexpr int accumulators = simd_lanes == 8 ? 24 : 12;
constexpr int max_width = accumulators / 2;  // wider products are made in parts
constexpr int row_tile = 4;                  // rows that share what is loaded of W

constexpr Index least(Index a, Index b) { return a < b ? a : b; }

/// Calls f.template operator()<width>() for 1 <= width <= max.
template <int max, class F>
void with_constant(Index width, const F& f) {
  if constexpr (max > 0) {
    if (width == max)
      f.template operator()<max>();
    else
      with_constant<max - 1>(width, f);
  }
}

/// The sums of the lanes of `count` registers.
template <int count>
void sum_lanes(const Simd* v, double* out) {
  for (int i = 0; i < count; i += simd_lanes) {
    Simd s[simd_lanes] = {};
    for (int l = 0; l < simd_lanes && i + l < count; ++l) s[l] = v[i + l];
    const Simd sums = sum_each(s);
    for (int l = 0; l < simd_lanes && i + l < count; ++l) out[i + l] = sums[l];
  }
}

/// `rows` images of `width` components: each pair of a row and a component is a running sum along the row. Reads X in
/// whole registers, past the end of a row, where W is zero.
template <int width, int rows>
void multiply_tile(const double* X, Index p, Index columns, const double* W, Index stride_w, bool first, double* z,
                   Index stride, Index ahead) {
  Simd s[rows * width] = {};
  for (Index k = 0; k < columns; k += simd_lanes) {
    Simd x[rows];
    for (int i = 0; i < rows; ++i) x[i] = load(X + i * p + k);
    for (int i = 0; i < rows / 2 && ahead > 0; ++i) __builtin_prefetch(X + (i + ahead) * p + k, 0, 2);
    for (int j = 0; j < width; ++j) {
      const Simd w = load(W + j * stride_w + k);
      for (int i = 0; i < rows; ++i) s[i * width + j] += x[i] * w;
    }
  }
  double sums[rows * width];
  sum_lanes<rows * width>(s, sums);
  for (int j = 0; j < width; ++j)
    for (int i = 0; i < rows; ++i) z[j * stride + i] = sums[i * width + j] + (first ? 0 : z[j * stride + i]);
}

void multiply_dense(const double* X, Index p, Index rows, Index whole, const double* W, Index width, Index columns,
                    double* z, Index stride) {
  const Index stride_w = padded(p);
  // Parts of equal width: 10 is made of 5 and 5, so that a part of W stays in the first cache.
  constexpr Index most_width = accumulators / row_tile;
  const Index parts = (width + most_width - 1) / most_width, part = (width + parts - 1) / parts;
  for (Index k = 0; k < p; k += columns)
    for (Index i = 0; i < whole; i += row_tile)
      for (Index j = 0; j < width; j += part)
        with_constant<most_width>(least(part, width - j), [&]<int w>() {
          const double* const wj = W + j * stride_w + k;
          const Index n = least(columns, p - k);
          if (i + row_tile <= whole)
            multiply_tile<w, row_tile>(X + i * p + k, p, n, wj, stride_w, k == 0, z + j * stride + i, stride,
                                       j == 0 ? rows : 0);
          else
            for (Index t = i; t < whole; ++t)
              multiply_tile<w, 1>(X + t * p + k, p, n, wj, stride_w, k == 0, z + j * stride + t, stride, 0);
        });
  for (Index i = whole; i < rows; ++i)
    for (Index j = 0; j < width; ++j) {
      double sum = 0;
      for (Index k = 0; k < p; ++k) sum += X[i * p + k] * W[j * stride_w + k];
      z[j * stride + i] = sum;
    }
}

/// Calls f.template operator()<squared>().
template <class F>
void with_flag(bool squared, const F& f) {
  if (squared)
    f.template operator()<true>();
  else
    f.template operator()<false>();
}

/// An entry of X, or some, as it stands or squared.
template <bool squared, class T>
T entry_of(T x) {
  if constexpr (squared) return x * x;
  return x;
}

/// A few registers of columns of G, over all rows of the block. Reads X past the end of a row, for columns of G that
/// nobody reads. Meanwhile the next block is fetched.
template <int width, int registers, bool squared>
void add_transposed_tile(const double* X, Index p, Index rows, const double* z, Index stride, double* G,
                         Index stride_g) {
  Simd s[width][registers];
  for (int j = 0; j < width; ++j)
    for (int r = 0; r < registers; ++r) s[j][r] = load(G + j * stride_g + r * simd_lanes);
  for (Index i = 0; i < rows; ++i) {
    Simd x[registers];
    for (int r = 0; r < registers; ++r) x[r] = entry_of<squared>(load(X + i * p + r * simd_lanes));
    if (i % row_tile >= row_tile / 2)
      for (int r = 0; r < registers; ++r) __builtin_prefetch(X + (i + rows) * p + r * simd_lanes, 0, 2);
    for (int j = 0; j < width; ++j)
      for (int r = 0; r < registers; ++r) s[j][r] += x[r] * z[j * stride + i];
  }
  for (int j = 0; j < width; ++j)
    for (int r = 0; r < registers; ++r) store(G + j * stride_g + r * simd_lanes, s[j][r]);
}

void add_transposed_dense(const double* X, Index p, Index rows, Index whole, const double* z, Index stride, Index width,
                          bool squared, double* G) {
  const Index stride_g = padded(p);
  const Index parts = (width + max_width - 1) / max_width, part = (width + parts - 1) / parts;
  with_flag(squared, [&]<bool square>() {
    for (Index j0 = 0; j0 < width; j0 += part)
      with_constant<max_width>(least(part, width - j0), [&]<int w>() {
        constexpr int registers = 2;
        double* const g = G + j0 * stride_g;
        const double* const zj = z + j0 * stride;
        Index k = 0;
        for (; k + registers * simd_lanes <= stride_g; k += registers * simd_lanes)
          add_transposed_tile<w, registers, square>(X + k, p, whole, zj, stride, g + k, stride_g);
        if (k < stride_g) add_transposed_tile<w, 1, square>(X + k, p, whole, zj, stride, g + k, stride_g);
      });
    for (Index i = whole; i < rows; ++i)
      for (Index j = 0; j < width; ++j)
        for (Index k = 0; k < p; ++k) G[j * stride_g + k] += entry_of<square>(X[i * p + k]) * z[j * stride + i];
  });
}

/// `width` doubles in registers: whole ones, then halves and quarters of them for the rest.
template <int width>
struct Row {
  using Four = double __attribute__((vector_size(32)));
  using Two = double __attribute__((vector_size(16)));
  static constexpr int whole = width / simd_lanes, rest = width % simd_lanes;
  static constexpr int after_four = whole * simd_lanes + (rest & 4), after_two = after_four + (rest & 2);

  Simd wholes[whole > 0 ? whole : 1] = {};
#if HYPERTAPE_LANES == 8
  Four four = {};
#endif
  Two two = {};
  double one = 0;

  static Row read(const double* from) {
    Row row;
    for (int r = 0; r < whole; ++r) row.wholes[r] = load(from + r * simd_lanes);
#if HYPERTAPE_LANES == 8
    if constexpr ((rest & 4) != 0) __builtin_memcpy(&row.four, from + whole * simd_lanes, sizeof row.four);
#endif
    if constexpr ((rest & 2) != 0) __builtin_memcpy(&row.two, from + after_four, sizeof row.two);
    if constexpr ((rest & 1) != 0) row.one = from[after_two];
    return row;
  }

  void write(double* to) const {
    for (int r = 0; r < whole; ++r) store(to + r * simd_lanes, wholes[r]);
#if HYPERTAPE_LANES == 8
    if constexpr ((rest & 4) != 0) __builtin_memcpy(to + whole * simd_lanes, &four, sizeof four);
#endif
    if constexpr ((rest & 2) != 0) __builtin_memcpy(to + after_four, &two, sizeof two);
    if constexpr ((rest & 1) != 0) to[after_two] = one;
  }

  /// this += scale * row.
  void add(double scale, const Row& row) {
    for (int r = 0; r < whole; ++r) wholes[r] += scale * row.wholes[r];
#if HYPERTAPE_LANES == 8
    if constexpr ((rest & 4) != 0) four += scale * row.four;
#endif
    if constexpr ((rest & 2) != 0) two += scale * row.two;
    if constexpr ((rest & 1) != 0) one += scale * row.one;
  }
};

constexpr int prefetch_ahead = 12;  // entries of a sparse row or column
constexpr int max_gathered = 32;    // wider rows are gathered in parts

/// sum over the entries of value (or its square) * from[index], rows being `stride` apart, fetched ahead if `from` is
/// far away. Entries are summed in two interleaved parts, so that an addition need not wait for the one before, where
/// registers suffice.
template <int width, bool far, bool squared = false>
Row<width> gather(const double* values, const int* indices, Index entries, const double* from, Index stride) {
  const auto row_of = [&](Index e) { return from + static_cast<Index>(indices[e]) * stride; };
  const auto value = [&](Index e) { return entry_of<squared>(values[e]); };
  const auto fetch = [&](Index e) {
    const double* const next = row_of(e);
    for (int line = 0; line < width; line += 8) __builtin_prefetch(next + line);
    __builtin_prefetch(next + width - 1);
  };
  Row<width> even, odd;
  const auto add_two = [&](Index e) {
    even.add(value(e), Row<width>::read(row_of(e)));
    if constexpr (2 * (Row<width>::whole + 1) <= accumulators)
      odd.add(value(e + 1), Row<width>::read(row_of(e + 1)));
    else
      even.add(value(e + 1), Row<width>::read(row_of(e + 1)));
  };
  Index e = 0;
  if constexpr (far)
    for (; e + prefetch_ahead + 1 < entries; e += 2) {
      fetch(e + prefetch_ahead);
      fetch(e + prefetch_ahead + 1);
      add_two(e);
    }
  for (; e + 1 < entries; e += 2) add_two(e);
  if (e < entries) even.add(value(e), Row<width>::read(row_of(e)));
  even.add(1, odd);
  return even;
}

/// Calls f.template operator()<part width, flag>(first component) for parts of a row of `width`.
template <class F>
void for_parts(Index width, bool flag, const F& f) {
  with_flag(flag, [&]<bool constant>() {
    for (Index j = 0; j < width; j += max_gathered)
      with_constant<max_gathered>(least(max_gathered, width - j),
                                  [&]<int w>() { f.template operator()<w, constant>(j); });
  });
}

void multiply_sparse(Compressed X, Index first, Index rows, const double* W, Index width, bool far, double* z,
                     Index stride) {
  for_parts(width, far, [&]<int w, bool is_far>(Index j0) {
    for (Index i = 0; i < rows; ++i) {
      const int begin = X.starts[first + i], end = X.starts[first + i + 1];
      double image[w];
      gather<w, is_far>(X.values + begin, X.indices + begin, end - begin, W + j0, width).write(image);
      for (int j = 0; j < w; ++j) z[(j0 + j) * stride + i] = image[j];
    }
  });
}

void add_transposed_sparse(Compressed X, Index first, Index rows, const double* z, Index stride, Index width,
                           bool squared, double* G) {
  for_parts(width, squared, [&]<int w, bool square>(Index j0) {
    for (Index i = 0; i < rows; ++i) {
      double image[w];
      for (int j = 0; j < w; ++j) image[j] = z[(j0 + j) * stride + i];
      const Row<w> row = Row<w>::read(image);
      for (int e = X.starts[first + i]; e < X.starts[first + i + 1]; ++e) {
        double* const g = G + static_cast<Index>(X.indices[e]) * width + j0;
        Row<w> sum = Row<w>::read(g);
        sum.add(entry_of<square>(X.values[e]), row);
        sum.write(g);
      }
    }
  });
}

void add_columns(Compressed columns, Index first, Index last, const double* z, Index width, bool far, bool squared,
                 double* G) {
  with_flag(squared, [&]<bool square>() {
    for_parts(width, far, [&]<int w, bool is_far>(Index j0) {
      for (Index k = first; k < last; ++k) {
        const int begin = columns.starts[k], end = columns.starts[k + 1];
        double* const g = G + (k - first) * width + j0;
        Row<w> sum = Row<w>::read(g);
        sum.add(1,
                gather<w, is_far, square>(columns.values + begin, columns.indices + begin, end - begin, z + j0, width));
        sum.write(g);
      }
    });
  });
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
