#pragma once

#include <functional>
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

/// A number that a program reads for each row.
struct RowSource {
  enum class Kind { d, b, a, direction_b, direction_a, stored };
  Kind kind;
  int index;
  bool operator==(const RowSource&) const = default;
};

/// A derivative in two steps: `prepare` computes what does not change while later arguments do, and stores it for each
/// row; `run` computes the rest.
struct StagedProgram {
  RowProgram prepare, run;
  std::vector<RowSource> prepare_sources, run_sources;  ///< what each input is
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

  /// `weight` multiplies the function.
  RowKernel(const Recorded& phi, RowWidths widths, double weight);
  ~RowKernel();
  RowKernel(const RowKernel&) = delete;
  RowKernel& operator=(const RowKernel&) = delete;

  const RowWidths& widths() const { return widths_; }

  /// The wanted of: weight * phi, its gradient in a, its gradient in b; outputs in this order.
  StagedProgram gradient(RowParts wanted, Fixed fixed);

  /// The wanted parts (a, b) of Hess(weight * phi) times a direction that has the given parts.
  StagedProgram hessian_product(RowParts direction, RowParts wanted, Fixed fixed);

  /// The second derivatives d2(weight * phi)/da_k^2, one for each component of a.
  StagedProgram hessian_diagonal(Fixed fixed);

 private:
  StagedProgram stage(const std::vector<Symbol>& outputs, Fixed fixed);
  std::vector<Symbol> inputs(RowSource::Kind kind, int count);

  RowWidths widths_;
  double weight_;
  Graph graph_;
  std::vector<RowSource> sources_;  // of the inputs of the graph

  TapeSlot slot_;
  struct Taped {
    CppAD::ADFun<Symbol> function;
    CppAD::vector<Symbol> point;
  };
  std::optional<Taped> tape_;  // lives and dies inside the slot
};

}  // namespace hypertape
