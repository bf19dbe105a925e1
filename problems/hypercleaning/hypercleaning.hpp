#pragma once

#include <cstdint>
#include <vector>

#include "hypertape/autodiff/row_problem.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// Images, or other rows of features, with a class for each.
struct LabelledRows {
  RowMat features;          ///< a row for each example, a column of ones for the bias included
  std::vector<int> labels;  ///< 0, ..., classes - 1
};

/// How a problem holds its features: sparse rows pay where most features are zero.
enum class Storage { automatic, dense, sparse };

/// Data hypercleaning: a weight sigmoid(x_i) for every training example, of which some have a wrong label, chosen for
/// the loss on clean validation examples. y is W, classes x features, stored by columns; CE is the softmax
/// cross-entropy.
///
///   g(x, W) = 1/n sum_i sigmoid(x_i) CE(W t_i, label_i) + regularisation |W|^2
///   f(x, W) = 1/m sum_j CE(W v_j, label_j)
struct Hypercleaning {
  LabelledRows training, validation;
  int classes = 0;
  double regularisation = 1e-3;
};

struct HypercleaningSpec {
  Index training = 90;
  Index validation = 50;
  Index features = 12;  ///< the bias column comes on top
  int classes = 4;
  double corruption = 0.4;  ///< share of training labels that are replaced by another class
  std::uint64_t seed = 1;
};

/// Gaussian classes, with exactly floor(corruption * training) labels replaced, once, by a different class.
struct GeneratedHypercleaning {
  Hypercleaning data;
  std::vector<bool> corrupted;  ///< which training labels are wrong
};
GeneratedHypercleaning generate_hypercleaning(const HypercleaningSpec& spec);

Problem make_hypercleaning(const Hypercleaning& data, Storage storage = Storage::automatic,
                           const RowOptions& options = {});

}  // namespace hypertape::problems
