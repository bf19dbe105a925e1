#include "hypertape/autodiff/row_problem.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/autodiff/row_objective.hpp"
#include "hypertape/core/parallel.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

void require_terms(const char* level, const Objective& terms) {
  require(!terms.empty(), level, " has no terms, expected at least one");
  for (std::size_t i = 0; i < terms.size(); ++i)
    require(std::isfinite(terms[i].weight), level, ": weight of term ", i, " = ", terms[i].weight, ", must be finite");
}

// Columns of a product that are made in one pass over the rows: few, so that they stay in cache beside those rows.
constexpr std::size_t most_columns = 4;

double plain_value(const Objective& terms, const Vec& x, const Vec& y) {
  double sum = 0;
  for (const Term& term : terms) sum += term.value(x, y);
  return sum;
}

}  // namespace

struct RowProblem::Impl final : LinearOperator {
  Dims dims;
  Objective f_terms, g_terms;
  RowObjective f, g;
  Vec prepared_x;  // the x for which gradient_y is prepared
  Vec x, y;        // where the curvature is

  Impl(Dims d, Objective ft, Objective gt, int threads, const Kernels& kernels)
      : dims(d),
        f_terms(std::move(ft)),
        g_terms(std::move(gt)),
        f(d, f_terms, threads, kernels),
        g(d, g_terms, threads, kernels) {}

  Index dim() const override { return dims.y; }
  bool has_diagonal() const override { return true; }

 private:
  void do_apply(const Vec& v, Vec& out) override {
    g.run(RowPass::curvature, {.where = "linear operator", .q = {&v, 1}, .out_y = {&out, 1}});
  }
  void do_apply_columns(std::span<const Vec> v, std::span<Vec> out) override {
    const std::size_t together = g.may_share_rows() ? most_columns : 1;
    for (std::size_t k = 0; k < v.size(); k += together) {
      const std::size_t n = std::min(together, v.size() - k);
      g.run(RowPass::curvature, {.where = "linear operator", .q = v.subspan(k, n), .out_y = out.subspan(k, n)});
    }
  }
  void do_diagonal(Vec& out) override {
    g.run(RowPass::diagonal, {.where = "linear operator", .x = &x, .y = &y, .out_y = {&out, 1}});
  }
};

RowProblem::RowProblem(Dims dims, Objective f, Objective g, const RowOptions& options) {
  require(dims.x > 0, "dims.x = ", dims.x, ", must be positive");
  require(dims.y > 0, "dims.y = ", dims.y, ", must be positive");
  require_terms("f", f);
  require_terms("g", g);
  require(options.threads >= 0, "RowOptions: threads = ", options.threads, ", must not be negative");
  const int threads = usable_threads(options.threads);
  impl_ = std::make_unique<Impl>(dims, std::move(f), std::move(g), threads, kernels(options.instructions));
  check_sizes_only();  // RowObjective looks at the entries
}
RowProblem::RowProblem(RowProblem&&) noexcept = default;
RowProblem& RowProblem::operator=(RowProblem&&) noexcept = default;
RowProblem::~RowProblem() = default;

Dims RowProblem::dims() const {
  require_not_moved_from();
  return impl_->dims;
}

PlainFunctions RowProblem::plain() const {
  require_not_moved_from();
  return {[terms = impl_->f_terms](const Vec& x, const Vec& y) { return plain_value(terms, x, y); },
          [terms = impl_->g_terms](const Vec& x, const Vec& y) { return plain_value(terms, x, y); }};
}

std::size_t RowProblem::bytes() const {
  require_not_moved_from();
  const Index held = impl_->prepared_x.size() + impl_->x.size() + impl_->y.size();
  return impl_->f.bytes() + impl_->g.bytes() + static_cast<std::size_t>(held) * sizeof(double);
}

double RowProblem::do_f(const Vec& x, const Vec& y) {
  double value = 0;
  impl_->f.run(RowPass::value, {.where = "f", .x = &x, .y = &y, .value = &value});
  return value;
}

double RowProblem::do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  double value = 0;
  impl_->f.run(RowPass::gradient,
               {.where = "grad_f", .x = &x, .y = &y, .value = &value, .out_x = &gx, .out_y = {&gy, 1}});
  return value;
}

void RowProblem::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  if (impl_->prepared_x.size() == 0 || impl_->prepared_x != x) {
    impl_->g.prepare(RowPass::gradient_y, {.where = "grad_y_g", .x = &x});
    impl_->prepared_x = x;
  }
  impl_->g.run(RowPass::gradient_y, {.where = "grad_y_g", .x = &x, .y = &y, .out_y = {&out, 1}});
}

LinearOperator& RowProblem::do_curvature_at(const Vec& x, const Vec& y) {
  impl_->g.prepare(RowPass::curvature, {.where = "curvature_at", .x = &x, .y = &y});
  impl_->x = x;
  impl_->y = y;
  return *impl_;
}

void RowProblem::do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  impl_->g.run(RowPass::cross, {.where = "cross_product", .x = &x, .y = &y, .q = {&v, 1}, .out_x = &out});
}

double RowProblem::do_g(const Vec& x, const Vec& y) {
  double value = 0;
  impl_->g.run(RowPass::value, {.where = "g", .x = &x, .y = &y, .value = &value});
  return value;
}

double RowProblem::do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  double value = 0;
  impl_->g.run(RowPass::gradient,
               {.where = "grad_g", .x = &x, .y = &y, .value = &value, .out_x = &gx, .out_y = {&gy, 1}});
  return value;
}

void RowProblem::do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) {
  impl_->g.run(RowPass::adjoint_cross,
               {.where = "adjoint_cross_product", .x = &x, .y = &y, .p = &u, .out_y = {&out, 1}});
}

void RowProblem::do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  impl_->f.run(RowPass::hessian,
               {.where = "hess_f", .x = &x, .y = &y, .p = &p, .q = {&q, 1}, .out_x = &out_x, .out_y = {&out_y, 1}});
}

void RowProblem::do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  impl_->g.run(RowPass::hessian,
               {.where = "hess_g", .x = &x, .y = &y, .p = &p, .q = {&q, 1}, .out_x = &out_x, .out_y = {&out_y, 1}});
}

}  // namespace hypertape
