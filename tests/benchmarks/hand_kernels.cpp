#include "hand_kernels.hpp"

// Compiled once for each instruction set, as lib/hypertape/simd/variant is, and like it without inline functions of
// others.
#include "hypertape/simd/variant/exponential.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

using benchmarks::block_rows;

double softmax(double* z, Index classes, Index n, double* inverse) {
  double total = 0;
  for (Index i = 0; i < block_rows; i += simd_lanes) {
    Simd largest = load(z + i);
    for (Index j = 1; j < classes; ++j) {
      const Simd zj = load(z + j * block_rows + i);
      largest = zj > largest ? zj : largest;
    }
    Simd sum{};
    for (Index j = 0; j < classes; ++j) {
      const Simd e = simd_exp(load(z + j * block_rows + i) - largest);
      store(z + j * block_rows + i, e);
      sum += e;
    }
    store(inverse + i, 1.0 / sum);
    const Simd value = largest + simd_log(sum);
    for (Index l = 0; l < simd_lanes && i + l < n; ++l) total += value[l];
  }
  return total;
}

void scale(double* z, Index classes, const double* scale) {
  for (Index j = 0; j < classes; ++j)
    for (Index i = 0; i < block_rows; i += simd_lanes)
      store(z + j * block_rows + i, load(z + j * block_rows + i) * load(scale + i));
}

void softmax_hessian(const double* p, const double* weight, Index classes, double* u) {
  for (Index i = 0; i < block_rows; i += simd_lanes) {
    Simd mean{};
    for (Index j = 0; j < classes; ++j) mean += load(p + j * block_rows + i) * load(u + j * block_rows + i);
    for (Index j = 0; j < classes; ++j)
      store(u + j * block_rows + i,
            load(weight + i) * load(p + j * block_rows + i) * (load(u + j * block_rows + i) - mean));
  }
}

void weighted_mean(const double* p, const double* u, const double* scale, Index classes, double* result) {
  for (Index i = 0; i < block_rows; i += simd_lanes) {
    Simd mean{};
    for (Index j = 0; j < classes; ++j) mean += load(p + j * block_rows + i) * load(u + j * block_rows + i);
    store(result + i, mean * load(scale + i));
  }
}

void weigh_rows(const double* weight, const double* v, Index rows, Index width, double* out) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < width; ++j) out[i * width + j] = weight[i] * v[i * width + j];
}

void weighted_dots(const double* weight, const double* a, const double* b, Index rows, Index width, double* out) {
  for (Index i = 0; i < rows; ++i) {
    Simd sums{};
    Index j = 0;
    for (; j + simd_lanes <= width; j += simd_lanes) sums += load(a + i * width + j) * load(b + i * width + j);
    double sum = 0;
    for (; j < width; ++j) sum += a[i * width + j] * b[i * width + j];
    for (int l = 0; l < simd_lanes; ++l) sum += sums[l];
    out[i] = weight[i] * sum;
  }
}

}  // namespace

extern const benchmarks::HandKernels hand_kernels;
const benchmarks::HandKernels hand_kernels = {softmax,       scale,      softmax_hessian,
                                              weighted_mean, weigh_rows, weighted_dots};

}  // namespace hypertape::HYPERTAPE_VARIANT
