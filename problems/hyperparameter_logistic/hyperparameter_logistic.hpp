#pragma once

#include <cstdint>
#include <vector>

#include "hypertape/autodiff/row_problem.hpp"
#include "problems/problem.hpp"

namespace hypertape::problems {

/// Documents as sparse rows, with a class for each.
struct LabelledDocuments {
  SparseRows features;
  std::vector<int> labels;  ///< 0, ..., classes - 1
};

/// Logistic regression on documents with a regularisation weight exp(x_k) for every feature, chosen for the loss on
/// validation documents. y is W, classes c x features p, stored by columns.
///
///   g(x, W) = 1/n sum_i CE(W t_i, label_i) + 1/(2 c p) sum_k exp(x_k) sum_j W_jk^2
///   f(x, W) = 1/m sum_j CE(W v_j, label_j)
struct HyperparameterLogistic {
  LabelledDocuments training, validation;
  int classes = 0;
};

struct HyperparameterLogisticSpec {
  Index training = 70;
  Index validation = 40;
  Index features = 25;
  int classes = 3;
  int words = 6;  ///< non-zero features of a document, before repetitions are merged
  std::uint64_t seed = 1;
};

/// Documents of which half the words belong to the class, with rows of length one.
HyperparameterLogistic generate_hyperparameter_logistic(const HyperparameterLogisticSpec& spec);

Problem make_hyperparameter_logistic(const HyperparameterLogistic& data, const RowOptions& options = {});

}  // namespace hypertape::problems
