#include "problems/hyper_representation/hyper_representation.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/newton.hpp"
#include "problems/dense.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using testing::relative;

namespace {

/// Hidden features of every row.
Mat features(const HyperRepresentation& data, const Mat& rows, const Vec& x) {
  const Index inputs = rows.cols() - 1;
  const Eigen::Map<const Mat> layer(x.data(), data.hidden, inputs);
  return (rows.leftCols(inputs) * layer.transpose()).array().tanh();
}

}  // namespace

TEST_CASE("the lower level is ridge regression on the features, solved in closed form") {
  const auto data = generate_hyper_representation({.training = 61, .seed = 3});
  Problem problem = make_hyper_representation(data);
  const Vec x = Random(4).normal(12);
  const Mat F = features(data, data.training, x);
  const Vec target = data.training.col(4);
  const Mat H = F.transpose() * F / 61 + data.regularisation * Mat::Identity(3, 3);
  Vec y = Vec::Zero(3);
  CHECK(newton(*problem.oracle, x, y).status == Status::converged);
  CHECK(relative(y, problems::Cholesky(H).solve(F.transpose() * target / 61)) < 1e-11);
  const Vec v{{1.0, -2.0, 0.5}};
  CHECK(relative(problem.oracle->curvature_at(x, y)(v), H * v) < 1e-12);
  const Mat V = features(data, data.validation, x);
  CHECK(problem.oracle->f(x, y) ==
        doctest::Approx((V * y - data.validation.col(4)).squaredNorm() / (2.0 * 40)).epsilon(1e-12));
}

TEST_CASE("the constants bound the curvature") {
  Problem problem = make_hyper_representation(generate_hyper_representation({}));
  const Vec v = Random(1).normal(3);
  const double curvature = v.dot(problem.oracle->curvature_at(problem.start.x, problem.start.y)(v)) / v.squaredNorm();
  CHECK(curvature >= problem.constants.mu);
  CHECK(curvature <= problem.constants.l);
}

TEST_CASE("misuse is refused") {
  CHECK_THROWS_WITH(generate_hyper_representation({.hidden = 0}),
                    "hyper_representation: inputs = 4, hidden = 0, must be positive");
  auto data = generate_hyper_representation({});
  data.validation = data.validation.leftCols(3).eval();
  CHECK_THROWS_WITH(make_hyper_representation(data),
                    "hyper_representation: validation has 3 columns, expected 5 as training");
}
