#include "hypertape/tape/cppad_tape.hpp"

#include <algorithm>

#include "hypertape/tape/frozen_branch.hpp"
#include "hypertape/tape/replay.hpp"

namespace hypertape {
CppadTape::CppadTape(const Recording& recording, std::string name, Independent independent, bool allow_frozen_branches)
    : name_(std::move(name)),
      dims_(recording.dims),
      independent_(independent),
      allow_frozen_branches_(allow_frozen_branches) {
  const bool both = independent == Independent::both;
  fill(parameters_, both ? nullptr : &recording.x, nullptr);
  fill(z_, both ? &recording.x : nullptr, &recording.y);

  CppAD::vector<TapeScalar> parameters(parameters_.size()), z(z_.size()), result(1);
  std::copy_n(parameters_.data(), parameters_.size(), parameters.data());
  std::copy_n(z_.data(), z_.size(), z.data());
  {
    const AbortRecording<TapeScalar> on_exception;
    CppAD::Independent(z, 0, /*record_compare=*/true, parameters);
    std::vector<TapeScalar> inputs(parameters.data(), parameters.data() + parameters.size());
    inputs.insert(inputs.end(), z.data(), z.data() + z.size());
    // A comparison becomes one: CppAD tells later whether it would be decided otherwise.
    result[0] = replay(recording, std::move(inputs), [](Op op, const std::array<TapeScalar, 4>& arguments) {
      decided(comparison_of(op), arguments[0], arguments[1]);
    });
    fun_.Dependent(z, result);
  }
  recorded_operations_ = fun_.size_op();
  fun_.optimize("no_print_for_op");
  fun_.check_for_nan(false);
  fun_.function_name_set(name_);
  weight_[0] = 1;
  direction_.resize(z_.size());
}

void CppadTape::fill(Values& z, const Vec* x, const Vec* y) const {
  const Index nx = x != nullptr ? x->size() : 0, ny = y != nullptr ? y->size() : 0;
  z.resize(static_cast<std::size_t>(nx + ny));
  if (nx > 0) std::copy_n(x->data(), nx, z.data());
  if (ny > 0) std::copy_n(y->data(), ny, z.data() + nx);
}

TapeSize CppadTape::size() const {
  // Forward of order one keeps two Taylor coefficients for each variable, and reverse needs as many partials.
  return {fun_.size_op(), fun_.size_op_seq() + fun_.size_random() + fun_.size_var() * 4 * sizeof(double)};
}

double CppadTape::value(const Vec& x, const Vec& y) {
  if (independent_ == Independent::both) {
    fill(z_, &x, &y);
  } else {
    if (!std::equal(x.data(), x.data() + x.size(), parameters_.data())) {
      fill(parameters_, &x, nullptr);
      fun_.new_dynamic(parameters_);
    }
    fill(z_, nullptr, &y);
  }
  const double result = fun_.Forward(0, z_)[0];
  if (!allow_frozen_branches_ && fun_.compare_change_number() > 0)
    throw_frozen_branch(name_, fun_.compare_change_number());
  return result;
}

double CppadTape::gradient(const Vec& x, const Vec& y, Vec* gradient_x, Vec& gradient_y) {
  const double result = value(x, y);
  const Values d = fun_.Reverse(1, weight_);
  const std::size_t nx = independent_ == Independent::both ? static_cast<std::size_t>(dims_.x) : 0;
  if (gradient_x != nullptr) std::copy_n(d.data(), nx, gradient_x->data());
  std::copy_n(d.data() + nx, dims_.y, gradient_y.data());
  return result;
}

void CppadTape::hessian_product(const Vec* p, const Vec* q, Vec* out_x, Vec* out_y) {
  const Index nx = independent_ == Independent::both ? dims_.x : 0;
  std::fill_n(direction_.data(), direction_.size(), 0.0);
  if (p != nullptr) std::copy_n(p->data(), nx, direction_.data());
  if (q != nullptr) std::copy_n(q->data(), dims_.y, direction_.data() + nx);
  fun_.Forward(1, direction_);
  // With a weight of size one the Hessian product stands at 2 j + 1, and the gradient at 2 j.
  const Values d = fun_.Reverse(2, weight_);
  const double* product = d.data();
  if (out_x != nullptr)
    for (Index j = 0; j < nx; ++j) (*out_x)[j] = product[2 * j + 1];
  if (out_y != nullptr)
    for (Index j = 0; j < dims_.y; ++j) (*out_y)[j] = product[2 * (nx + j) + 1];
}

}  // namespace hypertape
