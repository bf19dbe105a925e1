#include "hypertape/tape/recording.hpp"

#include <limits>
#include <stdexcept>

namespace hypertape {

std::size_t Recording::bytes() const {
  return ops.capacity() * sizeof(Op) +
         (first.capacity() + second.capacity() + comparisons.capacity()) * sizeof(Operand) +
         selects.capacity() * sizeof(selects[0]) + constants.capacity() * sizeof(double);
}

Recording::Operand Recording::add_input() { return add(Op::input, {static_cast<Operand>(size()), 0, 0, 0}); }

Recording::Operand Recording::add_constant(double value) {
  constants.push_back(value);
  return ~static_cast<Operand>(constants.size() - 1);
}

Recording::Operand Recording::add(Op op, const std::array<Operand, 4>& arguments) {
  if (ops.size() >= std::numeric_limits<Operand>::max() - std::size_t{1})
    throw std::length_error("a function of more than 2^31 operations cannot be recorded");
  ops.push_back(op);
  if (op >= Op::select_less) {
    first.push_back(static_cast<Operand>(selects.size()));
    second.push_back(0);
    selects.push_back(arguments);
  } else {
    first.push_back(arguments[0]);
    second.push_back(arguments[1]);
  }
  return static_cast<Operand>(size() - 1);
}

std::vector<double> evaluate(const Recording& recording, const Vec& x, const Vec& y) {
  std::vector<double> values(static_cast<std::size_t>(recording.size()));
  for (int n = 0; n < recording.size(); ++n) {
    const Op op = recording.ops[static_cast<std::size_t>(n)];
    double& value = values[static_cast<std::size_t>(n)];
    if (op == Op::input) {
      value = n < recording.dims.x ? x[n] : y[n - recording.dims.x];
      continue;
    }
    std::array<double, 4> arguments{};
    for (int k = 0; k < arity(op); ++k) {
      const Recording::Operand operand = recording.argument(n, k);
      arguments[static_cast<std::size_t>(k)] =
          operand < 0 ? recording.constant(operand) : values[static_cast<std::size_t>(operand)];
    }
    value = hypertape::evaluate(op, arguments);
  }
  return values;
}

}  // namespace hypertape
