#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "hypertape/autodiff/row_program.hpp"
#include "hypertape/autodiff/tape_slot.hpp"
#include "hypertape/autodiff/vec_t.hpp"

namespace hypertape {

/// Which arguments of a row function: a (seen through y), b (seen through x), d (constants of the row).
struct RowWidths {
  int a = 0;
  int b = 0;
  int d = 0;
};

/// The parts of a derivative, or of a direction, that are wanted.
struct RowParts {
  bool value = false;
  bool a = false;
  bool b = false;
};

/// The same, component by component. Empty: none of them.
struct RowSelection {
  bool value = false;
  std::vector<char> a, b;
};

/// How rows stand where they were found rather than given: which components of a and b are one number for all rows, and
/// what becomes of the value and of derivatives by each component.
struct RowUse {
  std::vector<char> uniform_a, uniform_b;
  std::vector<RowResult> result_a, result_b;
  RowResult result_value = RowResult::sum;
};

/// A number that a program reads for each row.
struct RowSource {
  enum class Kind { d, b, a, direction_b, direction_a, stored };
  Kind kind;
  int index;
  auto operator<=>(const RowSource&) const = default;
};
inline constexpr RowSource value_source{RowSource::Kind::d, -1};

/// A derivative in two steps: `prepare` computes what does not change while later arguments do, and stores it for each
/// row; `run` computes the rest.
struct StagedProgram {
  RowProgram prepare, run;
  std::vector<RowSource> prepare_sources, run_sources;  ///< what each input is
  std::vector<RowSource> outputs;                       ///< derivatives by a or b; the value is `value_source`
  int stored = 0;                                       ///< numbers kept for each row: outputs of `prepare`
  bool is_zero = true;                                  ///< every output is zero for every row: nothing to run
};

/// What stays the same from one run to the next: nothing, or b and d (x is fixed: the inner loop), or a too (the point
/// is fixed: products with a linearised Hessian).
enum class Fixed { nothing, b, a_and_b };

/// One row function phi(a, b; d) and its derivatives. The function is taped once, by CppAD, on symbols; sweeps over
/// that tape write the derivatives as expressions, which become programs.
class RowKernel {
 public:
  using Scalar = CppAD::AD<Symbol>;
  using Recorded = std::function<Scalar(const VecT<Scalar>& a, const VecT<Scalar>& b, const VecT<Scalar>& d)>;

  /// `weight` multiplies the function. With a `use`, values are without it, derivatives that are zero have no output;
  /// at a fixed point a and b are read again, as they stand anyway; and what is one number for all rows is not stored
  /// for each.
  RowKernel(const Recorded& phi, RowWidths widths, double weight, std::optional<RowUse> use = {});
  ~RowKernel();
  RowKernel(const RowKernel&) = delete;
  RowKernel& operator=(const RowKernel&) = delete;

  const RowWidths& widths() const { return widths_; }

  /// The wanted of: weight * phi, its gradient in a, its gradient in b; outputs in this order.
  StagedProgram gradient_by(const RowSelection& wanted, Fixed fixed);
  StagedProgram gradient(RowParts wanted, Fixed fixed) { return gradient_by(all_of(wanted), fixed); }

  /// The wanted parts (a, b) of Hess(weight * phi) times a direction that has the given parts.
  StagedProgram hessian_product_by(const RowSelection& direction, const RowSelection& wanted, Fixed fixed);
  StagedProgram hessian_product(RowParts direction, RowParts wanted, Fixed fixed) {
    return hessian_product_by(all_of(direction), all_of(wanted), fixed);
  }

  /// The second derivatives d2(weight * phi)/da_k^2, one for each component of a.
  StagedProgram hessian_diagonal(Fixed fixed);

 private:
  struct Output {
    RowSource source;
    Symbol symbol;
  };

  RowSelection all_of(RowParts parts) const;
  Symbol input(RowSource source);
  bool is_uniform(RowSource source) const;
  RowResult result_of(RowSource source) const;
  std::vector<Output> product_by_tangent(const RowSelection& direction, const RowSelection& wanted);
  std::vector<Output> product_by_entries(const RowSelection& direction, const RowSelection& wanted);
  StagedProgram stage(std::vector<Output> outputs, Fixed fixed);

  RowWidths widths_;
  double weight_;
  std::optional<RowUse> use_;
  Graph graph_;
  std::vector<RowSource> sources_;  // of the inputs of the graph
  std::map<RowSource, int> numbers_;

  TapeSlot slot_;
  struct Taped {
    CppAD::ADFun<Symbol> function;
    CppAD::vector<Symbol> point;
  };
  std::optional<Taped> tape_;  // lives and dies inside the slot
};

}  // namespace hypertape
