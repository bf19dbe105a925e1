#pragma once

// The two problems of bench_oracles with their derivatives written by hand: the limit that row terms are measured
// against. Everything that is known of the formulas is used: one pass over X for each product, weights and
// probabilities computed once, softmax on registers of rows, results written once, the same instruction set. The
// products with X are those of skinny_product.hpp, faster than Eigen's, which bench_oracles prints beside them.

#include <vector>

#include "hand_kernels.hpp"
#include "hypertape/autodiff/skinny_product.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape::benchmarks {

struct DenseData {
  RowMat X, V;                    // training and validation rows
  std::vector<int> label, valid;  // their classes
  Index classes = 10;
  double regularisation = 1e-3;
};

struct SparseData {
  SparseRows X, V;
  std::vector<int> label, valid;
  Index classes = 20;
};

/// An oracle whose functions can be called without the checks at the door, as code written by hand would be.
class HandWritten : public BilevelOracle {
 public:
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override = 0;
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override = 0;
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override = 0;
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override = 0;
  virtual void hessian_product(const Vec& v, Vec& out) = 0;
};

/// Hypercleaning with dense rows.
class HandHypercleaning final : public HandWritten {
 public:
  HandHypercleaning(const DenseData& data, int threads, InstructionSet set);
  Dims dims() const override { return {data_.X.rows(), data_.X.cols() * data_.classes}; }

 private:
  class Curvature final : public LinearOperator {
   public:
    explicit Curvature(HandHypercleaning& of) : of_(of) {}
    Index dim() const override { return of_.dims().y; }

   private:
    void do_apply(const Vec& v, Vec& out) override { of_.hessian_product(v, out); }
    HandHypercleaning& of_;
  };

  double do_f(const Vec& x, const Vec& y) override;
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override;
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override;
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override;
  void hessian_product(const Vec& v, Vec& out) override;

  void transpose_in(const Vec& v, std::vector<double>& w) const;
  void weigh(const Vec& x);
  template <class Block>
  void for_blocks(const RowMat& X, const Block& block);
  void sum_chunks(double scale, const Vec* v, Vec& out) const;

  DenseData data_;  // a copy, as row terms have theirs: memory laid out in the same way
  int threads_;
  const Kernels& kernels_;
  const HandKernels& hand_;
  std::vector<double> w_, v_, weight_, slope_, probability_, sums_;
  Vec weighed_x_;
  Curvature curvature_{*this};
};

/// Per-feature regularisation of softmax regression on sparse rows.
class HandLogistic final : public HandWritten {
 public:
  HandLogistic(const SparseData& data, int threads, InstructionSet set);
  Dims dims() const override { return {data_.X.cols(), data_.X.cols() * data_.classes}; }

 private:
  class Curvature final : public LinearOperator {
   public:
    explicit Curvature(HandLogistic& of) : of_(of) {}
    Index dim() const override { return of_.dims().y; }

   private:
    void do_apply(const Vec& v, Vec& out) override { of_.hessian_product(v, out); }
    HandLogistic& of_;
  };

  double do_f(const Vec& x, const Vec& y) override;
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override;
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override;
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override;
  void hessian_product(const Vec& v, Vec& out) override;

  void weigh(const Vec& x);
  double residuals(const SparseRows& X, const std::vector<int>& label, const Vec& y, bool keep_probability);
  void gather_columns(const SparseColumns& X, const double* weight, const Vec* v, Vec& out) const;

  SparseData data_;
  SparseColumns columns_, valid_columns_;
  int threads_;
  const Kernels& kernels_;
  const HandKernels& hand_;
  double scale_;
  std::vector<double> weight_, residual_, probability_;
  Vec weighed_x_;
  Curvature curvature_{*this};
};

}  // namespace hypertape::benchmarks
