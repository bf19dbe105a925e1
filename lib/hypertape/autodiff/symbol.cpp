#include "hypertape/autodiff/cppad.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace hypertape {

namespace {

std::size_t hash(const Graph::Node& node) {
  std::uint64_t h = static_cast<std::uint64_t>(node.op) ^ std::bit_cast<std::uint64_t>(node.constant);
  for (const int a : node.arguments) h = (h ^ static_cast<std::uint64_t>(a)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(h ^ (h >> 32));
}

}  // namespace

int Graph::insert(const Node& node) {
  if (2 * nodes_.size() >= index_.size()) grow_index();
  std::size_t place = hash(node) & (index_.size() - 1);
  for (; index_[place] >= 0; place = (place + 1) & (index_.size() - 1))
    if ((*this)[index_[place]] == node) return index_[place];
  index_[place] = size();
  nodes_.push_back(node);
  masked_.push_back(masks(node) ? 1 : 0);
  return index_[place];
}

void Graph::grow_index() {
  index_.assign(std::max<std::size_t>(64, 2 * index_.size()), -1);
  for (int n = 0; n < size(); ++n) {
    std::size_t place = hash((*this)[n]) & (index_.size() - 1);
    while (index_[place] >= 0) place = (place + 1) & (index_.size() - 1);
    index_[place] = n;
  }
}

bool Graph::masks(const Node& node) const {
  const auto& [a, b, if_true, if_false] = node.arguments;
  const auto zero = [&](int n) { return is_masked(n) || ((*this)[n].op == Op::constant && (*this)[n].constant == 0); };
  switch (node.op) {
    case Op::mul:
      return is_masked(a) || is_masked(b);
    case Op::add:
    case Op::sub:
      return is_masked(a) && is_masked(b);
    case Op::neg:
    case Op::div:
      return is_masked(a);
    default:
      return node.op >= Op::select_less && (zero(if_true) || zero(if_false));
  }
}

Graph*& Graph::current() {
  thread_local Graph* graph = nullptr;
  return graph;
}

int Symbol::node() const {
  if (!is_constant()) return node_;
  return Graph::current()->constant(value_);
}

double Symbol::decided(const Symbol& s) {
  if (!s.is_constant())
    throw std::invalid_argument(
        "a row function compares values of its arguments (if, ?: or std::max), which would be decided once for all "
        "rows; "
        "write select, max or min of hypertape");
  return s.value_;
}

Symbol Symbol::unary(Op op, const Symbol& a) {
  if (a.is_constant()) return evaluate(op, {a.value_, 0, 0, 0});
  return of(Graph::current()->insert({op, {a.node()}, 0}));
}

Symbol Symbol::binary(Op op, const Symbol& a, const Symbol& b) {
  if (a.is_constant() && b.is_constant()) return evaluate(op, {a.value_, b.value_, 0, 0});
  int left = a.node(), right = b.node();
  if ((op == Op::add || op == Op::mul) && right < left) std::swap(left, right);  // so that a + b and b + a are one
  return of(Graph::current()->insert({op, {left, right}, 0}));
}

Symbol Symbol::select(Op op, const Symbol& left, const Symbol& right, const Symbol& if_true, const Symbol& if_false) {
  if (left.is_constant() && right.is_constant())
    return evaluate(op, {left.value_, right.value_, 1, 0}) == 1 ? if_true : if_false;
  if (identical(if_true, if_false)) return if_true;
  return of(Graph::current()->insert({op, {left.node(), right.node(), if_true.node(), if_false.node()}, 0}));
}

namespace {

Graph::Node node_of(const Symbol& s) { return s.is_constant() ? Graph::Node{} : (*Graph::current())[s.node()]; }
bool is_negative(const Symbol& s) { return node_of(s).op == Op::neg; }
Symbol argument(const Symbol& s, std::size_t k = 0) {
  const int node = node_of(s).arguments[k];
  const Graph::Node& found = (*Graph::current())[node];
  return found.op == Op::constant ? Symbol(found.constant) : Symbol::of(node);
}

/// constant * s. In a product the constant goes to a factor that is a constant, or else to one that is computed rather
/// than given: that one may be fixed while the other changes, and the multiplication is then done once.
Symbol scaled(double constant, const Symbol& s) {
  const Graph::Node node = (*Graph::current())[s.node()];
  if (node.op == Op::neg) return scaled(-constant, argument(s));
  if (node.op == Op::mul) {
    const Graph::Node first = (*Graph::current())[node.arguments[0]], second = (*Graph::current())[node.arguments[1]];
    const Symbol p = Symbol::of(node.arguments[0]), q = Symbol::of(node.arguments[1]);
    if (first.op == Op::constant && std::isnormal(constant * first.constant))
      return Symbol(constant * first.constant) * q;
    if (second.op == Op::constant && std::isnormal(constant * second.constant))
      return Symbol(constant * second.constant) * p;
    if (first.op == Op::input && second.op != Op::input) return Symbol::binary(Op::mul, p, scaled(constant, q));
    if (second.op == Op::input && first.op != Op::input) return Symbol::binary(Op::mul, scaled(constant, p), q);
  }
  return Symbol::binary(Op::mul, Symbol(constant), s);
}

/// s as a power of two times the rest, where it is a product with one: to multiply by it is exact.
struct PowerOfTwo {
  double factor = 1;
  Symbol rest;
};
PowerOfTwo power_of_two_in(const Symbol& s) {
  const Graph::Node node = (*Graph::current())[s.node()];
  for (std::size_t k = 0; k < 2 && node.op == Op::mul; ++k) {
    const Graph::Node factor = (*Graph::current())[node.arguments[k]];
    int exponent = 0;
    if (factor.op == Op::constant && std::abs(std::frexp(factor.constant, &exponent)) == 0.5)
      return {factor.constant, Symbol::of(node.arguments[1 - k])};
  }
  return {1, s};
}

}  // namespace

Symbol operator+(const Symbol& a, const Symbol& b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  if (!a.is_constant() && Symbol::identical(a, b)) return scaled(2, a);
  if (is_negative(b)) return a - argument(b);
  if (is_negative(a)) return b - argument(a);
  // (p + q) + q = p + 2 q: the derivative of a square that is added to another.
  if (const Graph::Node sum = node_of(a); sum.op == Op::add && !b.is_constant())
    for (const std::size_t k : {0u, 1u})
      if (sum.arguments[k] == b.node()) return argument(a, 1 - k) + scaled(2, b);
  // 2 p + 2 q = 2 (p + q), without another rounding: derivatives of squares are full of it.
  if (!a.is_constant() && !b.is_constant())
    if (const PowerOfTwo left = power_of_two_in(a), right = power_of_two_in(b);
        left.factor != 1 && left.factor == right.factor)
      return Symbol::binary(Op::mul, Symbol(left.factor), left.rest + right.rest);
  return Symbol::binary(Op::add, a, b);
}

Symbol operator-(const Symbol& a, const Symbol& b) {
  if (b.is(0)) return a;
  if (a.is(0)) return -b;
  if (is_negative(b)) return a + argument(b);
  return Symbol::binary(Op::sub, a, b);
}

Symbol operator*(const Symbol& a, const Symbol& b) {
  if (a.is(0) || b.is(0)) return 0.0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (a.is(-1)) return -b;
  if (b.is(-1)) return -a;
  if (a.is_constant() && !b.is_constant()) return scaled(a.value(), b);
  if (b.is_constant() && !a.is_constant()) return scaled(b.value(), a);
  if (is_negative(a) && is_negative(b)) return argument(a) * argument(b);
  return Symbol::binary(Op::mul, a, b);
}

Symbol operator/(const Symbol& a, const Symbol& b) {
  if (a.is(0)) return 0.0;
  if (b.is(1)) return a;
  if (b.is_constant() && std::isnormal(1 / b.value())) return a * Symbol(1 / b.value());  // one rounding more at most
  return Symbol::binary(Op::div, a, b);
}

Symbol operator-(const Symbol& a) {
  const Graph::Node node = node_of(a);
  if (node.op == Op::neg) return argument(a);
  if (node.op == Op::sub) return argument(a, 1) - argument(a, 0);
  if (node.op == Op::mul && (argument(a, 0).is_constant() || argument(a, 1).is_constant())) return scaled(-1, a);
  return Symbol::unary(Op::neg, a);
}

}  // namespace hypertape
