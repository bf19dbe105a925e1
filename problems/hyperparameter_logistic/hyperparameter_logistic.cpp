#include "problems/hyperparameter_logistic/hyperparameter_logistic.hpp"

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "problems/labels.hpp"

namespace hypertape::problems {

HyperparameterLogistic generate_hyperparameter_logistic(const HyperparameterLogisticSpec& spec) {
  require(spec.training > 0 && spec.validation > 0, "hyperparameter_logistic: training = ", spec.training,
          ", validation = ", spec.validation, ", must be positive");
  require(spec.classes >= 2, "hyperparameter_logistic: classes = ", spec.classes, ", must be at least 2");
  require(spec.features >= spec.classes, "hyperparameter_logistic: features = ", spec.features,
          ", must be at least classes = ", spec.classes);
  require(spec.words > 0, "hyperparameter_logistic: words = ", spec.words, ", must be positive");
  Random random(spec.seed);
  const auto classes = static_cast<std::uint64_t>(spec.classes), features = static_cast<std::uint64_t>(spec.features);
  const auto draw = [&](Index rows) {
    LabelledDocuments out{SparseRows(rows, spec.features), std::vector<int>(static_cast<std::size_t>(rows))};
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < rows; ++i) {
      const std::uint64_t label = random.below(classes);
      out.labels[static_cast<std::size_t>(i)] = static_cast<int>(label);
      for (int w = 0; w < spec.words; ++w) {
        // Words of a class are those whose number leaves its label as remainder.
        std::uint64_t word = random.below(features);
        if (w % 2 == 0) word = random.below(features / classes) * classes + label;
        entries.emplace_back(static_cast<int>(i), static_cast<int>(word), 0.5 + random.uniform());
      }
    }
    out.features.setFromTriplets(entries.begin(), entries.end());
    for (Index i = 0; i < rows; ++i) {
      const double norm = out.features.row(i).norm();
      for (SparseRows::InnerIterator e(out.features, i); e; ++e) e.valueRef() /= norm;
    }
    return out;
  };
  return {draw(spec.training), draw(spec.validation), spec.classes};
}

Problem make_hyperparameter_logistic(const HyperparameterLogistic& data, const RowOptions& options) {
  const LabelledDocuments &training = data.training, &validation = data.validation;
  const int classes = data.classes;
  require_labels("hyperparameter_logistic: training", training.labels, training.features.rows(), classes);
  require_labels("hyperparameter_logistic: validation", validation.labels, validation.features.rows(), classes);
  require(training.features.cols() == validation.features.cols(), "hyperparameter_logistic: training has ",
          training.features.cols(), " features but validation ", validation.features.cols());

  const auto loss = [](const auto& a, const auto&, const auto& d) { return softmax_cross_entropy(a, d[0]); };
  const auto penalty = [](const auto& a, const auto& b, const auto&) {
    using std::exp;
    return exp(b[0]) * a.squaredNorm();
  };
  const Index n = training.features.rows(), m = validation.features.rows(), p = training.features.cols();
  const double scale = 0.5 / static_cast<double>(classes * p);
  Objective f{sum_rows(1 / static_cast<double>(m),
                       {.y = product(validation.features, classes), .data = as_data(validation.labels)}, loss)};
  Objective g{sum_rows(1 / static_cast<double>(n),
                       {.y = product(training.features, classes), .data = as_data(training.labels)}, loss),
              sum_rows(scale, {.y = columns(classes), .x = entries()}, penalty)};
  auto rows = std::make_unique<RowProblem>(Dims{p, p * classes}, std::move(f), std::move(g), options);

  Problem problem;
  problem.name = "hyperparameter_logistic";
  problem.plain = rows->plain();
  problem.oracle = std::move(rows);
  problem.start = {Vec::Zero(p), Vec::Zero(p * classes)};
  // At x = 0; the Hessian of the cross-entropy in the logits is at most 1/2.
  problem.constants = {2 * scale, 0.5 * training.features.squaredNorm() / static_cast<double>(n) + 2 * scale};
  return problem;
}

}  // namespace hypertape::problems
