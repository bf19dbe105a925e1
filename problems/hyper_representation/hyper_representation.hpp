#pragma once

#include <cstdint>

#include "hypertape/autodiff/row_problem.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// A two-layer network whose first layer x (hidden x inputs, stored by columns) is the upper level, and whose linear
/// head y is fitted below by ridge regression: features that make the head do well on validation rows.
///
///   g(x, y) = 1/(2 n) sum_i (y'tanh(X t_i) - target_i)^2 + regularisation / 2 |y|^2
///   f(x, y) = 1/(2 m) sum_j (y'tanh(X v_j) - target_j)^2
struct HyperRepresentation {
  Mat training, validation;  ///< a row for each example: inputs, then the target
  Index hidden = 0;
  double regularisation = 0.05;
};

struct HyperRepresentationSpec {
  Index training = 50;
  Index validation = 40;
  Index inputs = 4;
  Index hidden = 3;
  std::uint64_t seed = 1;
};

/// Inputs, and targets that a network of the same kind gives, with noise.
HyperRepresentation generate_hyper_representation(const HyperRepresentationSpec& spec);

Problem make_hyper_representation(const HyperRepresentation& data, const RowOptions& options = {});

}  // namespace hypertape::problems
