#include "hypertape/autodiff/skinny_product.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "hypertape/autodiff/pack.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

// Accumulators that fit the register file beside what is being loaded.
#if defined(__AVX512F__)
constexpr int accumulators = 24;
#else
constexpr int accumulators = 12;
#endif
constexpr int max_width = accumulators / 2;  // wider products are made in parts
constexpr int row_tile = 4;                  // rows that share what is loaded of W

/// The sums of the lanes of `count` registers. Eight registers are summed with seven additions, not with fifty-six.
template <int count>
void sum_lanes(const Simd* v, double* out) {
#if defined(__AVX512F__)
  const auto fold = [](const TwoRegisters& halves) { return halves.first + halves.second; };
  for (int i = 0; i < count; i += 8) {
    Simd s[8] = {};
    for (int l = 0; l < 8 && i + l < count; ++l) s[l] = v[i + l];
    for (int l = 0; l < 8; l += 2) s[l] = fold(ones(s[l], s[l + 1]));
    for (int l = 0; l < 8; l += 4) s[l] = fold(twos(s[l], s[l + 2]));
    const Simd sums = fold(fours(s[0], s[4]));
    for (int l = 0; l < 8 && i + l < count; ++l) out[i + l] = sums[l];
  }
#else
  for (int i = 0; i < count; ++i) {
    out[i] = 0;
    for (int l = 0; l < simd_lanes; ++l) out[i] += v[i][l];
  }
#endif
}

/// Calls f(std::integral_constant<int, width>) for 1 <= width <= max.
template <int max, class F>
void with_constant(Index width, const F& f) {
  if constexpr (max > 0) {
    if (width == max)
      f(std::integral_constant<int, max>());
    else
      with_constant<max - 1>(width, f);
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

/// A few registers of columns of G, over all rows of the block. Reads X past the end of a row, for columns of G that
/// nobody reads. Meanwhile the next block is fetched.
template <int width, int registers>
void add_transposed_tile(const double* X, Index p, Index rows, const double* z, Index stride, double* G,
                         Index stride_g) {
  Simd s[width][registers];
  for (int j = 0; j < width; ++j)
    for (int r = 0; r < registers; ++r) s[j][r] = load(G + j * stride_g + r * simd_lanes);
  for (Index i = 0; i < rows; ++i) {
    Simd x[registers];
    for (int r = 0; r < registers; ++r) x[r] = load(X + i * p + r * simd_lanes);
    if (i % row_tile >= row_tile / 2)
      for (int r = 0; r < registers; ++r) __builtin_prefetch(X + (i + rows) * p + r * simd_lanes, 0, 2);
    for (int j = 0; j < width; ++j)
      for (int r = 0; r < registers; ++r) s[j][r] += x[r] * z[j * stride + i];
  }
  for (int j = 0; j < width; ++j)
    for (int r = 0; r < registers; ++r) store(G + j * stride_g + r * simd_lanes, s[j][r]);
}

}  // namespace

Index padded(Index p) { return (p + simd_lanes - 1) / simd_lanes * simd_lanes; }

namespace {

/// How many of these rows can be read in whole registers, past their end, without leaving X.
Index readable_rows(const RowMat& X, Index first, Index rows) {
  const Index last_start = X.size() - padded(X.cols());
  const Index readable = last_start < 0 ? 0 : last_start / X.cols() + 1;
  return std::clamp<Index>(readable - first, 0, rows);
}

}  // namespace

void multiply_rows(const RowMat& X, Index first, Index rows, const double* W, Index width, double* z, Index stride) {
  const Index p = X.cols(), stride_w = padded(p);
  const double* const x = X.data() + first * p;
  const Index whole = readable_rows(X, first, rows);
  // Parts of equal width: 10 is made of 5 and 5, so that a part of W stays in the first cache.
  constexpr Index most = accumulators / row_tile;
  const Index parts = (width + most - 1) / most, part = (width + parts - 1) / parts;
  const Index most_columns = std::max<Index>(64, 4096 / width / simd_lanes * simd_lanes);
  const Index blocks = (p + most_columns - 1) / most_columns, columns = padded((p + blocks - 1) / blocks);
  for (Index k = 0; k < p; k += columns)
    for (Index i = 0; i < whole; i += row_tile)
      for (Index j = 0; j < width; j += part)
        with_constant<most>(std::min(part, width - j), [&](auto w) {
          const double* const wj = W + j * stride_w + k;
          const Index n = std::min(columns, p - k);
          if (i + row_tile <= whole)
            multiply_tile<w(), row_tile>(x + i * p + k, p, n, wj, stride_w, k == 0, z + j * stride + i, stride,
                                         j == 0 ? rows : 0);
          else
            for (Index t = i; t < whole; ++t)
              multiply_tile<w(), 1>(x + t * p + k, p, n, wj, stride_w, k == 0, z + j * stride + t, stride, 0);
        });
  for (Index i = whole; i < rows; ++i)
    for (Index j = 0; j < width; ++j) {
      double sum = 0;
      for (Index k = 0; k < p; ++k) sum += x[i * p + k] * W[j * stride_w + k];
      z[j * stride + i] = sum;
    }
}

void add_transposed(const RowMat& X, Index first, Index rows, const double* z, Index stride, Index width, double* G) {
  const Index p = X.cols(), stride_g = padded(p);
  const double* const x = X.data() + first * p;
  const Index whole = readable_rows(X, first, rows);
  for (Index j0 = 0; j0 < width; j0 += max_width)
    with_constant<max_width>(std::min<Index>(max_width, width - j0), [&](auto w) {
      constexpr int registers = 2;
      double* const g = G + j0 * stride_g;
      const double* const zj = z + j0 * stride;
      Index k = 0;
      for (; k + registers * simd_lanes <= stride_g; k += registers * simd_lanes)
        add_transposed_tile<w(), registers>(x + k, p, whole, zj, stride, g + k, stride_g);
      if (k < stride_g) add_transposed_tile<w(), 1>(x + k, p, whole, zj, stride, g + k, stride_g);
    });
  for (Index i = whole; i < rows; ++i)
    for (Index j = 0; j < width; ++j)
      for (Index k = 0; k < p; ++k) G[j * stride_g + k] += x[i * p + k] * z[j * stride + i];
}

namespace {

constexpr int prefetch_ahead = 12;  // entries of a sparse row or column

/// Whether so many doubles stay in a core's cache beside what streams through it.
bool stays_in_cache(Index doubles) { return doubles <= 1 << 15; }

/// out += sum over the entries of value * from[index], all of length `width`, fetched ahead if `from` is far away.
/// Entries are summed in two interleaved parts, so that an addition need not wait for the one before.
template <int width, bool far>
void gather(const double* values, const int* indices, Index entries, const double* from, double* out) {
  double even[width] = {}, odd[width] = {};
  const auto add = [&](Index e, double* s) {
    const double* const w = from + static_cast<Index>(indices[e]) * width;
    const double v = values[e];
    for (int j = 0; j < width; ++j) s[j] += v * w[j];
  };
  const auto fetch = [&](Index e) {
    const double* const next = from + static_cast<Index>(indices[e]) * width;
    for (int line = 0; line < width; line += 8) __builtin_prefetch(next + line);
    __builtin_prefetch(next + width - 1);
  };
  Index e = 0;
  for (; far && e + prefetch_ahead + 1 < entries; e += 2) {
    fetch(e + prefetch_ahead);
    fetch(e + prefetch_ahead + 1);
    add(e, even);
    add(e + 1, odd);
  }
  for (; e + 1 < entries; e += 2) {
    add(e, even);
    add(e + 1, odd);
  }
  if (e < entries) add(e, even);
  for (int j = 0; j < width; ++j) out[j] += even[j] + odd[j];
}

void gather_any(Index width, const double* values, const int* indices, Index entries, const double* from, double* out) {
  for (Index e = 0; e < entries; ++e)
    for (Index j = 0; j < width; ++j) out[j] += values[e] * from[static_cast<Index>(indices[e]) * width + j];
}

constexpr int max_gathered = 32;

/// The fastest function for gathering from `count` rows of a width, chosen once for many calls.
template <class F>
void with_gather(Index count, Index width, const F& f) {
  if (width <= max_gathered)
    with_constant<max_gathered>(width, [&](auto w) {
      constexpr int constant = decltype(w)::value;
      if (stays_in_cache(count * width))
        f(gather<constant, false>);
      else
        f(gather<constant, true>);
    });
  else
    f([width](const double* v, const int* i, Index n, const double* from, double* out) {
      gather_any(width, v, i, n, from, out);
    });
}

}  // namespace

void multiply_rows(const SparseRows& X, Index first, Index rows, const double* W, Index width, double* z,
                   Index stride) {
  with_gather(X.cols(), width, [&](const auto& gather_row) {
    std::array<double, max_gathered> local;
    std::vector<double> large(width > max_gathered ? static_cast<std::size_t>(width) : 0);
    double* const image = width > max_gathered ? large.data() : local.data();
    for (Index i = 0; i < rows; ++i) {
      const int begin = X.outerIndexPtr()[first + i], end = X.outerIndexPtr()[first + i + 1];
      std::fill_n(image, width, 0.0);
      gather_row(X.valuePtr() + begin, X.innerIndexPtr() + begin, end - begin, W, image);
      for (Index j = 0; j < width; ++j) z[j * stride + i] = image[j];
    }
  });
}

namespace {

template <int width>
void scatter(const double* values, const int* indices, Index entries, const double* z, double* G) {
  double local[width];  // in registers: what is written to G cannot be what is read here
  std::copy_n(z, width, local);
  for (Index e = 0; e < entries; ++e) {
    double* const g = G + static_cast<Index>(indices[e]) * width;
    const double v = values[e];
    double sum[width];
    for (int j = 0; j < width; ++j) sum[j] = g[j] + v * local[j];
    for (int j = 0; j < width; ++j) g[j] = sum[j];
  }
}

}  // namespace

void add_transposed(const SparseRows& X, Index first, Index rows, const double* z, Index stride, Index width,
                    double* G) {
  require(width <= max_gathered, "add_transposed: width = ", width, ", must be at most ", max_gathered);
  with_constant<max_gathered>(width, [&](auto w) {
    std::array<double, max_gathered> image;
    for (Index i = 0; i < rows; ++i) {
      for (int j = 0; j < w(); ++j) image[static_cast<std::size_t>(j)] = z[j * stride + i];
      const int begin = X.outerIndexPtr()[first + i], end = X.outerIndexPtr()[first + i + 1];
      scatter<w()>(X.valuePtr() + begin, X.innerIndexPtr() + begin, end - begin, image.data(), G);
    }
  });
}

bool scatters(const SparseRows& X, Index width) { return width <= max_gathered && stays_in_cache(X.cols() * width); }

void add_columns(const SparseColumns& X, Index first, Index last, const double* z, Index width, double* G) {
  with_gather(X.rows(), width, [&](const auto& gather_column) {
    for (Index k = first; k < last; ++k) {
      const int begin = X.outerIndexPtr()[k], end = X.outerIndexPtr()[k + 1];
      gather_column(X.valuePtr() + begin, X.innerIndexPtr() + begin, end - begin, z, G + (k - first) * width);
    }
  });
}

}  // namespace hypertape
