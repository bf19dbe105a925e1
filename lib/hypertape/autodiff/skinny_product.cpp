#include "hypertape/autodiff/skinny_product.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "hypertape/autodiff/pack.hpp"

namespace hypertape {
namespace {

// Accumulators that fit the register file beside what is being loaded.
#if defined(__AVX512F__)
constexpr int accumulators = 24;
#else
constexpr int accumulators = 12;
#endif
constexpr int max_width = accumulators / 2;  // wider products are made in parts

double sum(Simd v) {
  double s = 0;
  for (int l = 0; l < simd_lanes; ++l) s += v[l];
  return s;
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

/// `rows` images of `width` components: each pair of a row and a component is a running sum along the row.
template <int width, int rows>
void multiply_tile(const double* X, Index stride_x, const double* W, Index p, double* z, Index stride) {
  Simd s[rows][width] = {};
  Index k = 0;
  for (; k + simd_lanes <= p; k += simd_lanes) {
    Simd x[rows];
    for (int i = 0; i < rows; ++i) x[i] = load(X + i * stride_x + k);
    for (int j = 0; j < width; ++j) {
      const Simd w = load(W + j * p + k);
      for (int i = 0; i < rows; ++i) s[i][j] += x[i] * w;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j) {
      double total = sum(s[i][j]);
      for (Index t = k; t < p; ++t) total += X[i * stride_x + t] * W[j * p + t];
      z[j * stride + i] = total;
    }
}

/// Two registers of columns of G at a time, over all rows of the block.
template <int width, int registers>
void add_transposed_tile(const double* X, Index stride_x, Index rows, const double* z, Index stride, double* G,
                         Index p) {
  Simd s[width][registers];
  for (int j = 0; j < width; ++j)
    for (int r = 0; r < registers; ++r) s[j][r] = load(G + j * p + r * simd_lanes);
  for (Index i = 0; i < rows; ++i) {
    Simd x[registers];
    for (int r = 0; r < registers; ++r) x[r] = load(X + i * stride_x + r * simd_lanes);
    for (int j = 0; j < width; ++j)
      for (int r = 0; r < registers; ++r) s[j][r] += x[r] * z[j * stride + i];
  }
  for (int j = 0; j < width; ++j)
    for (int r = 0; r < registers; ++r) store(G + j * p + r * simd_lanes, s[j][r]);
}

}  // namespace

void multiply_rows(const RowMat& X, Index first, Index rows, const double* W, Index width, double* z, Index stride) {
  const Index p = X.cols();
  for (Index j0 = 0; j0 < width; j0 += max_width)
    with_constant<max_width>(std::min<Index>(max_width, width - j0), [&](auto w) {
      constexpr int tile = accumulators / w() > 4 ? 4 : accumulators / w();
      Index i = 0;
      for (; i + tile <= rows; i += tile)
        multiply_tile<w(), tile>(X.data() + (first + i) * p, p, W + j0 * p, p, z + j0 * stride + i, stride);
      for (; i < rows; ++i)
        multiply_tile<w(), 1>(X.data() + (first + i) * p, p, W + j0 * p, p, z + j0 * stride + i, stride);
    });
}

void add_transposed(const RowMat& X, Index first, Index rows, const double* z, Index stride, Index width, double* G) {
  const Index p = X.cols();
  const double* const x = X.data() + first * p;
  for (Index j0 = 0; j0 < width; j0 += max_width)
    with_constant<max_width>(std::min<Index>(max_width, width - j0), [&](auto w) {
      constexpr int registers = 2;
      double* const g = G + j0 * p;
      const double* const zj = z + j0 * stride;
      Index k = 0;
      for (; k + registers * simd_lanes <= p; k += registers * simd_lanes)
        add_transposed_tile<w(), registers>(x + k, p, rows, zj, stride, g + k, p);
      for (; k + simd_lanes <= p; k += simd_lanes) add_transposed_tile<w(), 1>(x + k, p, rows, zj, stride, g + k, p);
      for (; k < p; ++k)
        for (int j = 0; j < w(); ++j)
          for (Index i = 0; i < rows; ++i) g[j * p + k] += x[i * p + k] * zj[j * stride + i];
    });
}

namespace {

constexpr int prefetch_ahead = 12;  // entries of a sparse row or column

/// out += sum over the entries of value * from[index], all of length `width`.
template <int width>
void gather(const double* values, const int* indices, Index entries, const double* from, double* out) {
  double s[width] = {};
  for (Index e = 0; e < entries; ++e) {
    if (e + prefetch_ahead < entries) {
      const double* const next = from + static_cast<Index>(indices[e + prefetch_ahead]) * width;
      for (int line = 0; line < width; line += 8) __builtin_prefetch(next + line);
    }
    const double* const w = from + static_cast<Index>(indices[e]) * width;
    const double v = values[e];
    for (int j = 0; j < width; ++j) s[j] += v * w[j];
  }
  for (int j = 0; j < width; ++j) out[j] = s[j];
}

void gather_any(Index width, const double* values, const int* indices, Index entries, const double* from, double* out) {
  std::fill_n(out, width, 0.0);
  for (Index e = 0; e < entries; ++e)
    for (Index j = 0; j < width; ++j) out[j] += values[e] * from[static_cast<Index>(indices[e]) * width + j];
}

constexpr int max_gathered = 32;

/// The fastest function for a width, chosen once for many calls.
template <class F>
void with_gather(Index width, const F& f) {
  if (width <= max_gathered)
    with_constant<max_gathered>(width, [&](auto w) {
      constexpr int constant = decltype(w)::value;
      f(gather<constant>);
    });
  else
    f([width](const double* v, const int* i, Index n, const double* from, double* out) {
      gather_any(width, v, i, n, from, out);
    });
}

}  // namespace

void multiply_rows(const SparseRows& X, Index first, Index rows, const double* W, Index width, double* z,
                   Index stride) {
  with_gather(width, [&](const auto& gather_row) {
    std::array<double, max_gathered> local;
    std::vector<double> large(width > max_gathered ? static_cast<std::size_t>(width) : 0);
    double* const image = width > max_gathered ? large.data() : local.data();
    for (Index i = 0; i < rows; ++i) {
      const int begin = X.outerIndexPtr()[first + i], end = X.outerIndexPtr()[first + i + 1];
      gather_row(X.valuePtr() + begin, X.innerIndexPtr() + begin, end - begin, W, image);
      for (Index j = 0; j < width; ++j) z[j * stride + i] = image[j];
    }
  });
}

void multiply_columns(const SparseColumns& X, Index first, Index last, const double* z, Index width, double* G) {
  with_gather(width, [&](const auto& gather_column) {
    for (Index k = first; k < last; ++k) {
      const int begin = X.outerIndexPtr()[k], end = X.outerIndexPtr()[k + 1];
      gather_column(X.valuePtr() + begin, X.innerIndexPtr() + begin, end - begin, z, G + (k - first) * width);
    }
  });
}

}  // namespace hypertape
