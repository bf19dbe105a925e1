#include "problems/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

namespace hypertape::problems {
namespace {

template <class Right>
Right solved(const Mat& L, Right right) {
  L.triangularView<Eigen::Lower>().solveInPlace(right);
  L.transpose().triangularView<Eigen::Upper>().solveInPlace(right);
  return right;
}

}  // namespace

Vec symmetric_eigenvalues(const Mat& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

Mat symmetric_eigenvectors(const Mat& A) { return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A).eigenvectors(); }

double norm2(const Mat& A) { return std::sqrt(symmetric_eigenvalues(A.transpose() * A).maxCoeff()); }

Cholesky::Cholesky(const Mat& A) {
  const Eigen::LLT<Mat> factor(A);
  L_ = factor.matrixLLT();
  positive_definite_ = factor.info() == Eigen::Success;
}

Vec Cholesky::solve(const Vec& b) const { return solved(L_, b); }

Mat Cholesky::solve_columns(const Mat& B) const { return solved(L_, B); }

}  // namespace hypertape::problems
