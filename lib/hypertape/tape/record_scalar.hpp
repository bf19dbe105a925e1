#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>

#include "hypertape/autodiff/eigen_scalar.hpp"
#include "hypertape/autodiff/select.hpp"
#include "hypertape/tape/recording.hpp"

namespace hypertape {

/// What one run of a function would put on a tape of CppAD.
struct TapeTally {
  std::size_t operations = 0;  ///< entries of the operation sequence, independent variables left out
  std::size_t arguments = 0;   ///< their addresses
  std::size_t variables = 0;   ///< their results
  std::size_t parameters = 0;  ///< operations on dynamic parameters alone, which CppAD keeps apart
};

/// The scalar that a user's function meets beside double. It computes like a double, and beside that either records
/// each operation or counts what CppAD would record; `RecordScalar::into` says where this thread's scalars go.
/// Comparisons are decided by the values, and are part of what is recorded.
class RecordScalar {
 public:
  /// What counting tells apart; in a recording everything that is not constant is a node.
  enum Kind : std::int32_t { constant = -1, parameter = 0, variable = 1 };

  RecordScalar() = default;
  RecordScalar(double value) : value_(value) {}  // NOLINT: constants convert, as they do for double
  RecordScalar(double value, std::int32_t node) : value_(value), node_(node) {}

  double value() const { return value_; }
  bool is_constant() const { return node_ < 0; }

  /// A node of the recording, or a Kind while counting.
  std::int32_t node() const { return node_; }

  /// While it lives, this thread's scalars record into a recording, or count into a tally.
  class Into {
   public:
    explicit Into(Recording& recording) : Into(&recording, nullptr) {}
    explicit Into(TapeTally& tally) : Into(nullptr, &tally) {}
    ~Into();
    Into(const Into&) = delete;
    Into& operator=(const Into&) = delete;

   private:
    Into(Recording* recording, TapeTally* tally);
    Recording* outer_recording_;
    TapeTally* outer_tally_;
  };

  friend RecordScalar operator+(const RecordScalar& a, const RecordScalar& b) {
    if (a.is_zero()) return {a.value_ + b.value_, b.node_};
    if (b.is_zero()) return {a.value_ + b.value_, a.node_};
    return binary(Op::add, a.value_ + b.value_, a, b);
  }
  friend RecordScalar operator-(const RecordScalar& a, const RecordScalar& b) {
    return binary(Op::sub, a.value_ - b.value_, a, b);
  }
  friend RecordScalar operator*(const RecordScalar& a, const RecordScalar& b) {
    return binary(Op::mul, a.value_ * b.value_, a, b);
  }
  friend RecordScalar operator/(const RecordScalar& a, const RecordScalar& b) {
    return binary(Op::div, a.value_ / b.value_, a, b);
  }
  RecordScalar operator-() const { return unary(Op::neg, -value_, *this); }
  RecordScalar operator+() const { return *this; }
  RecordScalar& operator+=(const RecordScalar& o) { return *this = *this + o; }
  RecordScalar& operator-=(const RecordScalar& o) { return *this = *this - o; }
  RecordScalar& operator*=(const RecordScalar& o) { return *this = *this * o; }
  RecordScalar& operator/=(const RecordScalar& o) { return *this = *this / o; }

  friend bool operator<(const RecordScalar& a, const RecordScalar& b) {
    return decided(Op::select_less, a, b, a.value_ < b.value_);
  }
  friend bool operator<=(const RecordScalar& a, const RecordScalar& b) {
    return decided(Op::select_less_equal, a, b, a.value_ <= b.value_);
  }
  friend bool operator>(const RecordScalar& a, const RecordScalar& b) {
    return decided(Op::select_greater, a, b, a.value_ > b.value_);
  }
  friend bool operator>=(const RecordScalar& a, const RecordScalar& b) {
    return decided(Op::select_greater_equal, a, b, a.value_ >= b.value_);
  }
  friend bool operator==(const RecordScalar& a, const RecordScalar& b) {
    return decided(Op::select_equal, a, b, a.value_ == b.value_);
  }
  friend bool operator!=(const RecordScalar& a, const RecordScalar& b) {
    return !decided(Op::select_equal, a, b, a.value_ == b.value_);
  }

  // All are hidden friends: found for these scalars only, never in the way of an overload for double.
#define HYPERTAPE_RECORD_UNARY(name) \
  friend RecordScalar name(const RecordScalar& s) { return unary(Op::name, std::name(s.value_), s); }
  HYPERTAPE_RECORD_UNARY(abs)
  HYPERTAPE_RECORD_UNARY(exp)
  HYPERTAPE_RECORD_UNARY(expm1)
  HYPERTAPE_RECORD_UNARY(log)
  HYPERTAPE_RECORD_UNARY(log1p)
  HYPERTAPE_RECORD_UNARY(sqrt)
  HYPERTAPE_RECORD_UNARY(sin)
  HYPERTAPE_RECORD_UNARY(cos)
  HYPERTAPE_RECORD_UNARY(tan)
  HYPERTAPE_RECORD_UNARY(asin)
  HYPERTAPE_RECORD_UNARY(acos)
  HYPERTAPE_RECORD_UNARY(atan)
  HYPERTAPE_RECORD_UNARY(sinh)
  HYPERTAPE_RECORD_UNARY(cosh)
  HYPERTAPE_RECORD_UNARY(tanh)
  HYPERTAPE_RECORD_UNARY(asinh)
  HYPERTAPE_RECORD_UNARY(acosh)
  HYPERTAPE_RECORD_UNARY(atanh)
  HYPERTAPE_RECORD_UNARY(erf)
  HYPERTAPE_RECORD_UNARY(erfc)
#undef HYPERTAPE_RECORD_UNARY
  friend RecordScalar fabs(const RecordScalar& s) { return abs(s); }
  friend RecordScalar log10(const RecordScalar& s) { return log(s) / RecordScalar(std::log(10.0)); }
  friend RecordScalar detach(const RecordScalar& s) { return unary(Op::detach, s.value_, s); }

  friend RecordScalar pow(const RecordScalar& a, const RecordScalar& b) {
    return binary(Op::pow, std::pow(a.value_, b.value_), a, b);
  }
  friend RecordScalar pow(const RecordScalar& a, double b) { return pow(a, RecordScalar(b)); }
  friend RecordScalar pow(const RecordScalar& a, int n) {  // repeatedly multiplied, as CppAD does
    RecordScalar p(1.0);
    for (int k = 0; k < std::abs(n); ++k) p = k == 0 ? a : p * a;
    return n < 0 ? RecordScalar(1.0) / p : p;
  }
  friend RecordScalar atan2(const RecordScalar& y, const RecordScalar& x);

  friend RecordScalar select_scalar(const Condition<RecordScalar>& c, const RecordScalar& if_true,
                                    const RecordScalar& if_false);

  // Eigen looks these up beside the scalar type.
  friend RecordScalar conj(const RecordScalar& s) { return s; }
  friend RecordScalar real(const RecordScalar& s) { return s; }
  friend RecordScalar imag(const RecordScalar&) { return {}; }
  friend RecordScalar abs2(const RecordScalar& s) { return s * s; }

 private:
  bool is_zero() const { return node_ < 0 && value_ == 0; }
  static RecordScalar unary(Op op, double value, const RecordScalar& a) {
    return a.is_constant() ? RecordScalar(value) : RecordScalar(value, put(op, a, {}, {}, {}));
  }
  static RecordScalar binary(Op op, double value, const RecordScalar& a, const RecordScalar& b) {
    return a.is_constant() && b.is_constant() ? RecordScalar(value) : RecordScalar(value, put(op, a, b, {}, {}));
  }
  static std::int32_t put(Op op, const RecordScalar& a, const RecordScalar& b, const RecordScalar& c,
                          const RecordScalar& d);
  static bool decided(Op op, const RecordScalar& a, const RecordScalar& b, bool outcome) {
    if (!a.is_constant() || !b.is_constant()) put_comparison(op, a, b, outcome);
    return outcome;
  }
  static void put_comparison(Op op, const RecordScalar& a, const RecordScalar& b, bool outcome);

  double value_ = 0;
  std::int32_t node_ = constant;
};

RecordScalar atan2(const RecordScalar& y, const RecordScalar& x);
RecordScalar select_scalar(const Condition<RecordScalar>& c, const RecordScalar& if_true, const RecordScalar& if_false);

}  // namespace hypertape

HYPERTAPE_EIGEN_SCALAR(hypertape::RecordScalar)
