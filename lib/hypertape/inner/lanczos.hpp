#pragma once

#include <cstdint>

#include "hypertape/oracle/linear_operator.hpp"

namespace hypertape {

/// What a few products tell of the spectrum of a symmetric operator.
struct RitzBounds {
  double smallest = 0;  ///< smallest Ritz value: an upper bound of the smallest eigenvalue
  double largest = 0;   ///< largest Ritz value: a lower bound of the largest eigenvalue
  int steps = 0;        ///< products used
};

/// Lanczos with full reorthogonalisation from a seeded random start, maths.md (9). With steps >= dim both values are
/// exact to rounding for a start that meets every eigenvector. Cost: `steps` products, dim * steps memory.
RitzBounds lanczos(LinearOperator& A, int steps, std::uint64_t seed);

}  // namespace hypertape
