#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hypertape/autodiff/cppad.hpp"

using namespace hypertape;

namespace {

/// A graph with three inputs, which symbols go into while it lives.
struct Sheet {
  Graph graph;
  Graph* outer = std::exchange(Graph::current(), &graph);
  Symbol a = Symbol::of(graph.input(0)), b = Symbol::of(graph.input(1)), c = Symbol::of(graph.input(2));
  Sheet() = default;
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;
  ~Sheet() { Graph::current() = outer; }

  const Graph::Node& operator[](const Symbol& s) const { return graph[s.node()]; }

  double value(const Symbol& s, const std::vector<double>& inputs) const {
    return s.is_constant() ? s.value() : node_value(s.node(), inputs);
  }

 private:
  double node_value(int n, const std::vector<double>& inputs) const {
    const Graph::Node& node = graph[n];
    if (node.op == Op::constant) return node.constant;
    if (node.op == Op::input) return inputs[static_cast<std::size_t>(node.arguments[0])];
    std::array<double, 4> arguments{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(node.op)); ++k)
      arguments[k] = node_value(node.arguments[k], inputs);
    return evaluate(node.op, arguments);
  }
};

bool same(const Symbol& a, const Symbol& b) { return Symbol::identical(a, b); }

struct Unary {
  Op op;
  double (*reference)(double);
  Symbol (*symbolic)(const Symbol&);
};

double sign_of(double t) { return t > 0 ? 1 : t == 0 ? 0 : -1; }

#define UNARY(name)                                              \
  {                                                              \
    Op::name, [](double t) -> double { return std::name(t); },   \
        [](const Symbol& s) -> Symbol { return CppAD::name(s); } \
  }

const std::vector<Unary>& unary_functions() {
  static const std::vector<Unary> functions{{Op::neg, [](double t) { return -t; }, [](const Symbol& s) { return -s; }},
                                            {Op::sign, sign_of, [](const Symbol& s) { return CppAD::sign(s); }},
                                            UNARY(abs),
                                            UNARY(exp),
                                            UNARY(expm1),
                                            UNARY(log),
                                            UNARY(log1p),
                                            UNARY(sqrt),
                                            UNARY(sin),
                                            UNARY(cos),
                                            UNARY(tan),
                                            UNARY(asin),
                                            UNARY(acos),
                                            UNARY(atan),
                                            UNARY(sinh),
                                            UNARY(cosh),
                                            UNARY(tanh),
                                            UNARY(asinh),
                                            UNARY(acosh),
                                            UNARY(atanh),
                                            UNARY(erf),
                                            UNARY(erfc)};
  return functions;
}

bool equal_or_nan(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("every operation of a graph is the function of cmath that it is named after") {
  const std::vector<double> values{-3.5,
                                   -1.0,
                                   -0.75,
                                   -0.0,
                                   0.0,
                                   0.25,
                                   0.5,
                                   1.0,
                                   1.5,
                                   2.0,
                                   40.0,
                                   1e300,
                                   -1e300,
                                   std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  CHECK(unary_functions().size() == static_cast<std::size_t>(Op::detach) - static_cast<std::size_t>(Op::neg));
  for (const Unary& f : unary_functions())
    for (const double t : values) {
      CAPTURE(static_cast<int>(f.op));
      CAPTURE(t);
      CHECK(equal_or_nan(evaluate(f.op, {t, 7, 8, 9}), f.reference(t)));
    }
  for (const double t : values) CHECK(equal_or_nan(evaluate(Op::constant, {t, 7, 8, 9}), t));
  for (const double a : values)
    for (const double b : values) {
      CAPTURE(a);
      CAPTURE(b);
      CHECK(equal_or_nan(evaluate(Op::add, {a, b, 8, 9}), a + b));
      CHECK(equal_or_nan(evaluate(Op::sub, {a, b, 8, 9}), a - b));
      CHECK(equal_or_nan(evaluate(Op::mul, {a, b, 8, 9}), a * b));
      CHECK(equal_or_nan(evaluate(Op::div, {a, b, 8, 9}), a / b));
      CHECK(equal_or_nan(evaluate(Op::pow, {a, b, 8, 9}), std::pow(a, b)));
      CHECK(evaluate(Op::select_less, {a, b, 8, 9}) == (a < b ? 8 : 9));
      CHECK(evaluate(Op::select_less_equal, {a, b, 8, 9}) == (a <= b ? 8 : 9));
      CHECK(evaluate(Op::select_equal, {a, b, 8, 9}) == (a == b ? 8 : 9));
      CHECK(evaluate(Op::select_greater_equal, {a, b, 8, 9}) == (a >= b ? 8 : 9));
      CHECK(evaluate(Op::select_greater, {a, b, 8, 9}) == (a > b ? 8 : 9));
    }
}

TEST_CASE("operations have the number of arguments that they read") {
  CHECK(arity(Op::constant) == 0);
  CHECK(arity(Op::input) == 0);
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::pow}) CHECK(arity(op) == 2);
  for (const Unary& f : unary_functions()) CHECK(arity(f.op) == 1);
  for (const Op op :
       {Op::select_less, Op::select_less_equal, Op::select_equal, Op::select_greater_equal, Op::select_greater})
    CHECK(arity(op) == 4);
}

TEST_CASE("functions of a symbol become the node of their name, functions of a constant its value") {
  Sheet s;
  for (const Unary& f : unary_functions()) {
    CAPTURE(static_cast<int>(f.op));
    const Symbol symbol = f.symbolic(s.b);
    CHECK(s[symbol].op == f.op);
    CHECK(s[symbol].arguments[0] == s.b.node());
    const int before = s.graph.size();
    for (const double t : {0.25, 1.5}) {
      const Symbol folded = f.symbolic(Symbol(t));
      CHECK(folded.is_constant());
      CHECK(equal_or_nan(folded.value(), f.reference(t)));
    }
    CHECK(s.graph.size() == before);
  }
  CHECK(s[CppAD::pow(s.b, s.a)].op == Op::pow);
  CHECK(s[CppAD::pow(s.b, s.a)].arguments[0] == s.b.node());
  CHECK(s[CppAD::pow(s.b, s.a)].arguments[1] == s.a.node());
  CHECK(CppAD::pow(Symbol(2), Symbol(10)).is(1024));
  CHECK(same(CppAD::fabs(s.a), CppAD::abs(s.a)));
  CHECK(s.value(CppAD::log10(s.a), {1000, 0, 0}) == doctest::Approx(3).epsilon(1e-15));
  CHECK(same(CppAD::azmul(s.a, s.b), s.a * s.b));
}

TEST_CASE("arithmetic of constants is done at once") {
  Sheet s;
  const int before = s.graph.size();
  CHECK((Symbol(7) + Symbol(2.5)).is(9.5));
  CHECK((Symbol(7) - Symbol(2.5)).is(4.5));
  CHECK((Symbol(7) * Symbol(2.5)).is(17.5));
  CHECK((Symbol(7) / Symbol(2)).is(3.5));
  CHECK((-Symbol(7)).is(-7));
  CHECK((+Symbol(7)).is(7));
  CHECK((Symbol(0) - Symbol(7)).is(-7));
  CHECK((Symbol(-1) * Symbol(7)).is(-7));
  Symbol t = 3;
  t += 2;
  t *= 4;
  t -= 6;
  t /= 2;
  CHECK(t.is(7));
  CHECK(Symbol().is(0));
  CHECK(Symbol(true).is(1));
  CHECK_FALSE(t.is(6));
  CHECK_FALSE(s.a.is(0));  // an expression is no constant, whatever it carries
  CHECK(s.graph.size() == before);
}

TEST_CASE("adding zero and multiplying by zero or one vanish, and by minus one is a negation") {
  Sheet s;
  const int before = s.graph.size();
  CHECK(same(s.a + 0.0, s.a));
  CHECK(same(0.0 + s.a, s.a));
  CHECK(same(s.a - 0.0, s.a));
  CHECK(same(s.a * 1.0, s.a));
  CHECK(same(1.0 * s.a, s.a));
  CHECK(same(s.a / 1.0, s.a));
  CHECK((s.a * 0.0).is(0));
  CHECK((0.0 * s.a).is(0));
  CHECK((0.0 / s.a).is(0));
  CHECK(same(+s.a, s.a));
  CHECK(s.graph.size() == before);
  const Symbol minus = -s.a;
  CHECK(s[minus].op == Op::neg);
  CHECK(s[minus].arguments[0] == s.a.node());
  CHECK(same(0.0 - s.a, minus));
  CHECK(same(s.a * -1.0, minus));
  CHECK(same(-1.0 * s.a, minus));
  CHECK(s.graph.size() == before + 1);
}

TEST_CASE("what does not vanish stays: coefficients near those that fold, and the order of differences") {
  Sheet s;
  const std::vector<double> at{3, 5, 0};
  CHECK(s.value(s.a + 1.0, at) == 4);
  CHECK(s.value(s.a - 1.0, at) == 2);
  CHECK(s.value(1.0 - s.a, at) == -2);
  CHECK(s.value(s.a - s.b, at) == -2);
  CHECK(s.value(s.b - s.a, at) == 2);
  CHECK(s.value(s.a * 2.0, at) == 6);
  CHECK(s.value(-2.0 * s.a, at) == -6);
  CHECK(s.value(s.a / s.b, at) == 0.6);
  CHECK(s.value(1.0 / s.b, at) == 0.2);
  CHECK(s.value(s.a / 4.0, at) == 0.75);
  CHECK(s.value(s.a / -1.0, at) == -3);
  CHECK(s.value(s.a / 3.0, at) == doctest::Approx(1).epsilon(1e-15));
  Symbol t = s.a;
  t += s.b;
  t *= s.b;
  t -= s.a;
  t /= s.a;
  CHECK(s.value(t, at) == doctest::Approx((8.0 * 5 - 3) / 3).epsilon(1e-15));
}

TEST_CASE("constant factors are gathered, and a sum of two equal terms is twice the term") {
  Sheet s;
  const std::vector<double> at{3, 5, 0.5};
  CHECK(same(2.0 * (3.0 * s.a), 6.0 * s.a));
  CHECK(same((s.a * 3.0) * 2.0, 6.0 * s.a));
  CHECK(same(0.5 * (2.0 * s.a), s.a));
  CHECK(same(s.a + s.a, 2.0 * s.a));
  CHECK(same((s.a + s.a) / 2.0, s.a));
  CHECK(s.value(s.a + s.a, at) == 6);
  CHECK(s.value(s.a * s.b + s.a * s.b, at) == 30);
  CHECK(s.value(-4.0 * (s.a * s.b), at) == -60);
  CHECK(s.value((s.b * CppAD::sqrt(s.a * s.a)) * 7.0, at) == 105);  // beside an input: to the factor that is computed
  CHECK(s.value(7.0 * (CppAD::abs(s.a) * s.b), at) == 105);
  CHECK(s.value(2.0 * (3.0 * s.b * CppAD::abs(s.a)), at) == 90);
  CHECK(s.value(2.0 * (CppAD::abs(s.c) * CppAD::abs(s.b)), at) == 5);
  CHECK(s.value(2.0 * (s.a - s.b), at) == -4);
}

TEST_CASE("equal expressions are one node") {
  Sheet s;
  CHECK(same(s.a + s.b, s.b + s.a));
  CHECK(same(s.a * s.b, s.b * s.a));
  CHECK_FALSE(same(s.a - s.b, s.b - s.a));
  CHECK_FALSE(same(s.a / s.b, s.b / s.a));
  CHECK_FALSE(same(CppAD::pow(s.a, s.b), CppAD::pow(s.b, s.a)));
  CHECK_FALSE(same(s.a + s.b, s.a * s.b));
  CHECK_FALSE(same(s.a + s.b, s.a + s.c));
  CHECK_FALSE(same(s.a, s.b));
  CHECK_FALSE(same(CppAD::exp(s.a), CppAD::exp(s.b)));
  CHECK_FALSE(same(s.a + 2.0, s.a + 3.0));
  CHECK_FALSE(same(s.a + 2.0, s.a - 2.0));
  const Symbol first = CppAD::exp(s.a * s.b + 2.0) - s.c;
  const int before = s.graph.size();
  const Symbol again = CppAD::exp(2.0 + s.b * s.a) - s.c;
  CHECK(same(first, again));
  CHECK(s.graph.size() == before);
  CHECK(s.graph.input(1) == s.b.node());
  CHECK(s.graph.constant(2) == Symbol(2.0).node());
  CHECK(s.graph.size() == before);
  CHECK(s.graph[s.graph.constant(2)].constant == 2);
  CHECK(s.graph[s.graph.constant(2)].op == Op::constant);
  CHECK(s.graph[s.b.node()].arguments[0] == 1);
}

TEST_CASE("arguments stand before the nodes that read them") {
  Sheet s;
  CppAD::exp(s.a * s.b + 2.0) - CppAD::pow(s.c, Symbol(2.5)) / s.a;
  for (int n = 0; n < s.graph.size(); ++n)
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(s.graph[n].op)); ++k) CHECK(s.graph[n].arguments[k] < n);
}

TEST_CASE("a selection between constants or between equal alternatives is made at once") {
  Sheet s;
  const int before = s.graph.size();
  const Symbol one = 1, two = 2;
  CHECK(same(Symbol::select(Op::select_less, one, two, s.a, s.b), s.a));
  CHECK(same(Symbol::select(Op::select_less, two, two, s.a, s.b), s.b));
  CHECK(same(Symbol::select(Op::select_less_equal, two, two, s.a, s.b), s.a));
  CHECK(same(Symbol::select(Op::select_less_equal, two, one, s.a, s.b), s.b));
  CHECK(same(Symbol::select(Op::select_equal, two, two, s.a, s.b), s.a));
  CHECK(same(Symbol::select(Op::select_equal, one, two, s.a, s.b), s.b));
  CHECK(same(Symbol::select(Op::select_greater_equal, two, two, s.a, s.b), s.a));
  CHECK(same(Symbol::select(Op::select_greater_equal, one, two, s.a, s.b), s.b));
  CHECK(same(Symbol::select(Op::select_greater, two, one, s.a, s.b), s.a));
  CHECK(same(Symbol::select(Op::select_greater, two, two, s.a, s.b), s.b));
  CHECK(same(Symbol::select(Op::select_less, s.a, s.b, s.c, s.c), s.c));
  CHECK(Symbol::select(Op::select_less, s.a, s.b, 5, 5).is(5));
  CHECK(s.graph.size() == before);
}

TEST_CASE("a selection on values keeps its comparison and the order of its four arguments") {
  Sheet s;
  for (const Op op :
       {Op::select_less, Op::select_less_equal, Op::select_equal, Op::select_greater_equal, Op::select_greater}) {
    const Symbol t = Symbol::select(op, s.a, 0.5, s.b, s.c);
    CHECK(s[t].op == op);
    CHECK(s[t].arguments == std::array<int, 4>{s.a.node(), Symbol(0.5).node(), s.b.node(), s.c.node()});
  }
  CHECK_FALSE(same(Symbol::select(Op::select_less, s.a, s.b, 1, 2), Symbol::select(Op::select_less, s.b, s.a, 1, 2)));
  CHECK_FALSE(same(Symbol::select(Op::select_less, s.a, s.b, 1, 2), Symbol::select(Op::select_less, s.a, s.b, 2, 1)));
}

TEST_CASE("conditional expressions of CppAD become selections with the same meaning") {
  Sheet s;
  const auto chosen = [&](CppAD::CompareOp op, double left, double right) {
    const double folded = CppAD::CondExpOp(op, Symbol(left), Symbol(right), Symbol(8), Symbol(9)).value();
    const double selected = s.value(CppAD::CondExpOp(op, s.a, s.b, Symbol(8), s.c), {left, right, 9});
    CHECK(folded == selected);
    return selected;
  };
  for (const double left : {-1.0, 0.0, 2.0})
    for (const double right : {-1.0, 0.0, 2.0}) {
      CAPTURE(left);
      CAPTURE(right);
      CHECK(chosen(CppAD::CompareLt, left, right) == (left < right ? 8 : 9));
      CHECK(chosen(CppAD::CompareLe, left, right) == (left <= right ? 8 : 9));
      CHECK(chosen(CppAD::CompareEq, left, right) == (left == right ? 8 : 9));
      CHECK(chosen(CppAD::CompareGe, left, right) == (left >= right ? 8 : 9));
      CHECK(chosen(CppAD::CompareGt, left, right) == (left > right ? 8 : 9));
      CHECK(chosen(CppAD::CompareNe, left, right) == (left != right ? 8 : 9));
    }
}

TEST_CASE("comparing constants works, comparing anything else is refused with a word about select") {
  Sheet s;
  const Symbol one = 1, two = 2;
  CHECK(one < two);
  CHECK_FALSE(two < one);
  CHECK(one <= one);
  CHECK_FALSE(two <= one);
  CHECK(two > one);
  CHECK_FALSE(one > one);
  CHECK(one >= one);
  CHECK_FALSE(one >= two);
  CHECK(one == one);
  CHECK_FALSE(one == two);
  CHECK(one != two);
  CHECK_FALSE(one != one);
  CHECK(CppAD::GreaterThanZero(one));
  CHECK_FALSE(CppAD::GreaterThanZero(Symbol(0)));
  CHECK(CppAD::GreaterThanOrZero(Symbol(0)));
  CHECK(CppAD::LessThanZero(-one));
  CHECK_FALSE(CppAD::LessThanZero(Symbol(0)));
  CHECK(CppAD::LessThanOrZero(Symbol(0)));

  const auto refused = [](const auto& compare) {
    try {
      compare();
    } catch (const std::invalid_argument& e) {
      const std::string message = e.what();
      return message.find("compares values") != std::string::npos && message.find("write select") != std::string::npos;
    }
    return false;
  };
  CHECK(refused([&] { return s.a < one; }));
  CHECK(refused([&] { return one < s.a; }));
  CHECK(refused([&] { return s.a <= s.b; }));
  CHECK(refused([&] { return s.a > one; }));
  CHECK(refused([&] { return one >= s.a; }));
  CHECK(refused([&] { return s.a == s.a; }));
  CHECK(refused([&] { return s.a != one; }));
  CHECK(refused([&] { return CppAD::GreaterThanZero(s.a); }));
}

TEST_CASE("CppAD tells constants from expressions") {
  Sheet s;
  CHECK(CppAD::IdenticalCon(Symbol(3)));
  CHECK_FALSE(CppAD::IdenticalCon(s.a));
  CHECK(CppAD::IdenticalZero(Symbol(0)));
  CHECK_FALSE(CppAD::IdenticalZero(Symbol(1)));
  CHECK_FALSE(CppAD::IdenticalZero(s.a));
  CHECK(CppAD::IdenticalOne(Symbol(1)));
  CHECK_FALSE(CppAD::IdenticalOne(Symbol(0)));
  CHECK_FALSE(CppAD::IdenticalOne(s.a));
  CHECK(CppAD::IdenticalEqualCon(Symbol(2), Symbol(2)));
  CHECK_FALSE(CppAD::IdenticalEqualCon(Symbol(2), Symbol(3)));
  CHECK_FALSE(CppAD::IdenticalEqualCon(s.a, s.a));
  CHECK(CppAD::EqualOpSeq(s.a, s.a));
  CHECK_FALSE(CppAD::EqualOpSeq(s.a, s.b));
  CHECK_FALSE(CppAD::EqualOpSeq(s.a, Symbol(0)));
  CHECK(CppAD::Integer(Symbol(3.9)) == 3);
  CHECK(CppAD::isnan(Symbol(std::nan(""))));
  CHECK_FALSE(CppAD::isnan(Symbol(1)));
  CHECK(CppAD::hash_code(Symbol(2.5)) == CppAD::hash_code(Symbol(2.5)));
  CHECK(CppAD::numeric_limits<Symbol>::epsilon().is(std::numeric_limits<double>::epsilon()));
  CHECK(CppAD::numeric_limits<Symbol>::max().is(std::numeric_limits<double>::max()));
  std::ostringstream out;
  out << Symbol(2.5) << ", " << s.b;
  CHECK(out.str() == "2.5, node 1");
  CHECK(CppAD::to_string(s.a) == "symbol");
}

TEST_CASE("each thread, and each graph, has its symbols for itself") {
  Sheet outer;
  const Symbol sum = outer.a + outer.b;
  {
    Sheet inner;
    CHECK(inner.graph.size() == 3);
    (void)(inner.a * inner.b);
    CHECK(inner.graph.size() == 4);
  }
  CHECK(outer.graph.size() == 4);
  CHECK(same(sum, outer.a + outer.b));
}
