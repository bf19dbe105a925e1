#include "problems/hyperparameter_logistic/hyperparameter_logistic.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/lanczos.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;

TEST_CASE("documents have rows of length one and words of their class") {
  const auto data = generate_hyperparameter_logistic({.training = 200, .features = 30, .classes = 3, .words = 8});
  int own = 0, all = 0;
  for (Index i = 0; i < 200; ++i) {
    CHECK(data.training.features.row(i).norm() == doctest::Approx(1).epsilon(1e-14));
    for (SparseRows::InnerIterator e(data.training.features, i); e; ++e, ++all)
      if (e.col() % 3 == data.training.labels[static_cast<std::size_t>(i)]) ++own;
  }
  CHECK(own > all / 2);
}

TEST_CASE("the oracle is the problem as it is written down") {
  const auto data = generate_hyperparameter_logistic({.training = 41, .validation = 30, .features = 11, .classes = 3});
  Problem problem = make_hyperparameter_logistic(data);
  CHECK(problem.oracle->f(problem.start.x, problem.start.y) == doctest::Approx(std::log(3.0)).epsilon(1e-14));

  Random random(3);
  const Vec x = random.normal(11), y = random.normal(33), v = random.normal(33);
  const Eigen::Map<const Mat> W(y.data(), 3, 11), V(v.data(), 3, 11);
  double loss = 0;
  for (Index i = 0; i < 41; ++i) {
    const Vec z = W * Vec(data.training.features.row(i).transpose());
    loss += std::log(z.array().exp().sum()) - z[data.training.labels[static_cast<std::size_t>(i)]];
  }
  const Vec e = x.array().exp();
  const double penalty = e.dot(W.colwise().squaredNorm().transpose()) / (2.0 * 3 * 11);
  CHECK(problem.oracle->g(x, y) == doctest::Approx(loss / 41 + penalty).epsilon(1e-13));
  // The only term that has x: its derivatives are known.
  CHECK(relative(problem.oracle->cross_product(x, y, v),
                 e.cwiseProduct(W.cwiseProduct(V).colwise().sum().transpose()) / 33.0) < 1e-12);
  CHECK(relative(problem.oracle->grad_g(x, y).x, e.cwiseProduct(W.colwise().squaredNorm().transpose()) / 66.0) < 1e-12);
}

TEST_CASE("the constants bound the curvature at the start") {
  Problem problem = make_hyperparameter_logistic(generate_hyperparameter_logistic({}));
  const RitzBounds ritz = lanczos(problem.oracle->curvature_at(problem.start.x, problem.start.y), 80, 1);
  CHECK(ritz.smallest >= problem.constants.mu * (1 - 1e-9));
  CHECK(ritz.largest <= problem.constants.l);
}

TEST_CASE("misuse is refused") {
  CHECK_THROWS_WITH(generate_hyperparameter_logistic({.words = 0}),
                    "hyperparameter_logistic: words = 0, must be positive");
  auto data = generate_hyperparameter_logistic({});
  data.validation.labels[0] = -1;
  CHECK_THROWS_WITH(make_hyperparameter_logistic(data),
                    "hyperparameter_logistic: validation: label 0 = -1, must be 0 to 2");
}
