#include "hypertape/inner/lanczos.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "hypertape/core/random.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "support/dense_operator.hpp"

using namespace hypertape;
using testing::DenseOperator;

TEST_CASE("as many steps as dimensions give the exact extreme eigenvalues") {
  const Mat A = problems::generate_quadratic({.dims = {1, 30}, .kappa = 1000}).A;
  DenseOperator op(A);
  const RitzBounds ritz = lanczos(op, 100, 1);
  CHECK(ritz.steps == 30);
  CHECK(op.products == 30);
  CHECK(ritz.smallest == doctest::Approx(1e-3).epsilon(1e-9).scale(0));
  CHECK(ritz.largest == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("fewer steps give bounds from inside") {
  const Mat A = problems::generate_quadratic({.dims = {1, 200}, .kappa = 1e4}).A;
  DenseOperator op(A);
  const RitzBounds ritz = lanczos(op, 15, 1);
  CHECK(op.products == 15);
  CHECK(ritz.smallest > 1.01e-4);  // a start that is the lowest eigenvector would find it at once
  CHECK(ritz.largest <= 1 + 1e-12);
  CHECK(ritz.largest > 0.99);
}

TEST_CASE("a negative eigenvalue is found, and an invariant subspace ends the process") {
  Mat A = Mat::Identity(50, 50);
  A(7, 7) = -0.5;
  DenseOperator op(A);
  const RitzBounds ritz = lanczos(op, 50, 3);
  CHECK(ritz.smallest == doctest::Approx(-0.5).epsilon(1e-12));
  CHECK(ritz.steps == 2);
}

TEST_CASE("the extreme eigenvalues are found at every scale, zero among them") {
  for (const double scale : {1e-100, 1.0, 1e100}) {
    CAPTURE(scale);
    DenseOperator definite(scale * Mat(Vec{{3, 1, 4, 1.5, 9}}.asDiagonal()));
    const RitzBounds ritz = lanczos(definite, 5, 1);
    CHECK(ritz.smallest == doctest::Approx(scale).epsilon(1e-13).scale(0));
    CHECK(ritz.largest == doctest::Approx(9 * scale).epsilon(1e-13).scale(0));
    const Mat ones = Mat::Constant(4, 4, scale);
    DenseOperator singular(ones);
    CHECK(std::abs(lanczos(singular, 4, 1).smallest) <= 1e-15 * scale);
    CHECK(lanczos(singular, 4, 1).largest == doctest::Approx(4 * scale).epsilon(1e-14).scale(0));
  }
  DenseOperator zero(Mat::Zero(3, 3));
  CHECK(lanczos(zero, 3, 1).smallest == 0);
  CHECK(lanczos(zero, 3, 1).largest == 0);
}

TEST_CASE("Ritz values are those of Eigen") {
  const Mat M = Random(5).normal(40, 40), A = M + M.transpose();
  DenseOperator op(A);
  const RitzBounds ritz = lanczos(op, 40, 1);
  const Vec exact = problems::symmetric_eigenvalues(A);
  CHECK(ritz.smallest == doctest::Approx(exact[0]).epsilon(1e-13));
  CHECK(ritz.largest == doctest::Approx(exact[39]).epsilon(1e-13));
}

TEST_CASE("not a number in, not a number out") {
  DenseOperator nan(Mat::Constant(3, 3, std::numeric_limits<double>::quiet_NaN()));
  CHECK(std::isnan(lanczos(nan, 3, 1).smallest));
  CHECK_THROWS_WITH(lanczos(nan, 0, 1), "lanczos: steps = 0, must be positive");
}
