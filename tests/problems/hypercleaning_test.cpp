#include "problems/hypercleaning/hypercleaning.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/lanczos.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;

TEST_CASE("exactly the share asked for has a wrong label, and every other class is met") {
  const HypercleaningSpec spec{.training = 403, .classes = 5, .corruption = 0.3, .seed = 8};
  HypercleaningSpec clean = spec;
  clean.corruption = 0;
  const auto dirty = generate_hypercleaning(spec), right = generate_hypercleaning(clean);
  CHECK(dirty.data.training.features == right.data.training.features);
  CHECK(dirty.data.validation.labels == right.data.validation.labels);
  int wrong = 0;
  std::vector<int> shift(5, 0);
  for (std::size_t i = 0; i < 403; ++i) {
    const int a = dirty.data.training.labels[i], b = right.data.training.labels[i];
    CHECK((a != b) == dirty.corrupted[i]);
    if (a != b) ++wrong;
    ++shift[static_cast<std::size_t>((a - b + 5) % 5)];
  }
  CHECK(wrong == 120);  // floor(0.3 * 403)
  for (std::size_t s = 1; s < 5; ++s) CHECK(shift[s] > 10);
}

TEST_CASE("the oracle is the problem as it is written down") {
  const auto data = generate_hypercleaning({.training = 45, .validation = 20, .features = 6, .classes = 3}).data;
  Problem problem = make_hypercleaning(data);
  Random random(3);
  const Vec x = random.normal(45), y = random.normal(21);
  const Eigen::Map<const Mat> W(y.data(), 3, 7);
  const auto losses = [&](const LabelledRows& rows) {
    Vec out(rows.features.rows());
    for (Index i = 0; i < out.size(); ++i) {
      const Vec z = W * rows.features.row(i).transpose();
      out[i] = std::log(z.array().exp().sum()) - z[rows.labels[static_cast<std::size_t>(i)]];
    }
    return out;
  };
  const Vec weights = 1 / (1 + (-x.array()).exp());
  CHECK(problem.oracle->f(x, y) == doctest::Approx(losses(data.validation).mean()).epsilon(1e-13));
  CHECK(problem.oracle->g(x, y) ==
        doctest::Approx(weights.dot(losses(data.training)) / 45 + 1e-3 * y.squaredNorm()).epsilon(1e-13));
  const Vec slope = weights.array() * (1 - weights.array()) * losses(data.training).array() / 45;
  CHECK(relative(problem.oracle->grad_g(x, y).x, slope) < 1e-12);
}

TEST_CASE("dense and sparse storage are the same problem, and few non-zeros choose sparse") {
  auto data = generate_hypercleaning({.training = 70, .validation = 33, .features = 20}).data;
  Random random(5);
  for (RowMat* features : {&data.training.features, &data.validation.features})
    for (double& entry : features->reshaped())
      if (random.uniform() < 0.8) entry = 0;
  Problem dense = make_hypercleaning(data, Storage::dense), sparse = make_hypercleaning(data, Storage::sparse),
          automatic = make_hypercleaning(data);
  const Vec x = random.normal(70), y = random.normal(84), v = random.normal(84);
  for (Problem* other : {&sparse, &automatic}) {
    CHECK(relative(other->oracle->grad_y_g(x, y), dense.oracle->grad_y_g(x, y)) < 1e-12);
    CHECK(relative(other->oracle->grad_f(x, y).y, dense.oracle->grad_f(x, y).y) < 1e-12);
    CHECK(relative(other->oracle->curvature_at(x, y)(v), dense.oracle->curvature_at(x, y)(v)) < 1e-12);
    CHECK(relative(other->oracle->cross_product(x, y, v), dense.oracle->cross_product(x, y, v)) < 1e-12);
  }
  CHECK(automatic.oracle->grad_y_g(x, y) == sparse.oracle->grad_y_g(x, y));
}

TEST_CASE("the constants bound the curvature") {
  Problem problem = make_hypercleaning(generate_hypercleaning({}).data);
  for (const double scale : {0.0, 0.3}) {
    const Vec x = scale * Random(1).normal(90), y = scale * Random(2).normal(52);
    const RitzBounds ritz = lanczos(problem.oracle->curvature_at(x, y), 60, 1);
    CHECK(ritz.smallest >= problem.constants.mu * (1 - 1e-9));
    CHECK(ritz.largest <= problem.constants.l);
  }
}

TEST_CASE("misuse is refused") {
  auto data = generate_hypercleaning({}).data;
  CHECK_THROWS_WITH(generate_hypercleaning({.corruption = 1.5}), "hypercleaning: corruption = 1.5, must be in [0, 1]");
  CHECK_THROWS_WITH(generate_hypercleaning({.classes = 1}), "hypercleaning: classes = 1, must be at least 2");
  data.training.labels[3] = 9;
  CHECK_THROWS_WITH(make_hypercleaning(data), "hypercleaning: training: label 3 = 9, must be 0 to 3");
  data.training.labels.pop_back();
  CHECK_THROWS_WITH(make_hypercleaning(data), "hypercleaning: training: 90 rows of features but 89 labels");
  data = generate_hypercleaning({}).data;
  data.regularisation = 0;
  CHECK_THROWS_WITH(make_hypercleaning(data), "hypercleaning: regularisation = 0, must be positive");
}
