#pragma once

#include <cmath>
#include <cstddef>

#include "hypertape/autodiff/eigen_scalar.hpp"

namespace hypertape {

/// What one run of a function would put on a tape.
struct SizeTally {
  std::size_t operations = 0;  ///< entries of the operation sequence, independent variables left out
  std::size_t arguments = 0;   ///< their addresses
  std::size_t variables = 0;   ///< their results
  std::size_t parameters = 0;  ///< operations on dynamic parameters alone, which CppAD keeps apart
};

/// A scalar that computes like a double and counts what CppAD would record, by CppAD's own rules (no operation between
/// constants, none for + 0 or * 1): a function run with it tells the size of its tape without recording one.
class SizeProbe {
 public:
  enum class Kind { constant, parameter, variable };

  SizeProbe() = default;
  SizeProbe(double value) : value_(value) {}  // NOLINT: constants convert, as they do for double
  SizeProbe(double value, Kind kind) : value_(value), kind_(kind) {}

  double value() const { return value_; }
  Kind kind() const { return kind_; }

  /// Where this thread's probes count; null counts nowhere.
  static SizeTally*& tally();

  /// The result of an operation on `arguments` scalars, at least one of which has `kind`, that CppAD stores as
  /// `results` variables.
  static SizeProbe result(double value, Kind kind, int arguments, int results = 1) {
    SizeTally* const t = tally();
    if (t != nullptr && kind == Kind::variable) {
      ++t->operations;
      t->arguments += static_cast<std::size_t>(arguments);
      t->variables += static_cast<std::size_t>(results);
    } else if (t != nullptr && kind == Kind::parameter) {
      ++t->parameters;
    }
    return {value, kind};
  }

  // CppAD folds constants 0 and 1 next to a variable, not next to a parameter.
  friend SizeProbe operator+(const SizeProbe& a, const SizeProbe& b) {
    if (b.folds(a, 0)) return {a.value_ + b.value_, b.kind_};
    if (a.folds(b, 0)) return {a.value_ + b.value_, a.kind_};
    return result(a.value_ + b.value_, either(a, b), 2);
  }
  friend SizeProbe operator-(const SizeProbe& a, const SizeProbe& b) {
    if (a.folds(b, 0)) return {a.value_ - b.value_, a.kind_};
    return result(a.value_ - b.value_, either(a, b), 2);
  }
  friend SizeProbe operator*(const SizeProbe& a, const SizeProbe& b) {
    if (a.folds(b, 0) || b.folds(a, 0)) return {0.0};
    if (b.folds(a, 1)) return b;
    if (a.folds(b, 1)) return a;
    return result(a.value_ * b.value_, either(a, b), 2);
  }
  friend SizeProbe operator/(const SizeProbe& a, const SizeProbe& b) {
    if (b.folds(a, 0)) return {0.0};
    if (a.folds(b, 1)) return a;
    return result(a.value_ / b.value_, either(a, b), 2);
  }
  SizeProbe operator-() const { return result(-value_, kind_, 1); }
  SizeProbe operator+() const { return *this; }
  SizeProbe& operator+=(const SizeProbe& o) { return *this = *this + o; }
  SizeProbe& operator-=(const SizeProbe& o) { return *this = *this - o; }
  SizeProbe& operator*=(const SizeProbe& o) { return *this = *this * o; }
  SizeProbe& operator/=(const SizeProbe& o) { return *this = *this / o; }

  // Comparisons are operations too: CppAD records them to notice a branch that would go the other way.
  friend bool operator<(const SizeProbe& a, const SizeProbe& b) { return compared(a, b), a.value_ < b.value_; }
  friend bool operator<=(const SizeProbe& a, const SizeProbe& b) { return compared(a, b), a.value_ <= b.value_; }
  friend bool operator>(const SizeProbe& a, const SizeProbe& b) { return compared(a, b), a.value_ > b.value_; }
  friend bool operator>=(const SizeProbe& a, const SizeProbe& b) { return compared(a, b), a.value_ >= b.value_; }
  friend bool operator==(const SizeProbe& a, const SizeProbe& b) { return compared(a, b), a.value_ == b.value_; }
  friend bool operator!=(const SizeProbe& a, const SizeProbe& b) { return compared(a, b), a.value_ != b.value_; }

  // Functions of one argument, with the number of variables CppAD keeps for each. All are hidden friends: found for
  // probes only, never in the way of an overload for double.
#define HYPERTAPE_PROBE_UNARY(name, results) \
  friend SizeProbe name(const SizeProbe& s) { return result(std::name(s.value()), s.kind(), 1, results); }
  HYPERTAPE_PROBE_UNARY(abs, 1)
  HYPERTAPE_PROBE_UNARY(fabs, 1)
  HYPERTAPE_PROBE_UNARY(exp, 1)
  HYPERTAPE_PROBE_UNARY(expm1, 1)
  HYPERTAPE_PROBE_UNARY(log, 1)
  HYPERTAPE_PROBE_UNARY(log1p, 1)
  HYPERTAPE_PROBE_UNARY(sqrt, 1)
  HYPERTAPE_PROBE_UNARY(sin, 2)
  HYPERTAPE_PROBE_UNARY(cos, 2)
  HYPERTAPE_PROBE_UNARY(tan, 2)
  HYPERTAPE_PROBE_UNARY(asin, 2)
  HYPERTAPE_PROBE_UNARY(acos, 2)
  HYPERTAPE_PROBE_UNARY(atan, 2)
  HYPERTAPE_PROBE_UNARY(sinh, 2)
  HYPERTAPE_PROBE_UNARY(cosh, 2)
  HYPERTAPE_PROBE_UNARY(tanh, 2)
  HYPERTAPE_PROBE_UNARY(asinh, 2)
  HYPERTAPE_PROBE_UNARY(acosh, 2)
  HYPERTAPE_PROBE_UNARY(atanh, 2)
  HYPERTAPE_PROBE_UNARY(erf, 5)
  HYPERTAPE_PROBE_UNARY(erfc, 5)
#undef HYPERTAPE_PROBE_UNARY

  friend SizeProbe log10(const SizeProbe& s) { return log(s) / SizeProbe(std::log(10.0)); }
  friend SizeProbe pow(const SizeProbe& a, const SizeProbe& b) {
    return result(std::pow(a.value(), b.value()), either(a, b), 2, 3);
  }
  friend SizeProbe pow(const SizeProbe& a, double b) { return pow(a, SizeProbe(b)); }
  friend SizeProbe pow(const SizeProbe& a, int n) {  // CppAD multiplies repeatedly
    SizeProbe p(1.0);
    for (int k = 0; k < std::abs(n); ++k) p = p * a;
    return n < 0 ? SizeProbe(1.0) / p : p;
  }
  friend SizeProbe atan2(const SizeProbe& y, const SizeProbe& x) {
    return result(std::atan2(y.value(), x.value()), either(x, y), 12, 8);
  }

  // Eigen looks these up beside the scalar type.
  friend SizeProbe conj(const SizeProbe& s) { return s; }
  friend SizeProbe real(const SizeProbe& s) { return s; }
  friend SizeProbe imag(const SizeProbe&) { return {}; }
  friend SizeProbe abs2(const SizeProbe& s) { return s * s; }

  static Kind either(const SizeProbe& a, const SizeProbe& b) { return a.kind_ > b.kind_ ? a.kind_ : b.kind_; }

 private:
  bool folds(const SizeProbe& other, double constant) const {
    return kind_ == Kind::variable && other.kind_ == Kind::constant && other.value_ == constant;
  }
  static void compared(const SizeProbe& a, const SizeProbe& b) {
    if (either(a, b) != Kind::constant) result(0, Kind::variable, 2, 0);  // on the tape even between parameters
  }

  double value_ = 0;
  Kind kind_ = Kind::constant;
};

}  // namespace hypertape

HYPERTAPE_EIGEN_SCALAR(hypertape::SizeProbe)
