#pragma once

#include <vector>

#include "hypertape/core/types.hpp"

namespace hypertape::problems {

/// Throws std::invalid_argument unless there is a label from 0 to classes - 1 for every row; `where` opens the message.
void require_labels(const char* where, const std::vector<int>& labels, Index rows, int classes);

/// Labels as row constants of a term.
Mat as_data(const std::vector<int>& labels);

}  // namespace hypertape::problems
