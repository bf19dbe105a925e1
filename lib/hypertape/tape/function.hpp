#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include "hypertape/autodiff/vec_t.hpp"
#include "hypertape/tape/record_scalar.hpp"
#include "hypertape/tape/tape_options.hpp"

namespace hypertape {

/// A callable that works for every scalar: `S operator()(const VecT<S>& x, const VecT<S>& y)`, or a generic lambda.
template <class F>
concept PlainFunction = requires(const F& f, const VecT<double>& d, const VecT<RecordScalar>& r) {
  { f(d, d) } -> std::convertible_to<double>;
  { f(r, r) } -> std::convertible_to<RecordScalar>;
};

/// One function of (x, y) as its author wrote it, in the two readings this library needs: computing with doubles, and
/// being recorded.
class Function {
 public:
  template <PlainFunction F>
  Function(std::string name, F f)
      : name_(std::move(name)),
        value_([f](const VecT<double>& x, const VecT<double>& y) -> double { return f(x, y); }),
        recorded_([f](const VecT<RecordScalar>& x, const VecT<RecordScalar>& y) -> RecordScalar { return f(x, y); }) {}

  const std::string& name() const { return name_; }

  double operator()(const Vec& x, const Vec& y) const { return value_({"x", x}, {"y", y}); }

  /// The function recorded at the point of `options`. Throws std::invalid_argument where it reads outside x or y, or
  /// depends on nothing that it is differentiated by.
  Recording record(Dims dims, Independent independent, const TapeOptions& options) const;

  /// The size that its tape will have while CppAD records it, by running it with a scalar that only counts.
  TapeSize predict_size(Dims dims, Independent independent, const TapeOptions& options = {}) const;

 private:
  template <class S>
  using Reading = std::function<S(const VecT<S>&, const VecT<S>&)>;

  RecordScalar run(const VecT<RecordScalar>& x, const VecT<RecordScalar>& y) const;

  std::string name_;
  Reading<double> value_;
  Reading<RecordScalar> recorded_;
};

}  // namespace hypertape
