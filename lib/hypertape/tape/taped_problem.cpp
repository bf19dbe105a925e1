#include "hypertape/tape/taped_problem.hpp"

#include <unistd.h>

#include <optional>

#include "hypertape/autodiff/tape_slot.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/tape/cppad_tape.hpp"

namespace hypertape {
namespace {

std::size_t default_limit() {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 2 : 0;
}

std::string gigabytes(std::size_t bytes) { return text(static_cast<double>(bytes) / 1e9, " GB"); }

void require_room(const ProblemSize& size, std::size_t limit) {
  if (limit == 0) limit = default_limit();
  require(limit == 0 || size.bytes() <= limit, "taping f and g would take ", size.f.operations, " and ",
          size.g.operations, " operations and about ", gigabytes(size.bytes()),
          ", more than TapeOptions::max_bytes = ", gigabytes(limit),
          ". A sum over data belongs in row terms, which tape one row only (docs/tutorial.md)");
}

}  // namespace

ProblemSize predict_problem(Dims dims, const Function& f, const Function& g, const TapeOptions& options) {
  require(dims.x > 0, "dims.x = ", dims.x, ", must be positive");
  require(dims.y > 0, "dims.y = ", dims.y, ", must be positive");
  const TapeSize g_y = g.predict_size(dims, Independent::y, options);
  return {f.predict_size(dims, Independent::both, options), g_y, g_y, g.predict_size(dims, Independent::both, options)};
}

class TapedProblem::Curvature final : public LinearOperator {
 public:
  explicit Curvature(Impl& impl) : impl_(impl) {}
  Index dim() const override;

 private:
  void do_apply(const Vec& v, Vec& out) override;
  Impl& impl_;
};

struct TapedProblem::Impl {
  Dims dims;
  Function f_function, g_function;
  TapeSlot slot;
  struct Tapes {
    CppadTape f, g_y, g;
    CppadTape curvature;  // g in y again: it holds the linearisation of curvature_at while g_y goes on to other points

    Tapes(const Impl& of, const Recording& rf, const Recording& rg, bool frozen)
        : f(rf, of.f_function.name(), Independent::both, frozen),
          g_y(rg, of.g_function.name(), Independent::y, frozen),
          g(rg, of.g_function.name(), Independent::both, frozen),
          curvature(rg, of.g_function.name(), Independent::y, frozen) {}
  };
  std::optional<Tapes> tapes;
  Curvature curvature{*this};

  Impl(Dims d, Function f, Function g, const TapeOptions& options)
      : dims(d), f_function(std::move(f)), g_function(std::move(g)) {
    require_room(predict_problem(dims, f_function, g_function, options), options.max_bytes);
    const Recording rf = f_function.record(dims, Independent::both, options);
    const Recording rg = g_function.record(dims, Independent::y, options);
    const auto entry = slot.enter();
    tapes.emplace(*this, rf, rg, options.allow_frozen_branches);
  }
  ~Impl() {
    const auto entry = slot.enter();
    tapes.reset();
  }
};

Index TapedProblem::Curvature::dim() const { return impl_.dims.y; }

void TapedProblem::Curvature::do_apply(const Vec& v, Vec& out) {
  const auto entry = impl_.slot.enter();
  impl_.tapes->curvature.hessian_product(nullptr, &v, nullptr, &out);
}

TapedProblem::TapedProblem(Dims dims, Function f, Function g, const TapeOptions& options)
    : impl_(std::make_unique<Impl>(dims, std::move(f), std::move(g), options)) {}
TapedProblem::TapedProblem(TapedProblem&&) noexcept = default;
TapedProblem& TapedProblem::operator=(TapedProblem&&) noexcept = default;
TapedProblem::~TapedProblem() = default;

Dims TapedProblem::dims() const {
  require_not_moved_from();
  return impl_->dims;
}

PlainFunctions TapedProblem::plain() const {
  require_not_moved_from();
  const auto plain = [](const Function& function) {
    return [function](const Vec& x, const Vec& y) { return function(x, y); };
  };
  return {plain(impl_->f_function), plain(impl_->g_function)};
}

ProblemSize TapedProblem::size() const {
  require_not_moved_from();
  const auto& tapes = *impl_->tapes;
  return {tapes.f.size(), tapes.g_y.size(), tapes.curvature.size(), tapes.g.size()};
}

double TapedProblem::do_f(const Vec& x, const Vec& y) {
  const auto entry = impl_->slot.enter();
  return impl_->tapes->f.value(x, y);
}

double TapedProblem::do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  const auto entry = impl_->slot.enter();
  return impl_->tapes->f.gradient(x, y, &gx, gy);
}

void TapedProblem::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  const auto entry = impl_->slot.enter();
  impl_->tapes->g_y.gradient(x, y, nullptr, out);
}

LinearOperator& TapedProblem::do_curvature_at(const Vec& x, const Vec& y) {
  const auto entry = impl_->slot.enter();
  impl_->tapes->curvature.value(x, y);
  return impl_->curvature;
}

void TapedProblem::do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  const auto entry = impl_->slot.enter();
  impl_->tapes->g.value(x, y);
  impl_->tapes->g.hessian_product(nullptr, &v, &out, nullptr);
}

double TapedProblem::do_g(const Vec& x, const Vec& y) {
  const auto entry = impl_->slot.enter();
  return impl_->tapes->g_y.value(x, y);
}

double TapedProblem::do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) {
  const auto entry = impl_->slot.enter();
  return impl_->tapes->g.gradient(x, y, &gx, gy);
}

void TapedProblem::do_adjoint_cross_product(const Vec& x, const Vec& y, const Vec& u, Vec& out) {
  const auto entry = impl_->slot.enter();
  impl_->tapes->g.value(x, y);
  impl_->tapes->g.hessian_product(&u, nullptr, nullptr, &out);
}

void TapedProblem::do_hess_f(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  const auto entry = impl_->slot.enter();
  impl_->tapes->f.value(x, y);
  impl_->tapes->f.hessian_product(&p, &q, &out_x, &out_y);
}

void TapedProblem::do_hess_g(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  const auto entry = impl_->slot.enter();
  impl_->tapes->g.value(x, y);
  impl_->tapes->g.hessian_product(&p, &q, &out_x, &out_y);
}

}  // namespace hypertape
