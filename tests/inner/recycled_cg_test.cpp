#include "hypertape/inner/recycled_cg.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
#include "support/dense_operator.hpp"

using namespace hypertape;
using testing::DenseOperator;

namespace {

/// Eigenvalues spread geometrically over [1 / kappa, 1].
Mat spread(Index n, double kappa, Random& random) {
  Mat Q(n, n);
  for (Index i = 0; i < n; ++i) {
    Vec q = random.normal(n);
    for (Index j = 0; j < i; ++j) q -= Q.col(j).dot(q) * Q.col(j);
    Q.col(i) = q / q.norm();
  }
  Mat A = Mat::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    const double value = std::pow(kappa, -static_cast<double>(i) / static_cast<double>(n - 1));
    A += value * Q.col(i) * Q.col(i).transpose();
  }
  return 0.5 * (A + A.transpose());
}

}  // namespace

TEST_CASE("a second system with a matrix that differs little takes a few products") {
  Random random(2);
  constexpr Index n = 25;
  const Mat first = spread(n, 1e3, random), second = first + 1e-4 * Mat::Identity(n, n);
  DenseOperator A(first), B(second);
  const Vec a = random.normal(n), b = random.normal(n);
  RecycledCg cg(60);
  Vec q = Vec::Zero(n);
  cg.start(A, a, q);
  CHECK(cg.improve(A, q, 1e-10, 200));
  CHECK((first * q - a).norm() < 1e-8);
  const int before = cg.iterations();
  CHECK(before >= n);
  q.setZero();
  cg.start(B, b, q);
  CHECK(cg.improve(B, q, 1e-8, 200));
  CHECK((second * q - b).norm() < 1e-6);
  CHECK(cg.iterations() <= before / 3);
}

TEST_CASE("the estimated energy error is that of q, to a factor, where there is memory and where there is none") {
  Random random(3);
  constexpr Index n = 30;
  const Mat M = spread(n, 100, random);
  DenseOperator A(M);
  for (const Index most : {0, 8, 60}) {
    CAPTURE(most);
    RecycledCg cg(most);
    for (int system = 0; system < 3; ++system) {
      const Vec solution = random.normal(n), b = M * solution;
      Vec q = Vec::Zero(n);
      cg.start(A, b, q);
      for (const double goal : {1e-1, 1e-3, 1e-6}) {
        CHECK(cg.improve(A, q, goal, 500));
        const Vec error = q - solution;
        CHECK(std::sqrt(error.dot(M * error)) <= 5 * goal);
        CHECK(cg.energy_error() <= goal);
        CHECK((cg.residual() - (b - M * q)).norm() <= 1e-12);
      }
    }
  }
}

TEST_CASE("where there is no room, or nothing was learned, a diagonal preconditions") {
  constexpr Index n = 40;
  Random random(4);
  const Mat mild = spread(n, 10, random);
  Vec scales(n);
  for (Index i = 0; i < n; ++i) scales[i] = std::pow(10.0, 3 * random.uniform());
  const Mat A = scales.asDiagonal() * mild * scales.asDiagonal();
  class WithDiagonal final : public LinearOperator {
   public:
    WithDiagonal(const Mat& A, bool known) : A_(A), known_(known) {}
    Index dim() const override { return A_.rows(); }
    bool has_diagonal() const override { return known_; }
    int diagonals = 0;

   private:
    void do_apply(const Vec& v, Vec& out) override { out = A_ * v; }
    void do_diagonal(Vec& out) override {
      out = A_.diagonal();
      ++diagonals;
    }
    const Mat& A_;
    bool known_;
  };
  const Vec b = A * random.normal(n);
  long products[2];
  for (const bool known : {false, true}) {
    WithDiagonal op(A, known);
    RecycledCg cg(0);
    for (int solve = 0; solve < 2; ++solve) {
      Vec q = Vec::Zero(n);
      cg.start(op, b, q);
      CHECK(cg.energy_of(cg.residual()) > 0);
      CHECK(cg.improve(op, q, 1e-9 * b.norm(), 2000));
      CHECK((A * q - b).norm() <= 1e-4 * b.norm());
    }
    products[known] = cg.products();
    CHECK(op.diagonals == (known ? 2 : 0));
  }
  CHECK(3 * products[1] < products[0]);
  // With room, what the first solve learned takes its place.
  WithDiagonal op(A, true);
  RecycledCg cg(60);
  for (int solve = 0; solve < 3; ++solve) {
    Vec q = Vec::Zero(n);
    cg.start(op, b, q);
    CHECK(cg.improve(op, q, 1e-9 * b.norm(), 2000));
  }
  CHECK(op.diagonals == 1);
}

TEST_CASE("curvature that is negative or not finite ends it; a zero residual is the end") {
  DenseOperator negative(Mat{{1, 0}, {0, -1}}), bad(Mat{{1, 0}, {0, std::nan("")}});
  const Vec b{{0, 1}};
  RecycledCg cg(4);
  Vec q = Vec::Zero(2);
  cg.start(negative, b, q);
  CHECK_FALSE(cg.improve(negative, q, 0, 10));
  CHECK(cg.status() == Status::indefinite);
  q.setZero();
  cg.start(bad, b, q);
  CHECK_FALSE(cg.improve(bad, q, 0, 10));
  CHECK(cg.status() == Status::not_finite);
  cg.start(negative, Vec::Zero(2), q = Vec::Zero(2));
  CHECK(cg.improve(negative, q, 0, 10));
  CHECK(cg.energy_error() == 0);
  CHECK(cg.exhausted());
}

TEST_CASE("what was learned of a matrix that has nothing in common does not spoil the result") {
  Random random(5);
  constexpr Index n = 12;
  const Mat wild = 1e20 * spread(n, 1e12, random), tame = spread(n, 10, random);
  DenseOperator A(wild), B(tame);
  RecycledCg cg(5);
  Vec q = Vec::Zero(n);
  cg.start(A, random.normal(n), q);
  cg.improve(A, q, 0, 8);
  const RecycledCg::Memory before = RecycledCg(5).memory();
  cg.set_memory(before);
  const Vec b = random.normal(n);
  q.setZero();
  cg.start(B, b, q);
  CHECK(cg.improve(B, q, 1e-9, 100));
  CHECK((tame * q - b).norm() < 1e-7);
}
