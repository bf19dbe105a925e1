#pragma once

#include <algorithm>
#include <vector>

#include "hypertape/autodiff/skinny_product.hpp"

namespace hypertape::problems {

/// A matrix of these rows: row i has the entries starts[i], ..., starts[i + 1] - 1 of `columns`, in order, and
/// `values`. Copying an Eigen::Map of the arrays would be shorter, and reserve memory for a multiple of `cols` entries.
inline SparseRows assemble(Index cols, const std::vector<int>& starts, const std::vector<int>& columns,
                           const std::vector<double>& values) {
  SparseRows X(static_cast<Index>(starts.size()) - 1, cols);
  X.resizeNonZeros(static_cast<Index>(values.size()));
  std::copy(starts.begin(), starts.end(), X.outerIndexPtr());
  std::copy(columns.begin(), columns.end(), X.innerIndexPtr());
  std::copy(values.begin(), values.end(), X.valuePtr());
  return X;
}

}  // namespace hypertape::problems
