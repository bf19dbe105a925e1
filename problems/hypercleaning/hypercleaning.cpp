#include "problems/hypercleaning/hypercleaning.hpp"

#include <numeric>
#include <utility>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "problems/labels.hpp"

namespace hypertape::problems {
namespace {

// Sparse rows took 0.73, 0.95, 1.06 and 1.27 of the time of dense ones at shares of 0.19, 0.25, 0.30 and 0.35 of
// entries that are not zero (tests/benchmarks/bench_oracles).
constexpr double sparse_density = 0.27;

LinearView product_view(const RowMat& features, Index classes, Storage storage) {
  if (storage == Storage::automatic) {
    const double density = static_cast<double>((features.array() != 0).count()) / static_cast<double>(features.size());
    storage = density < sparse_density ? Storage::sparse : Storage::dense;
  }
  if (storage == Storage::sparse) return product(SparseRows(features.sparseView()), classes);
  return product(features, classes);
}

}  // namespace

GeneratedHypercleaning generate_hypercleaning(const HypercleaningSpec& spec) {
  require(spec.training > 0 && spec.validation > 0, "hypercleaning: training = ", spec.training,
          ", validation = ", spec.validation, ", must be positive");
  require(spec.features > 0, "hypercleaning: features = ", spec.features, ", must be positive");
  require(spec.classes >= 2, "hypercleaning: classes = ", spec.classes, ", must be at least 2");
  require(spec.corruption >= 0 && spec.corruption <= 1, "hypercleaning: corruption = ", spec.corruption,
          ", must be in [0, 1]");
  Random random(spec.seed);
  const auto classes = static_cast<std::uint64_t>(spec.classes);
  const Mat centres = random.normal(spec.classes, spec.features);
  const auto draw = [&](Index rows) {
    LabelledRows out{RowMat(rows, spec.features + 1), std::vector<int>(static_cast<std::size_t>(rows))};
    for (Index i = 0; i < rows; ++i) {
      const auto label = static_cast<Index>(random.below(classes));
      out.labels[static_cast<std::size_t>(i)] = static_cast<int>(label);
      for (Index k = 0; k < spec.features; ++k) out.features(i, k) = centres(label, k) + random.normal();
      out.features(i, spec.features) = 1;
    }
    return out;
  };
  GeneratedHypercleaning out;
  out.data.training = draw(spec.training);
  out.data.validation = draw(spec.validation);
  out.data.classes = spec.classes;

  out.corrupted = corrupt_labels(out.data.training.labels, spec.classes, spec.corruption, random);
  return out;
}

Problem make_hypercleaning(const Hypercleaning& data, Storage storage, const RowOptions& options) {
  const LabelledRows &training = data.training, &validation = data.validation;
  const int classes = data.classes;
  const double regularisation = data.regularisation;
  require(regularisation > 0, "hypercleaning: regularisation = ", regularisation, ", must be positive");
  require_labels("hypercleaning: training", training.labels, training.features.rows(), classes);
  require_labels("hypercleaning: validation", validation.labels, validation.features.rows(), classes);
  require(training.features.cols() == validation.features.cols(), "hypercleaning: training has ",
          training.features.cols(), " features but validation ", validation.features.cols());

  const auto weighted_loss = [](const auto& a, const auto& b, const auto& d) {
    return sigmoid(b[0]) * softmax_cross_entropy(a, d[0]);
  };
  const auto loss = [](const auto& a, const auto&, const auto& d) { return softmax_cross_entropy(a, d[0]); };
  const auto square = [](const auto& a, const auto&, const auto&) { return a[0] * a[0]; };
  const Index n = training.features.rows(), m = validation.features.rows(), p = training.features.cols();
  Objective f{sum_rows(1 / static_cast<double>(m),
                       {.y = product_view(validation.features, classes, storage), .data = as_data(validation.labels)},
                       loss)};
  Objective g{
      sum_rows(
          1 / static_cast<double>(n),
          {.y = product_view(training.features, classes, storage), .x = entries(), .data = as_data(training.labels)},
          weighted_loss),
      sum_rows(regularisation, {.y = entries()}, square)};
  auto rows = std::make_unique<RowProblem>(Dims{n, p * classes}, std::move(f), std::move(g), options);

  Problem problem;
  problem.name = "hypercleaning";
  problem.plain = rows->plain();
  problem.oracle = std::move(rows);
  problem.start = {Vec::Zero(n), Vec::Zero(p * classes)};
  // The Hessian of the cross-entropy in the logits is at most 1/2, and a weight at most 1.
  problem.constants = {2 * regularisation,
                       0.5 * training.features.squaredNorm() / static_cast<double>(n) + 2 * regularisation};
  return problem;
}

}  // namespace hypertape::problems
