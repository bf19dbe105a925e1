#pragma once

#include <string>
#include <vector>

#include "hypertape/autodiff/skinny_product.hpp"

namespace hypertape::problems {

/// Examples as sparse rows, with a label for each.
struct LabelledSparseRows {
  SparseRows X;
  std::vector<int> labels;  ///< as they stand in the file
};

/// Reads the text format of svmlight and libsvm, plain or gzip, one example on a line:
///
///   label index:value index:value ... # comment
///
/// Indices count from 1 and increase along a line; index k is column k - 1. Values are finite decimal numbers in
/// the range of double, labels numbers without a fraction (`-1`, `+1`, `2.0`). Lines that are empty or a comment are
/// left out. X has `features` columns; 0 stands for the largest index in the file, which for a test set may be smaller
/// than for its training set.
///
/// Throws std::runtime_error, with the file's name and the line, for anything else, and for a file without any entry.
LabelledSparseRows read_svmlight(const std::string& file, Index features = 0);

}  // namespace hypertape::problems
