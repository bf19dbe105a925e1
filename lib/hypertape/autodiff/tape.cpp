#include "hypertape/autodiff/tape.hpp"

#include <algorithm>

#include "hypertape/core/require.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {
namespace {

// What CppAD holds for a tape at its largest, with the Taylor coefficients of its products: fitted to the peak memory
// of dense and separable functions of 1.3 to 4 million operations, for which it is 0.86 to 1.46 times the truth.
constexpr std::size_t bytes_per_operation = 40;
constexpr std::size_t bytes_per_argument = 12;
constexpr std::size_t bytes_per_variable = 40;
constexpr std::size_t bytes_per_parameter = 70;

Vec recording_point(const char* name, const Vec& given, Index dim) {
  if (given.size() == 0) return Vec::Zero(dim);
  require_vector("TapeOptions", name, given, dim);
  return given;
}

template <class S>
VecT<S> scalars(const char* name, const CppAD::vector<S>& from, std::size_t begin, Index size) {
  VecT<S> out(name, size);
  for (Index i = 0; i < size; ++i) out[i] = from[begin + static_cast<std::size_t>(i)];
  return out;
}

/// Ends a recording that an exception leaves behind.
struct AbortRecording {
  ~AbortRecording() { TapeScalar::abort_recording(); }
};

}  // namespace

TapeSize predict_size(const Function& function, Dims dims, Independent independent, const TapeOptions& options) {
  using Kind = SizeProbe::Kind;
  const Vec x0 = recording_point("record_x", options.record_x, dims.x);
  const Vec y0 = recording_point("record_y", options.record_y, dims.y);
  VecT<SizeProbe> x("x", dims.x), y("y", dims.y);
  for (Index i = 0; i < dims.x; ++i)
    x[i] = {x0[i], independent == Independent::both ? Kind::variable : Kind::parameter};
  for (Index i = 0; i < dims.y; ++i) y[i] = {y0[i], Kind::variable};

  struct Tallying {
    SizeTally tally;
    SizeTally* outer = std::exchange(SizeProbe::tally(), &tally);
    ~Tallying() { SizeProbe::tally() = outer; }
  } tallying;
  try {
    function(x, y);
  } catch (const std::out_of_range& outside) {  // from VecT
    throw std::invalid_argument(text(function.name(), ": ", outside.what()));
  }

  const SizeTally& t = tallying.tally;
  const Index independents = dims.y + (independent == Independent::both ? dims.x : 0);
  const std::size_t operations = t.operations + static_cast<std::size_t>(independents);
  return {operations, operations * bytes_per_operation + t.arguments * bytes_per_argument +
                          t.variables * bytes_per_variable + t.parameters * bytes_per_parameter};
}

Tape::Tape(const Function& function, Dims dims, Independent independent, const TapeOptions& options)
    : name_(function.name()),
      dims_(dims),
      independent_(independent),
      allow_frozen_branches_(options.allow_frozen_branches) {
  const Vec x0 = recording_point("record_x", options.record_x, dims.x);
  const Vec y0 = recording_point("record_y", options.record_y, dims.y);
  const bool both = independent == Independent::both;
  fill(parameters_, both ? nullptr : &x0, nullptr);
  fill(z_, both ? &x0 : nullptr, &y0);

  const auto nx = static_cast<std::size_t>(dims.x);
  CppAD::vector<TapeScalar> parameters(parameters_.size()), z(z_.size()), result(1);
  std::copy_n(parameters_.data(), parameters_.size(), parameters.data());
  std::copy_n(z_.data(), z_.size(), z.data());
  {
    const AbortRecording on_exception;
    CppAD::Independent(z, 0, /*record_compare=*/true, parameters);
    const auto x = scalars("x", both ? z : parameters, 0, dims.x);
    const auto y = scalars("y", z, both ? nx : 0, dims.y);
    result[0] = function(x, y);
    require(CppAD::Variable(result[0]), name_, ": does not depend on ", both ? "x or y" : "y",
            " (it returned a constant); expected a function of ", both ? "x and y" : "y for every x");
    fun_.Dependent(z, result);
  }
  recorded_operations_ = fun_.size_op();
  fun_.optimize("no_print_for_op");
  fun_.check_for_nan(false);
  fun_.function_name_set(name_);
  weight_[0] = 1;
  direction_.resize(z_.size());
}

void Tape::fill(Values& z, const Vec* x, const Vec* y) const {
  const Index nx = x != nullptr ? x->size() : 0, ny = y != nullptr ? y->size() : 0;
  z.resize(static_cast<std::size_t>(nx + ny));
  if (nx > 0) std::copy_n(x->data(), nx, z.data());
  if (ny > 0) std::copy_n(y->data(), ny, z.data() + nx);
}

TapeSize Tape::size() const {
  // Forward of order one keeps two Taylor coefficients for each variable, and reverse needs as many partials.
  return {fun_.size_op(), fun_.size_op_seq() + fun_.size_random() + fun_.size_var() * 4 * sizeof(double)};
}

double Tape::value(const Vec& x, const Vec& y) {
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
    throw FrozenBranch(
        text(name_, ": the tape is not the function here: ", fun_.compare_change_number(),
             " comparison(s) of values of x or y would be decided otherwise than at the recording point. "
             "Write select, max or min of hypertape instead of if, ?: or std::max"));
  return result;
}

double Tape::gradient(const Vec& x, const Vec& y, Vec* gradient_x, Vec& gradient_y) {
  const double result = value(x, y);
  const Values d = fun_.Reverse(1, weight_);
  const std::size_t nx = independent_ == Independent::both ? static_cast<std::size_t>(dims_.x) : 0;
  if (gradient_x != nullptr) std::copy_n(d.data(), nx, gradient_x->data());
  std::copy_n(d.data() + nx, dims_.y, gradient_y.data());
  return result;
}

void Tape::hessian_product(const Vec* p, const Vec* q, Vec* out_x, Vec* out_y) {
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
