#include "hypertape/tape/loose_operations.hpp"

#include "hypertape/tape/local_derivatives.hpp"

namespace hypertape {
namespace {

/// Zero where a factor that changes is zero, whatever the derivative is there.
double times(double factor, double derivative) { return factor == 0 ? 0 : factor * derivative; }

bool is_select(Op op) { return op >= Op::select_less; }

/// The operand that a select takes.
int selected(const LooseOperation& o, const double* values) {
  const auto& [left, right, if_true, if_false] = o.operands;
  return evaluate(o.op, {values[left], values[right], 1, 0}) == 1 ? if_true : if_false;
}

LocalDerivatives derivatives(const LooseOperation& o, const double* values) {
  return local_derivatives(o.op, values[o.operands[0]], values[o.operands[1]], values[o.target]);
}

}  // namespace

void run_forward(std::span<const LooseOperation> operations, double* values, bool all) {
  for (const LooseOperation& o : operations) {
    if (!all && !o.depends_on_y) continue;
    const auto& [a, b, c, d] = o.operands;
    values[o.target] = evaluate(o.op, {values[a], values[b], values[c], values[d]});
  }
}

void run_reverse(std::span<const LooseOperation> operations, const double* values, double* adjoints) {
  for (auto next = operations.rbegin(); next != operations.rend(); ++next) {
    const LooseOperation& o = *next;
    const double adjoint = adjoints[o.target];
    if (adjoint == 0) continue;
    if (o.accumulates) {
      adjoints[o.operands[1]] += o.op == Op::add ? adjoint : -adjoint;
    } else if (is_select(o.op)) {
      adjoints[selected(o, values)] += adjoint;
    } else {
      const LocalDerivatives d = derivatives(o, values);
      adjoints[o.operands[0]] += adjoint * d.a;
      if (arity(o.op) > 1) adjoints[o.operands[1]] += adjoint * d.b;
    }
  }
}

void run_tangents(std::span<const LooseOperation> operations, const double* values, double* tangents) {
  for (const LooseOperation& o : operations) {
    const double a = tangents[o.operands[0]], b = tangents[o.operands[1]];
    if (o.accumulates) {
      tangents[o.target] += o.op == Op::add ? b : -b;
    } else if (is_select(o.op)) {
      tangents[o.target] = tangents[selected(o, values)];
    } else {
      const LocalDerivatives d = derivatives(o, values);
      tangents[o.target] = times(a, d.a) + (arity(o.op) > 1 ? times(b, d.b) : 0);
    }
  }
}

void run_second_reverse(std::span<const LooseOperation> operations, const double* values, const double* adjoints,
                        const double* tangents, double* adjoint_tangents) {
  for (auto next = operations.rbegin(); next != operations.rend(); ++next) {
    const LooseOperation& o = *next;
    const double adjoint = adjoints[o.target], change = adjoint_tangents[o.target];
    if (adjoint == 0 && change == 0) continue;
    if (o.accumulates) {
      adjoint_tangents[o.operands[1]] += o.op == Op::add ? change : -change;
    } else if (is_select(o.op)) {
      adjoint_tangents[selected(o, values)] += change;
    } else {
      const LocalDerivatives d = derivatives(o, values);
      const bool two = arity(o.op) > 1;
      const double a = tangents[o.operands[0]], b = two ? tangents[o.operands[1]] : 0;
      adjoint_tangents[o.operands[0]] += times(change, d.a) + times(adjoint, times(a, d.aa) + times(b, d.ab));
      if (two) adjoint_tangents[o.operands[1]] += times(change, d.b) + times(adjoint, times(a, d.ab) + times(b, d.bb));
    }
  }
}

}  // namespace hypertape
