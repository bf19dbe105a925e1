#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/autodiff/size_probe.hpp"
#include "hypertape/autodiff/vec_t.hpp"

namespace hypertape {

/// A callable that works for every scalar: `S operator()(const VecT<S>& x, const VecT<S>& y)`, or a generic lambda.
template <class F>
concept PlainFunction = requires(const F& f, const VecT<double>& d, const VecT<TapeScalar>& t,
                                 const VecT<SizeProbe>& p) {
  { f(d, d) } -> std::convertible_to<double>;
  { f(t, t) } -> std::convertible_to<TapeScalar>;
  { f(p, p) } -> std::convertible_to<SizeProbe>;
};

/// One function of (x, y) as its author wrote it, in the three readings this library needs: computing with doubles,
/// being taped, and telling the size of its tape.
class Function {
 public:
  template <PlainFunction F>
  Function(std::string name, F f)
      : name_(std::move(name)),
        value_([f](const VecT<double>& x, const VecT<double>& y) -> double { return f(x, y); }),
        taped_([f](const VecT<TapeScalar>& x, const VecT<TapeScalar>& y) -> TapeScalar { return f(x, y); }),
        sized_([f](const VecT<SizeProbe>& x, const VecT<SizeProbe>& y) -> SizeProbe { return f(x, y); }) {}

  const std::string& name() const { return name_; }

  double operator()(const Vec& x, const Vec& y) const { return value_({"x", x}, {"y", y}); }
  TapeScalar operator()(const VecT<TapeScalar>& x, const VecT<TapeScalar>& y) const { return taped_(x, y); }
  SizeProbe operator()(const VecT<SizeProbe>& x, const VecT<SizeProbe>& y) const { return sized_(x, y); }

 private:
  template <class S>
  using Reading = std::function<S(const VecT<S>&, const VecT<S>&)>;

  std::string name_;
  Reading<double> value_;
  Reading<TapeScalar> taped_;
  Reading<SizeProbe> sized_;
};

}  // namespace hypertape
