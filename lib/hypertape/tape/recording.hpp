#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hypertape/core/types.hpp"
#include "hypertape/simd/op.hpp"

namespace hypertape {

/// What a function of (x, y) computed in one run, operation by operation. Arguments stand before their node. Nothing is
/// merged or simplified, so that rows of the same make still look alike: y_i y_j beside y_j y_i, 1 t beside 0.5 t. Only
/// operations between constants are done at once, and 0 + t is t, because sums begin with it.
///
/// Memory: 9 bytes for an operation, 8 for a constant; a select takes 16 more.
struct Recording {
  /// A node, or, if negative, constant ~operand.
  using Operand = std::int32_t;

  Dims dims;
  Vec x, y;  ///< the point where it was recorded

  // Nodes. The first dims.x + dims.y are the inputs, x before y. Functions of one argument have no `second`; of a
  // select, `first` is its place in `selects`.
  std::vector<Op> ops;
  std::vector<Operand> first, second;
  std::vector<std::array<Operand, 4>> selects;

  std::vector<double> constants;

  Operand result = -1;

  /// The comparisons of values that were decided while recording (`if`, `?:`, std::max): each is a node, which is 1
  /// where it would be decided otherwise, 0 elsewhere, and not a number nowhere.
  std::vector<Operand> comparisons;

  int size() const { return static_cast<int>(ops.size()); }
  int inputs() const { return static_cast<int>(dims.x + dims.y); }
  bool is_input(int node) const { return ops[static_cast<std::size_t>(node)] == Op::input; }

  Operand argument(int node, int k) const {
    const auto n = static_cast<std::size_t>(node);
    if (ops[n] >= Op::select_less) return selects[static_cast<std::size_t>(first[n])][static_cast<std::size_t>(k)];
    return k == 0 ? first[n] : second[n];
  }
  double constant(Operand operand) const { return constants[static_cast<std::size_t>(~operand)]; }

  std::size_t bytes() const;

  // For those who record.
  Operand add_input();
  Operand add_constant(double value);
  Operand add(Op op, const std::array<Operand, 4>& arguments);
};

/// Values of all nodes at a point, one after the other: the plain way, for checks.
std::vector<double> evaluate(const Recording& recording, const Vec& x, const Vec& y);

}  // namespace hypertape
