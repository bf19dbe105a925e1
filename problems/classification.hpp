#pragma once

#include <vector>

#include "hypertape/autodiff/skinny_product.hpp"

namespace hypertape::problems {

/// How well a linear classifier does.
struct Score {
  double loss = 0;      ///< mean softmax cross-entropy
  double accuracy = 0;  ///< share of rows whose label has the largest logit
};

/// Of W, classes x features stored by columns in y, on rows with labels.
Score score(const RowMat& features, const std::vector<int>& labels, const Vec& y);
Score score(const SparseRows& features, const std::vector<int>& labels, const Vec& y);

/// How well weights tell wrong labels from right ones: a label counts as suspected where its weight is below 1/2, that
/// is x_i < 0.
struct Cleaning {
  double precision = 0;  ///< share of the suspected that are wrong; 0 if none is suspected
  double recall = 0;     ///< share of the wrong that are suspected
  double f1 = 0;         ///< their harmonic mean
};
Cleaning cleaning(const Vec& x, const std::vector<bool>& corrupted);

}  // namespace hypertape::problems
