#include "problems/hyper_representation/hyper_representation.hpp"

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape::problems {

HyperRepresentation generate_hyper_representation(const HyperRepresentationSpec& spec) {
  require(spec.training > 0 && spec.validation > 0, "hyper_representation: training = ", spec.training,
          ", validation = ", spec.validation, ", must be positive");
  require(spec.inputs > 0 && spec.hidden > 0, "hyper_representation: inputs = ", spec.inputs,
          ", hidden = ", spec.hidden, ", must be positive");
  Random random(spec.seed);
  const Mat layer = random.normal(spec.hidden, spec.inputs);
  const Vec head = random.normal(spec.hidden);
  const auto draw = [&](Index rows) {
    Mat out = random.normal(rows, spec.inputs + 1);
    for (Index i = 0; i < rows; ++i) {
      const Vec features = (layer * out.row(i).head(spec.inputs).transpose()).array().tanh();
      out(i, spec.inputs) = head.dot(features) + 0.1 * out(i, spec.inputs);
    }
    return out;
  };
  HyperRepresentation data;
  data.training = draw(spec.training);
  data.validation = draw(spec.validation);
  data.hidden = spec.hidden;
  return data;
}

Problem make_hyper_representation(const HyperRepresentation& data, const RowOptions& options) {
  const Index hidden = data.hidden, inputs = data.training.cols() - 1;
  require(hidden > 0, "hyper_representation: hidden = ", hidden, ", must be positive");
  require(inputs > 0, "hyper_representation: training has ", inputs + 1, " columns, expected inputs and a target");
  require(data.validation.cols() == inputs + 1, "hyper_representation: validation has ", data.validation.cols(),
          " columns, expected ", inputs + 1, " as training");
  require(data.regularisation > 0, "hyper_representation: regularisation = ", data.regularisation,
          ", must be positive");

  const auto squared_error = [hidden, inputs]<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) -> S {
    using std::tanh;
    S error = -d[inputs];
    for (Index h = 0; h < hidden; ++h) {
      S sum(0.0);
      for (Index k = 0; k < inputs; ++k) sum += b[k * hidden + h] * d[k];
      error += a[h] * tanh(sum);
    }
    return error * error;
  };
  const auto square = [](const auto& a, const auto&, const auto&) { return a[0] * a[0]; };
  const double n = static_cast<double>(data.training.rows()), m = static_cast<double>(data.validation.rows());
  Objective f{sum_rows(0.5 / m, {.y = shared(), .x = shared(), .data = data.validation}, squared_error)};
  Objective g{sum_rows(0.5 / n, {.y = shared(), .x = shared(), .data = data.training}, squared_error),
              sum_rows(0.5 * data.regularisation, {.y = entries()}, square)};
  auto rows = std::make_unique<RowProblem>(Dims{hidden * inputs, hidden}, std::move(f), std::move(g), options);

  Problem problem;
  problem.name = "hyper_representation";
  problem.plain = rows->plain();
  problem.oracle = std::move(rows);
  // From zero the gradient vanishes by symmetry: small, different weights instead.
  problem.start = {0.5 * Random(7).normal(hidden * inputs), Vec::Zero(hidden)};
  problem.constants = {data.regularisation, static_cast<double>(hidden) + data.regularisation};  // |tanh| <= 1
  return problem;
}

}  // namespace hypertape::problems
