#pragma once

#include <limits>

#include "hypertape/core/types.hpp"

namespace hypertape::testing {

/// |a - b| / |b|; infinite, so that a test fails, where the sizes differ.
inline double relative(const Vec& a, const Vec& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  const double scale = b.norm();
  return (a - b).norm() / (scale > 0 ? scale : 1);
}

}  // namespace hypertape::testing
