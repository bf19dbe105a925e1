#include "hypertape/oracle/counting_oracle.hpp"

#include "hypertape/core/require.hpp"

namespace hypertape {

CountingOracle::CountingOracle(BilevelOracle& oracle) : oracle_(oracle) {}

void CountingOracle::limit(const CallBudget& budget) {
  require(budget.calls >= 0, "budget: calls = ", budget.calls, ", must not be negative");
  require(budget.seconds >= 0, "budget: seconds = ", budget.seconds, ", must not be negative");
  budget_ = budget;
  begin_ = std::chrono::steady_clock::now();
}

double CountingOracle::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void CountingOracle::require_budget(std::int64_t calls) const {
  if (counts_.total() > budget_.calls - calls)
    throw BudgetSpent(Status::call_limit,
                      calls == 1 || counts_.total() >= budget_.calls
                          ? text(counts_.total(), " oracle calls, all that are allowed")
                          : text(counts_.total(), " oracle calls, ", calls, " more would be beyond ", budget_.calls));
  if (budget_.seconds < std::numeric_limits<double>::infinity() && seconds() > budget_.seconds)
    throw BudgetSpent(Status::time_limit, text(seconds(), " s, allowed are ", budget_.seconds));
}

void CountingOracle::count(std::int64_t& kind, std::int64_t calls) {
  require_budget(calls);
  kind += calls;
}

void CountingOracle::CountingOperator::do_apply(const Vec& v, Vec& out) {
  owner_.count(owner_.counts_.hv);
  counted->do_apply(v, out);
}

void CountingOracle::CountingOperator::do_apply_columns(std::span<const Vec> v, std::span<Vec> out) {
  owner_.count(owner_.counts_.hv, static_cast<std::int64_t>(v.size()));
  counted->do_apply_columns(v, out);
}

void CountingOracle::CountingOperator::do_diagonal(Vec& out) {
  owner_.count(owner_.counts_.hv);
  counted->do_diagonal(out);
}

double CountingOracle::do_f(const Vec& x, const Vec& y) { return oracle_.do_f(x, y); }

double CountingOracle::do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  count(counts_.f);
  return oracle_.do_grad_f(x, y, gx, gy);
}

void CountingOracle::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  count(counts_.g);
  oracle_.do_grad_y_g(x, y, out);
}

LinearOperator& CountingOracle::do_curvature_at(const Vec& x, const Vec& y) {
  curvature_.counted = &oracle_.do_curvature_at(x, y);
  return curvature_;
}

void CountingOracle::do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  count(counts_.jv);
  oracle_.do_cross_product(x, y, v, out);
}

double CountingOracle::do_g(const Vec& x, const Vec& y) { return oracle_.do_g(x, y); }

double CountingOracle::do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  count(counts_.g);
  return oracle_.do_grad_g(x, y, gx, gy);
}

void CountingOracle::do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) {
  count(counts_.jv);
  oracle_.do_adjoint_cross_product(x, y, u, out);
}

void CountingOracle::do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  count(counts_.hv);
  oracle_.do_hess_f(x, y, p, q, out_x, out_y);
}

void CountingOracle::do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  require_budget(2);
  ++counts_.hv;
  ++counts_.jv;
  oracle_.do_hess_g(x, y, p, q, out_x, out_y);
}

}  // namespace hypertape
