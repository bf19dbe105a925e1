#pragma once

#include <Eigen/SparseCore>

#include "hypertape/core/types.hpp"

namespace hypertape {

using RowMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using SparseColumns = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

// Products of a tall matrix X (n x p) with a matrix of few columns, for a range of rows. Such products are where
// general libraries are weak: here the few columns are a compile-time width, held in registers
// (tests/benchmarks/bench_oracles has the figures).
//
// W is given as `width` rows of padded(p) entries, zeros behind the p-th (dense X), or as p rows of length `width`
// (sparse X): the layout each kernel reads in order. Images z = X W' are stored by component: z[j * stride + i] for
// component j of row i.

/// The length of a row of W or G for dense X: p, rounded up to whole registers.
Index padded(Index p);

/// z = X[first .. first + rows) W'.
void multiply_rows(const RowMat& X, Index first, Index rows, const double* W, Index width, double* z, Index stride);
void multiply_rows(const SparseRows& X, Index first, Index rows, const double* W, Index width, double* z, Index stride);

/// G += z' X[first .. first + rows), G being `width` rows of padded(p) entries, of which those behind
/// the p-th are left undefined.
void add_transposed(const RowMat& X, Index first, Index rows, const double* z, Index stride, Index width, double* G);

/// The same for sparse X, G being p rows of length `width`: pays where all of G stays in cache, which `scatters` tells.
void add_transposed(const SparseRows& X, Index first, Index rows, const double* z, Index stride, Index width,
                    double* G);
bool scatters(const SparseRows& X, Index width);

/// G[k - first] += sum_i X(i, k) z[i] for columns k in [first, last), z and G being rows of length `width`.
void add_columns(const SparseColumns& X, Index first, Index last, const double* z, Index width, double* G);

}  // namespace hypertape
