#include "problems/classification.hpp"

#include <cmath>

namespace hypertape::problems {
namespace {

template <class Features>
Score score_rows(const Features& features, const std::vector<int>& labels, const Vec& y) {
  const Index classes = y.size() / features.cols();
  const Eigen::Map<const Mat> W(y.data(), classes, features.cols());
  const RowMat logits = features * W.transpose();
  Score out;
  for (Index i = 0; i < logits.rows(); ++i) {
    const int label = labels[static_cast<std::size_t>(i)];
    Index best = 0;
    const double top = logits.row(i).maxCoeff(&best);
    out.loss += std::log((logits.row(i).array() - top).exp().sum()) + top - logits(i, label);
    out.accuracy += best == label ? 1 : 0;
  }
  const auto rows = static_cast<double>(logits.rows());
  return {out.loss / rows, out.accuracy / rows};
}

}  // namespace

Score score(const RowMat& features, const std::vector<int>& labels, const Vec& y) {
  return score_rows(features, labels, y);
}

Score score(const SparseRows& features, const std::vector<int>& labels, const Vec& y) {
  return score_rows(features, labels, y);
}

Cleaning cleaning(const Vec& x, const std::vector<bool>& corrupted) {
  double suspected = 0, wrong = 0, both = 0;
  for (std::size_t i = 0; i < corrupted.size(); ++i) {
    const bool suspect = x[static_cast<Index>(i)] < 0;
    suspected += suspect ? 1 : 0;
    wrong += corrupted[i] ? 1 : 0;
    both += suspect && corrupted[i] ? 1 : 0;
  }
  Cleaning out;
  if (suspected > 0) out.precision = both / suspected;
  if (wrong > 0) out.recall = both / wrong;
  if (both > 0) out.f1 = 2 * out.precision * out.recall / (out.precision + out.recall);
  return out;
}

}  // namespace hypertape::problems
