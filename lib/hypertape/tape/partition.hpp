#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "hypertape/tape/recording.hpp"

namespace hypertape {

/// What a leaf of a row is: an input, or a value computed before that depends on x, on y, or on both.
enum class LeafKind : int { x, y, inner_x, inner_y, inner_both };
constexpr bool depends_on_x(LeafKind kind) { return kind != LeafKind::y && kind != LeafKind::inner_y; }
constexpr bool depends_on_y(LeafKind kind) { return kind != LeafKind::x && kind != LeafKind::inner_x; }

/// The expression of one row: nodes in order, then the signed sum of some of them, which is the row's value. An operand
/// is a node of the row, or one of the codes below: the next constant, or the next leaf of that kind. Every occurrence
/// of a leaf is one of its own, as which of them are equal is seen for all rows together.
struct RowShape {
  static constexpr int constant = -1;
  static constexpr int first_leaf = -2;  // first_leaf - kind
  static constexpr int code(LeafKind kind) { return first_leaf - static_cast<int>(kind); }
  static constexpr LeafKind kind(int code) { return static_cast<LeafKind>(first_leaf - code); }

  struct Result {
    int operand;
    int sign;
  };
  std::vector<int> nodes;  ///< of each node: its Op, then its operands
  std::vector<Result> results;
};

/// Rows of one shape. Their values are added to a sum, or are values of their own.
struct RowGroup {
  RowShape shape;
  int rows = 0;
  bool adds = false;  ///< to a sum
  int target = 0;     ///< the slot of that sum, or of the first row's value; the others follow

  struct Leaf {
    LeafKind kind;
    std::vector<int> slots;  ///< one for each row
  };
  std::vector<Leaf> leaves;                    ///< by occurrence
  std::vector<std::vector<double>> constants;  ///< likewise, one for each row

  bool depends_on_x = false, depends_on_y = false;  ///< what they are added to, or their own values
};

/// An operation that is not part of any row: slots, or, if it accumulates, target += or -= the second operand.
struct LooseOperation {
  Op op;
  bool accumulates = false;
  bool depends_on_x = false, depends_on_y = false;
  int target = 0;
  std::array<int, 4> operands{};
};

/// A recorded function cut into rows. Sums of many addends are opened; what only one addend or value needs is its cone;
/// cones of one shape are the rows of a group. Where several addends of a sum hang together through shared values and
/// such clusters repeat (a sample with several outputs), a cluster is a row.
///
/// Values have slots: first x and y, then what is computed; constants of loose operations have the last ones.
struct Partition {
  int inputs_x = 0, inputs = 0, slots = 0;
  int result = 0;  ///< a slot

  std::vector<RowGroup> groups;
  std::vector<LooseOperation> loose;

  /// What is run after the other; group < 0: loose operations [begin, end).
  struct Step {
    int group, begin, end;
  };
  std::vector<Step> steps;

  std::vector<std::pair<int, double>> constants;  ///< slots, and the numbers in them
  struct Sum {
    int slot;
    bool depends_on_y;
    double bias;  ///< what its constant addends come to
  };
  std::vector<Sum> sums;

  std::size_t operations = 0;          ///< that the result depends on
  std::size_t operations_in_rows = 0;  ///< of these, additions of the sums included
};

Partition partition(const Recording& recording);

}  // namespace hypertape
