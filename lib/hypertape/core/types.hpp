#pragma once

#include <Eigen/Core>

namespace hypertape {

using Index = Eigen::Index;
using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;

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
