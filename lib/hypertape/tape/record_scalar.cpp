#include "hypertape/tape/record_scalar.hpp"

#include <algorithm>
#include <utility>

namespace hypertape {
namespace {

thread_local Recording* recording = nullptr;
thread_local TapeTally* tally = nullptr;

/// How many variables CppAD keeps for an operation.
int results_of(Op op) {
  switch (op) {
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
      return 2;
    case Op::pow:
      return 3;
    case Op::erf:
    case Op::erfc:
      return 5;
    default:
      return 1;
  }
}

int arguments_of(Op op) {
  if (op == Op::detach) return 2;
  return op >= Op::select_less ? 6 : arity(op);
}

Op select_op(Comparison comparison) {
  switch (comparison) {
    case Comparison::less:
      return Op::select_less;
    case Comparison::less_equal:
      return Op::select_less_equal;
    case Comparison::equal:
      return Op::select_equal;
    case Comparison::greater_equal:
      return Op::select_greater_equal;
    default:
      return Op::select_greater;
  }
}

/// CppAD's own rules for constants next to a variable: no operation for + 0, * 1 and the like, none where the result
/// is zero. Next to a dynamic parameter it has none.
bool folds(Op op, const RecordScalar& a, const RecordScalar& b) {
  const auto is = [](const RecordScalar& s, double value) { return s.is_constant() && s.value() == value; };
  const auto is_variable = [](const RecordScalar& s) { return s.node() == RecordScalar::variable; };
  switch (op) {
    case Op::add:
      return (is_variable(a) && is(b, 0)) || (is_variable(b) && is(a, 0));
    case Op::sub:
      return is_variable(a) && is(b, 0);
    case Op::mul:
      return (is_variable(a) && (is(b, 0) || is(b, 1))) || (is_variable(b) && (is(a, 0) || is(a, 1)));
    case Op::div:
      return (is_variable(b) && is(a, 0)) || (is_variable(a) && is(b, 1));
    default:
      return false;
  }
}

}  // namespace

RecordScalar::Into::Into(Recording* into_recording, TapeTally* into_tally)
    : outer_recording_(std::exchange(recording, into_recording)), outer_tally_(std::exchange(tally, into_tally)) {}

RecordScalar::Into::~Into() {
  recording = outer_recording_;
  tally = outer_tally_;
}

std::int32_t RecordScalar::put(Op op, const RecordScalar& a, const RecordScalar& b, const RecordScalar& c,
                               const RecordScalar& d) {
  if (recording != nullptr) {
    std::array<Recording::Operand, 4> arguments{};
    const std::array given{&a, &b, &c, &d};
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(op)); ++k)
      arguments[k] = given[k]->is_constant() ? recording->add_constant(given[k]->value_) : given[k]->node_;
    return recording->add(op, arguments);
  }
  const std::int32_t kind = std::max({a.node_, b.node_, c.node_, d.node_});
  if (folds(op, a, b)) {
    const bool vanishes = (op == Op::mul && (a.is_zero() || b.is_zero())) || (op == Op::div && a.is_zero());
    return vanishes ? constant : kind;
  }
  if (tally != nullptr && kind == variable) {
    ++tally->operations;
    tally->arguments += static_cast<std::size_t>(arguments_of(op));
    tally->variables += static_cast<std::size_t>(results_of(op));
  } else if (tally != nullptr) {
    ++tally->parameters;
  }
  return kind;
}

void RecordScalar::put_comparison(Op op, const RecordScalar& a, const RecordScalar& b, bool outcome) {
  if (recording != nullptr) {
    recording->comparisons.push_back(put(op, a, b, outcome ? 0.0 : 1.0, outcome ? 1.0 : 0.0));
  } else if (tally != nullptr) {  // on the tape even between parameters
    ++tally->operations;
    tally->arguments += 2;
  }
}

RecordScalar select_scalar(const Condition<RecordScalar>& c, const RecordScalar& if_true,
                           const RecordScalar& if_false) {
  const RecordScalar& selected = decided(c.comparison, c.left.value_, c.right.value_) ? if_true : if_false;
  if (c.left.is_constant() && c.right.is_constant()) return selected;
  return {selected.value_, RecordScalar::put(select_op(c.comparison), c.left, c.right, if_true, if_false)};
}

// As CppAD makes it of atan and selects: each quadrant from the first, where both arguments are positive.
RecordScalar atan2(const RecordScalar& y, const RecordScalar& x) {
  if (y.is_constant() && x.is_constant()) return std::atan2(y.value_, x.value_);
  const double pi = std::acos(-1.0);
  const RecordScalar abs_x = select(greater_equal(x, 0.0), x, -x), abs_y = select(greater_equal(y, 0.0), y, -y);
  const RecordScalar first = select(greater(abs_x, abs_y), atan(abs_y / abs_x), pi / 2 - atan(abs_x / abs_y));
  const RecordScalar right = select(greater_equal(y, 0.0), first, -first);
  const RecordScalar left = select(greater_equal(y, 0.0), pi - first, first - pi);
  return select(greater_equal(x, 0.0), right, left);
}

}  // namespace hypertape
