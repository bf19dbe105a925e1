#pragma once

#include <vector>

#include "hypertape/core/random.hpp"

namespace hypertape::problems {

/// Throws std::invalid_argument unless there is a label from 0 to classes - 1 for every row; `where` opens the message.
void require_labels(const char* where, const std::vector<int>& labels, Index rows, int classes);

/// Gives exactly floor(share * labels) of them another class, each of the others equally likely; says which.
std::vector<bool> corrupt_labels(std::vector<int>& labels, int classes, double share, Random& random);

/// A random order of 0, ..., n - 1.
std::vector<std::size_t> shuffled(std::size_t n, Random& random);

/// Labels as row constants of a term.
Mat as_data(const std::vector<int>& labels);

}  // namespace hypertape::problems
