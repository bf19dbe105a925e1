#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hypertape/core/text.hpp"

#ifndef CPPAD_BASE_REQUIRE_HPP
#error "include hypertape/autodiff/cppad.hpp, which puts this header and CppAD's in order"
#endif

#include "hypertape/simd/op.hpp"

namespace hypertape {

/// A directed acyclic graph of scalar expressions. Equal expressions are one node, constants are folded, and + 0,
/// * 0 and * 1 vanish, so that what CppAD derives on symbols comes out as small as it was meant.
class Graph {
 public:
  struct Node {
    Op op = Op::constant;
    std::array<int, 4> arguments{};  ///< of an input: its number stands first
    double constant = 0;
    bool operator==(const Node&) const = default;
  };

  int input(int number) { return insert({Op::input, {number}, 0}); }
  int constant(double value) { return insert({Op::constant, {}, value}); }
  int insert(const Node& node);

  const Node& operator[](int node) const { return nodes_[static_cast<std::size_t>(node)]; }

  /// Whether the node may be zero because a select took a zero: what it multiplies was then not selected, and need not
  /// be a number.
  bool is_masked(int node) const { return masked_[static_cast<std::size_t>(node)] != 0; }
  int size() const { return static_cast<int>(nodes_.size()); }

  /// The graph that this thread's symbols are put into.
  static Graph*& current();

 private:
  bool masks(const Node& node) const;
  void grow_index();

  std::vector<Node> nodes_;
  std::vector<char> masked_;
  std::vector<int> index_;  // a hash table with open addressing: nodes, or -1; its size is a power of two
};

/// While it lives, this thread's symbols go into a graph.
class IntoGraph {
 public:
  explicit IntoGraph(Graph& graph) : outer_(std::exchange(Graph::current(), &graph)) {}
  ~IntoGraph() { Graph::current() = outer_; }
  IntoGraph(const IntoGraph&) = delete;
  IntoGraph& operator=(const IntoGraph&) = delete;

 private:
  Graph* outer_;
};

/// A scalar that is an expression: CppAD's sweeps, run on symbols, write derivatives as expressions. It is a CppAD base
/// type; a constant carries its value, anything else is a node of the current graph.
class Symbol {
 public:
  Symbol() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number> Symbol(Number value)
      : value_(static_cast<double>(value)) {}  // NOLINT: constants convert, as they do for double
  static Symbol of(int node) {
    Symbol s;
    s.node_ = node;
    return s;
  }

  bool is_constant() const { return node_ < 0; }
  bool is(double constant) const { return is_constant() && value_ == constant; }
  double value() const { return value_; }

  /// The node of the current graph that stands for it, made for a constant.
  int node() const;

  friend Symbol operator+(const Symbol& a, const Symbol& b);
  friend Symbol operator-(const Symbol& a, const Symbol& b);
  friend Symbol operator*(const Symbol& a, const Symbol& b);
  friend Symbol operator/(const Symbol& a, const Symbol& b);
  friend Symbol operator-(const Symbol& a);
  friend Symbol operator+(const Symbol& a) { return a; }
  Symbol& operator+=(const Symbol& o) { return *this = *this + o; }
  Symbol& operator-=(const Symbol& o) { return *this = *this - o; }
  Symbol& operator*=(const Symbol& o) { return *this = *this * o; }
  Symbol& operator/=(const Symbol& o) { return *this = *this / o; }

  // Decided for constants; anything else would freeze a branch and throws std::invalid_argument.
  friend bool operator<(const Symbol& a, const Symbol& b) { return decided(a) < decided(b); }
  friend bool operator<=(const Symbol& a, const Symbol& b) { return decided(a) <= decided(b); }
  friend bool operator>(const Symbol& a, const Symbol& b) { return decided(a) > decided(b); }
  friend bool operator>=(const Symbol& a, const Symbol& b) { return decided(a) >= decided(b); }
  friend bool operator==(const Symbol& a, const Symbol& b) { return decided(a) == decided(b); }
  friend bool operator!=(const Symbol& a, const Symbol& b) { return decided(a) != decided(b); }

  friend std::ostream& operator<<(std::ostream& out, const Symbol& s) {
    return s.is_constant() ? out << s.value_ : out << "node " << s.node_;
  }

  /// The same expression: the same node, or the same constant.
  static bool identical(const Symbol& a, const Symbol& b) {
    return a.node_ == b.node_ && (!a.is_constant() || a.value_ == b.value_);
  }

  static Symbol unary(Op op, const Symbol& a);
  static Symbol binary(Op op, const Symbol& a, const Symbol& b);
  static Symbol select(Op op, const Symbol& left, const Symbol& right, const Symbol& if_true, const Symbol& if_false);

 private:
  static double decided(const Symbol& s);

  double value_ = 0;
  int node_ = -1;
};

}  // namespace hypertape

// What CppAD asks of a base type.
namespace CppAD {

inline hypertape::Symbol CondExpOp(CompareOp op, const hypertape::Symbol& left, const hypertape::Symbol& right,
                                   const hypertape::Symbol& if_true, const hypertape::Symbol& if_false) {
  using hypertape::Op;
  using hypertape::Symbol;
  switch (op) {
    case CompareLt:
      return Symbol::select(Op::select_less, left, right, if_true, if_false);
    case CompareLe:
      return Symbol::select(Op::select_less_equal, left, right, if_true, if_false);
    case CompareEq:
      return Symbol::select(Op::select_equal, left, right, if_true, if_false);
    case CompareGe:
      return Symbol::select(Op::select_greater_equal, left, right, if_true, if_false);
    case CompareGt:
      return Symbol::select(Op::select_greater, left, right, if_true, if_false);
    default:
      return Symbol::select(Op::select_equal, left, right, if_false, if_true);
  }
}
CPPAD_COND_EXP_REL(hypertape::Symbol)

inline bool EqualOpSeq(const hypertape::Symbol& a, const hypertape::Symbol& b) {
  return hypertape::Symbol::identical(a, b);
}
inline bool IdenticalCon(const hypertape::Symbol& s) { return s.is_constant(); }
inline bool IdenticalZero(const hypertape::Symbol& s) { return s.is(0); }
inline bool IdenticalOne(const hypertape::Symbol& s) { return s.is(1); }
inline bool IdenticalEqualCon(const hypertape::Symbol& a, const hypertape::Symbol& b) {
  return a.is_constant() && hypertape::Symbol::identical(a, b);
}
inline int Integer(const hypertape::Symbol& s) { return static_cast<int>(s.value()); }
/// a * b, and zero where a is zero, whatever b is there.
inline hypertape::Symbol azmul(const hypertape::Symbol& a, const hypertape::Symbol& b) {
  using hypertape::Symbol;
  const bool masked = !a.is_constant() && hypertape::Graph::current()->is_masked(a.node());
  return masked ? Symbol::select(hypertape::Op::select_equal, a, 0, 0, a * b) : a * b;
}
inline bool GreaterThanZero(const hypertape::Symbol& s) { return s > 0; }
inline bool GreaterThanOrZero(const hypertape::Symbol& s) { return s >= 0; }
inline bool LessThanZero(const hypertape::Symbol& s) { return s < 0; }
inline bool LessThanOrZero(const hypertape::Symbol& s) { return s <= 0; }
inline bool abs_geq(const hypertape::Symbol& a, const hypertape::Symbol& b) {
  return std::fabs(a.value()) >= std::fabs(b.value());
}
inline bool isnan(const hypertape::Symbol& s) { return std::isnan(s.value()); }

#define HYPERTAPE_SYMBOL_UNARY(name) \
  inline hypertape::Symbol name(const hypertape::Symbol& s) { return hypertape::Symbol::unary(hypertape::Op::name, s); }
HYPERTAPE_SYMBOL_UNARY(abs)
HYPERTAPE_SYMBOL_UNARY(sign)
HYPERTAPE_SYMBOL_UNARY(exp)
HYPERTAPE_SYMBOL_UNARY(expm1)
HYPERTAPE_SYMBOL_UNARY(log)
HYPERTAPE_SYMBOL_UNARY(log1p)
HYPERTAPE_SYMBOL_UNARY(sqrt)
HYPERTAPE_SYMBOL_UNARY(sin)
HYPERTAPE_SYMBOL_UNARY(cos)
HYPERTAPE_SYMBOL_UNARY(tan)
HYPERTAPE_SYMBOL_UNARY(asin)
HYPERTAPE_SYMBOL_UNARY(acos)
HYPERTAPE_SYMBOL_UNARY(atan)
HYPERTAPE_SYMBOL_UNARY(sinh)
HYPERTAPE_SYMBOL_UNARY(cosh)
HYPERTAPE_SYMBOL_UNARY(tanh)
HYPERTAPE_SYMBOL_UNARY(asinh)
HYPERTAPE_SYMBOL_UNARY(acosh)
HYPERTAPE_SYMBOL_UNARY(atanh)
HYPERTAPE_SYMBOL_UNARY(erf)
HYPERTAPE_SYMBOL_UNARY(erfc)
#undef HYPERTAPE_SYMBOL_UNARY
inline hypertape::Symbol fabs(const hypertape::Symbol& s) { return abs(s); }
inline hypertape::Symbol log10(const hypertape::Symbol& s) { return log(s) / hypertape::Symbol(std::log(10.0)); }
inline hypertape::Symbol pow(const hypertape::Symbol& a, const hypertape::Symbol& b) {
  return hypertape::Symbol::binary(hypertape::Op::pow, a, b);
}

template <>
class numeric_limits<hypertape::Symbol> {
 public:
  static hypertape::Symbol epsilon() { return std::numeric_limits<double>::epsilon(); }
  static hypertape::Symbol min() { return std::numeric_limits<double>::min(); }
  static hypertape::Symbol max() { return std::numeric_limits<double>::max(); }
  static hypertape::Symbol quiet_NaN() { return std::numeric_limits<double>::quiet_NaN(); }
  static hypertape::Symbol infinity() { return std::numeric_limits<double>::infinity(); }
  static const int digits10 = std::numeric_limits<double>::digits10;
  static const int max_digits10 = std::numeric_limits<double>::max_digits10;
};

template <>
struct to_string_struct<hypertape::Symbol> {
  std::string operator()(const hypertape::Symbol& s) { return s.is_constant() ? hypertape::text(s.value()) : "symbol"; }
};

/// CppAD looks for equal constants by this; expressions are told apart by EqualOpSeq.
inline unsigned short hash_code(const hypertape::Symbol& s) {
  return static_cast<unsigned short>(std::hash<double>()(s.value()) % CPPAD_HASH_TABLE_SIZE);
}

}  // namespace CppAD
