#pragma once

#include <memory>
#include <optional>

#include "hypertape/autodiff/row_terms.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"
#include "hypertape/simd/instruction_set.hpp"

namespace hypertape {

struct RowOptions {
  int threads = 0;  ///< 0: one for each core, at most 16. Results do not depend on it

  /// What the inner loops may use; if not set, what HYPERTAPE_ISA names or the best that the machine has. Results
  /// differ by rounding.
  std::optional<InstructionSet> instructions{};
};

/// A bilevel problem from two sums of row terms: a BilevelOracle like any other, at about the cost of derivatives
/// written by hand (docs/architecture.md, "Row terms").
///
/// Sums are made in an order that depends on the data alone: rows are cut into a fixed number of chunks, each is added
/// up in its order, and the chunks in theirs, whichever threads did the work.
class RowProblem final : public BilevelOracle {
 public:
  /// Terms that do not fit the dimensions, and weights that are not finite, are refused; terms are counted from 0.
  RowProblem(Dims dims, Objective f, Objective g, const RowOptions& options = {});
  RowProblem(RowProblem&&) noexcept;
  RowProblem& operator=(RowProblem&&) noexcept;
  ~RowProblem() override;

  Dims dims() const override;
  bool has_second_order() const override { return true; }

  /// The functions themselves, untaped, row by row.
  PlainFunctions plain() const;

  /// Bytes held beside the data of the terms.
  std::size_t bytes() const;

 private:
  struct Impl;

  double do_f(const Vec& x, const Vec& y) override;
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override;
  LinearOperator& do_curvature_at(const Vec& x, const Vec& y) override;
  void do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) override;
  double do_g(const Vec& x, const Vec& y) override;
  double do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override;
  void do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) override;
  void do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override;
  void do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override;

  std::unique_ptr<Impl> impl_;
};

}  // namespace hypertape
