#pragma once

#include <utility>

#include "hypertape/oracle/linear_operator.hpp"

namespace hypertape::testing {

/// A matrix as an operator that counts its products.
class DenseOperator final : public LinearOperator {
 public:
  explicit DenseOperator(Mat matrix) : matrix_(std::move(matrix)) {}
  Index dim() const override { return matrix_.rows(); }
  int products = 0;

 private:
  void do_apply(const Vec& v, Vec& out) override {
    ++products;
    out = matrix_ * v;
  }
  Mat matrix_;
};

}  // namespace hypertape::testing
