#pragma once

#include <Eigen/Core>

namespace hypertape {

using Index = Eigen::Index;

/// Eigen's column vector and matrices, of scalars S. Memory that a program allocates is freed by the library and the
/// other way round, so it must not depend on the compiler's flags how that is done. For Eigen's own types it does
/// (-march=native, -mavx, -fsanitize=address, EIGEN_MAX_ALIGN_BYTES); with DontAlign it is malloc, always.
template <class S>
using VecOf = Eigen::Matrix<S, Eigen::Dynamic, 1, Eigen::ColMajor | Eigen::DontAlign>;
using Vec = VecOf<double>;
using Mat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor | Eigen::DontAlign>;
using RowMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;

/// The two dimensions of a bilevel problem: x is the upper variable, y the lower one.
struct Dims {
  Index x = 0;
  Index y = 0;
  bool operator==(const Dims&) const = default;
};

/// A point of the joint space, or a direction in it.
struct Point {
  Vec x;
  Vec y;
};

}  // namespace hypertape
