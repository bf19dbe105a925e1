#pragma once

#include <Eigen/SparseCore>

#include "hypertape/core/types.hpp"
#include "hypertape/simd/kernels.hpp"

namespace hypertape {

using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using SparseColumns = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

// The products of Kernels for a range of rows of Eigen's matrices.

/// z = X[first .. first + rows) W'. `count` such W of `width` rows, one behind the other, have images behind each
/// other, the same to the last bit as one at a time.
void multiply_rows(const Kernels& kernels, const RowMat& X, Index first, Index rows, const double* W, Index width,
                   double* z, Index stride, Index count = 1);
void multiply_rows(const Kernels& kernels, const SparseRows& X, Index first, Index rows, const double* W, Index width,
                   double* z, Index stride);

/// G += z' X[first .. first + rows), or, if `squared`, the same with the squares of X's entries.
void add_transposed(const Kernels& kernels, const RowMat& X, Index first, Index rows, const double* z, Index stride,
                    Index width, double* G, bool squared = false);

/// The same for sparse X: pays where all of G stays in cache, which `scatters` tells.
void add_transposed(const Kernels& kernels, const SparseRows& X, Index first, Index rows, const double* z, Index stride,
                    Index width, double* G, bool squared = false);
bool scatters(const SparseRows& X, Index width);

/// G[k - first] += sum_i X(i, k) z[i] for columns k in [first, last), or with X(i, k)^2 if `squared`.
void add_columns(const Kernels& kernels, const SparseColumns& X, Index first, Index last, const double* z, Index width,
                 double* G, bool squared = false);

}  // namespace hypertape
