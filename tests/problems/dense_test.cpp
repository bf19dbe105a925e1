#include "problems/dense.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "problems/spectrum.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using namespace hypertape::problems;
using hypertape::testing::relative;

TEST_CASE("eigenvalues and eigenvectors of a symmetric matrix, from the smallest on") {
  Random random(1);
  const Mat Q = random_orthogonal(7, random);
  const Vec values = geometric_spectrum(7, 100);
  const Mat A = with_spectrum(Q, values), vectors = symmetric_eigenvectors(A);
  CHECK(relative(symmetric_eigenvalues(A), values) < 1e-13);
  for (Index i = 0; i < 7; ++i) CHECK(relative(A * vectors.col(i), values[i] * vectors.col(i)) < 1e-12);
}

TEST_CASE("norm2 is the largest singular value, of matrices high and wide") {
  const Mat high{{3, 0}, {0, -4}, {0, 0}};
  CHECK(norm2(high) == doctest::Approx(4).epsilon(1e-14));
  CHECK(norm2(high.transpose()) == doctest::Approx(4).epsilon(1e-14));
}

TEST_CASE("Cholesky solves with one right-hand side and with several, and tells what is not positive definite") {
  Random random(2);
  const Mat A = with_spectrum(random_orthogonal(9, random), geometric_spectrum(9, 10)), X = random.normal(9, 3);
  const Cholesky factor(A);
  CHECK(factor.positive_definite());
  const Mat solved = factor.solve_columns(A * X);
  for (Index k = 0; k < 3; ++k) {
    CHECK(relative(solved.col(k), X.col(k)) < 1e-13);
    CHECK(relative(factor.solve(A * X.col(k)), X.col(k)) < 1e-13);
  }
  CHECK_FALSE(Cholesky(Mat{{1, 2}, {2, 1}}).positive_definite());
}
