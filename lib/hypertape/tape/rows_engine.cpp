#include "hypertape/tape/rows_engine.hpp"

#include <utility>

#include "hypertape/simd/instruction_set.hpp"
#include "hypertape/tape/frozen_branch.hpp"

namespace hypertape {
namespace {

/// The recording with another result: the sum of its comparisons.
Recording count_of_changes(Recording recording) {
  recording.result = recording.comparisons.front();
  for (std::size_t k = 1; k < recording.comparisons.size(); ++k)
    recording.result = recording.add(Op::add, {recording.result, recording.comparisons[k], 0, 0});
  return recording;
}

}  // namespace

RowsEngine::RowsEngine(Recording recording, Partition cut, std::string name, bool allow_frozen_branches, int threads)
    : name_(std::move(name)), tape_(std::move(cut), recording.dims, kernels(), threads) {
  if (recording.comparisons.empty() || allow_frozen_branches) return;
  const Dims dims = recording.dims;
  comparisons_.emplace(partition(count_of_changes(std::move(recording))), dims, kernels(), threads);
}

void RowsEngine::require_same_branches(const Vec& x, const Vec& y) {
  if (!comparisons_) return;
  if (const double changes = comparisons_->value(x, y); changes > 0)
    throw_frozen_branch(name_, static_cast<std::size_t>(changes));
}

EngineSize RowsEngine::size() const {
  return {Engine::rows, tape_.operations(), tape_.operations_in_rows(),
          tape_.bytes() + (comparisons_ ? comparisons_->bytes() : 0)};
}

double RowsEngine::value(const Vec& x, const Vec& y) {
  require_same_branches(x, y);
  return tape_.value(x, y);
}

double RowsEngine::gradient(const Vec& x, const Vec& y, Vec& gradient_x, Vec& gradient_y) {
  require_same_branches(x, y);
  return tape_.gradient(x, y, gradient_x, gradient_y);
}

void RowsEngine::gradient_y(const Vec& x, const Vec& y, Vec& out) {
  require_same_branches(x, y);
  tape_.gradient_y(x, y, out);
}

void RowsEngine::linearise(const Vec& x, const Vec& y) {
  require_same_branches(x, y);
  tape_.linearise(x, y);
}

void RowsEngine::curvature(const Vec& v, Vec& out) { tape_.curvature(v, out); }

void RowsEngine::cross(const Vec& x, const Vec& y, const Vec& v, Vec& out_x) {
  require_same_branches(x, y);
  tape_.cross(x, y, v, out_x);
}

void RowsEngine::adjoint_cross(const Vec& x, const Vec& y, const Vec& u, Vec& out_y) {
  require_same_branches(x, y);
  tape_.adjoint_cross(x, y, u, out_y);
}

void RowsEngine::hessian(const Vec& x, const Vec& y, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) {
  require_same_branches(x, y);
  tape_.hessian(x, y, p, q, out_x, out_y);
}

}  // namespace hypertape
