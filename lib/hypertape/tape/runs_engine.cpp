#include "hypertape/tape/runs_engine.hpp"

#include <utility>

#include "hypertape/tape/frozen_branch.hpp"

namespace hypertape {

RunsEngine::RunsEngine(const Recording& recording, std::string name, bool inner, bool allow_frozen_branches)
    : name_(std::move(name)),
      allow_frozen_branches_(allow_frozen_branches),
      kernels_(kernels()),
      operations_(static_cast<std::size_t>(recording.size() - recording.inputs())),
      whole_(recording, Independent::both),
      whole_memory_(whole_.memory()) {
  if (!inner) return;
  Runs in_y(recording, Independent::y);
  inner_.emplace(Inner{in_y, in_y.memory(), in_y.memory()});
}

void RunsEngine::require_same_branches(const Runs::Memory& memory) const {
  if (!allow_frozen_branches_ && memory.changed_comparisons() > 0)
    throw_frozen_branch(name_, static_cast<std::size_t>(memory.changed_comparisons()));
}

EngineSize RunsEngine::size() const {
  const std::size_t inner_bytes = inner_ ? inner_->runs.bytes() : 0;
  return {Engine::runs, operations_, 0, whole_.bytes() + inner_bytes};
}

double RunsEngine::value(const Vec& x, const Vec& y) {
  const double result = whole_.value(kernels_, whole_memory_, x, y);
  require_same_branches(whole_memory_);
  return result;
}

double RunsEngine::gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y) {
  const double result = whole_.gradient(kernels_, whole_memory_, x, y, &gradient_x, gradient_y);
  require_same_branches(whole_memory_);
  return result;
}

void RunsEngine::gradient_y(const Vec& x, const Vec& y, Vec& out) {
  inner_->runs.gradient(kernels_, inner_->memory, x, y, nullptr, out);
  require_same_branches(inner_->memory);
}

void RunsEngine::linearise(const Vec& x, const Vec& y) {
  inner_->runs.value(kernels_, inner_->linearised, x, y);
  require_same_branches(inner_->linearised);
}

void RunsEngine::curvature(const Vec& v, Vec& out) {
  inner_->runs.hessian_product(kernels_, inner_->linearised, nullptr, &v, nullptr, &out);
}

void RunsEngine::cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x) {
  value(x, y);
  whole_.hessian_product(kernels_, whole_memory_, nullptr, &v, &out_x, nullptr);
}

void RunsEngine::adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y) {
  value(x, y);
  whole_.hessian_product(kernels_, whole_memory_, &u, nullptr, nullptr, &out_y);
}

void RunsEngine::hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  value(x, y);
  whole_.hessian_product(kernels_, whole_memory_, &p, &q, &out_x, &out_y);
}

}  // namespace hypertape
