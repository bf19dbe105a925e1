#include "hypertape/autodiff/skinny_product.hpp"

#include <algorithm>

namespace hypertape {
namespace {

/// How many of these rows can be read in whole registers, past their end, without leaving X.
Index readable_rows(const RowMat& X, Index first, Index rows) {
  const Index last_start = X.size() - padded(X.cols());
  const Index readable = last_start < 0 ? 0 : last_start / X.cols() + 1;
  return std::clamp<Index>(readable - first, 0, rows);
}

/// Whether so many doubles stay in a core's cache beside what streams through it.
bool stays_in_cache(Index doubles) { return doubles <= 1 << 15; }

template <class Sparse>
Compressed compressed(const Sparse& X) {
  return {X.valuePtr(), X.innerIndexPtr(), X.outerIndexPtr()};
}

}  // namespace

void multiply_rows(const Kernels& kernels, const RowMat& X, Index first, Index rows, const double* W, Index width,
                   double* z, Index stride) {
  kernels.multiply_dense(X.data() + first * X.cols(), X.cols(), rows, readable_rows(X, first, rows), W, width, z,
                         stride);
}

void multiply_rows(const Kernels& kernels, const SparseRows& X, Index first, Index rows, const double* W, Index width,
                   double* z, Index stride) {
  kernels.multiply_sparse(compressed(X), first, rows, W, width, !stays_in_cache(X.cols() * width), z, stride);
}

void add_transposed(const Kernels& kernels, const RowMat& X, Index first, Index rows, const double* z, Index stride,
                    Index width, double* G) {
  kernels.add_transposed_dense(X.data() + first * X.cols(), X.cols(), rows, readable_rows(X, first, rows), z, stride,
                               width, G);
}

void add_transposed(const Kernels& kernels, const SparseRows& X, Index first, Index rows, const double* z, Index stride,
                    Index width, double* G) {
  kernels.add_transposed_sparse(compressed(X), first, rows, z, stride, width, G);
}

bool scatters(const SparseRows& X, Index width) { return stays_in_cache(X.cols() * width); }

void add_columns(const Kernels& kernels, const SparseColumns& X, Index first, Index last, const double* z, Index width,
                 double* G) {
  kernels.add_columns(compressed(X), first, last, z, width, !stays_in_cache(X.rows() * width), G);
}

}  // namespace hypertape
