#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "hypertape/core/status.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {

/// Oracle calls by kind, as the literature counts them.
struct OracleCounts {
  std::int64_t f = 0;   ///< Gc(f): gradients of f, both parts together
  std::int64_t g = 0;   ///< Gc(g): gradients of g
  std::int64_t jv = 0;  ///< JV(g): products d2g/dxdy v and their adjoints
  std::int64_t hv = 0;  ///< HV(g): products d2g/dy2 v, and diagonals of d2g/dy2

  std::int64_t total() const { return f + g + jv + hv; }
  bool operator==(const OracleCounts&) const = default;
};

/// How much may be asked of an oracle.
struct CallBudget {
  std::int64_t calls = std::numeric_limits<std::int64_t>::max();  ///< in all
  double seconds = std::numeric_limits<double>::infinity();       ///< from now on
};

/// Thrown in place of the call that would go beyond the budget.
class BudgetSpent : public std::runtime_error {
 public:
  BudgetSpent(Status which, const std::string& message) : std::runtime_error(message), status(which) {}
  Status status;  ///< call_limit or time_limit
};

/// Any oracle with its calls counted. The count is made by this wrapper, never declared by a solver.
///
/// Values of f and g are free: they come with a gradient. Linearising (curvature_at) is free, its products count, one
/// with several columns as one for each, and its diagonal counts as one HV. A product with the whole Hessian of f
/// counts as one HV; one with the whole Hessian of g as one HV and one JV.
class CountingOracle final : public BilevelOracle {
 public:
  /// Refers to `oracle`, which must outlive this object.
  explicit CountingOracle(BilevelOracle& oracle);
  CountingOracle(const CountingOracle&) = delete;  // its curvature counts for this object
  CountingOracle& operator=(const CountingOracle&) = delete;

  const OracleCounts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

  /// From here on, a call that would go beyond the budget is not made and throws BudgetSpent.
  void limit(const CallBudget& budget);

  /// Since limit() was called, without what was excluded.
  double seconds() const;

  /// Time that is not the solver's, an observer's say: neither measured nor limited.
  void exclude(std::chrono::steady_clock::duration time) { begin_ += time; }

  Dims dims() const override { return oracle_.dims(); }
  bool has_second_order() const override { return oracle_.has_second_order(); }

 private:
  class CountingOperator final : public LinearOperator {
   public:
    CountingOperator(CountingOracle& owner) : owner_(owner) {}
    Index dim() const override { return owner_.dims().y; }
    bool has_diagonal() const override { return counted->has_diagonal(); }
    LinearOperator* counted = nullptr;

   private:
    void do_apply(const Vec& v, Vec& out) override;
    void do_apply_columns(std::span<const Vec> v, std::span<Vec> out) override;
    void do_diagonal(Vec& out) override;
    CountingOracle& owner_;
  };

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

  const std::shared_ptr<OneThread>& place() const override { return oracle_.place(); }

  /// BudgetSpent unless so many calls more are allowed.
  void require_budget(std::int64_t calls) const;

  /// So many calls more of a kind, or BudgetSpent.
  void count(std::int64_t& kind, std::int64_t calls = 1);

  BilevelOracle& oracle_;
  OracleCounts counts_;
  CallBudget budget_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  CountingOperator curvature_{*this};
};

}  // namespace hypertape
