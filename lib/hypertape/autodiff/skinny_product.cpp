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

/// Columns of X that are worked through together, so that as much of one W stays in the first cache.
Index block_columns(Index p, Index width) {
  const Index most = std::max<Index>(64, 4096 / width / 8 * 8), blocks = (p + most - 1) / most;
  return padded((p + blocks - 1) / blocks);
}

/// Whether so many doubles stay in a core's cache beside what streams through it.
bool stays_in_cache(Index doubles) { return doubles <= 1 << 15; }

template <class Sparse>
Compressed compressed(const Sparse& X) {
  return {X.valuePtr(), X.innerIndexPtr(), X.outerIndexPtr()};
}

}  // namespace

void multiply_rows(const Kernels& kernels, const RowMat& X, Index first, Index rows, const double* W, Index width,
                   double* z, Index stride, Index count) {
  kernels.multiply_dense(X.data() + first * X.cols(), X.cols(), rows, readable_rows(X, first, rows), W, count * width,
                         block_columns(X.cols(), width), z, stride);
}

void multiply_rows(const Kernels& kernels, const SparseRows& X, Index first, Index rows, const double* W, Index width,
                   double* z, Index stride) {
  kernels.multiply_sparse(compressed(X), first, rows, W, width, !stays_in_cache(X.cols() * width), z, stride);
}

void add_transposed(const Kernels& kernels, const RowMat& X, Index first, Index rows, const double* z, Index stride,
                    Index width, double* G, bool squared) {
  kernels.add_transposed_dense(X.data() + first * X.cols(), X.cols(), rows, readable_rows(X, first, rows), z, stride,
                               width, squared, G);
}

void add_transposed(const Kernels& kernels, const SparseRows& X, Index first, Index rows, const double* z, Index stride,
                    Index width, double* G, bool squared) {
  kernels.add_transposed_sparse(compressed(X), first, rows, z, stride, width, squared, G);
}

bool scatters(const SparseRows& X, Index width) { return stays_in_cache(X.cols() * width); }

void add_columns(const Kernels& kernels, const SparseColumns& X, Index first, Index last, const double* z, Index width,
                 double* G, bool squared) {
  kernels.add_columns(compressed(X), first, last, z, width, !stays_in_cache(X.rows() * width), squared, G);
}

}  // namespace hypertape
