#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/simd/instruction_set.hpp"

namespace hypertape {

/// What becomes of an output: it is written as a pack; its rows are stored, or added to what stands there; or their sum
/// is added to one number.
enum class RowResult : std::uint8_t { pack, store, accumulate, sum };

/// Inputs that are one number, the same for all rows, and what becomes of outputs. Empty: none, and packs.
struct RowLayout {
  std::vector<char> uniform;
  std::vector<RowResult> results;
};

/// Expressions of a graph as a list of instructions, run on a pack of rows at a time. It holds no state: any number of
/// threads may run it, each with its own scratch.
class RowProgram {
 public:
  RowProgram() = default;

  /// Computes `outputs` from `inputs`, both nodes of `graph`. Every path from an output ends in an input of the list or
  /// in a constant.
  RowProgram(const Graph& graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
             const RowLayout& layout = {});

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  int instructions() const { return static_cast<int>(code_.size()); }

  /// Packs that it works with beside its inputs and outputs.
  int temporaries() const { return temporaries_; }

  std::size_t bytes() const { return code_.capacity() * sizeof(Instruction) + constants_.capacity() * sizeof(double); }

  /// The memory that one thread needs for running the program, on packs of up to `lanes` rows.
  class Scratch {
   public:
    Scratch() = default;
    explicit Scratch(const RowProgram& program, int lanes = pack_lanes);

    /// Where a pack of each input is read (or its number, if it is uniform), and of each output written. Set before
    /// run.
    const double** inputs() { return table_.data(); }
    double** outputs() { return outputs_.data(); }

   private:
    friend class RowProgram;
    std::vector<const double*> table_;
    std::vector<double*> outputs_;
    std::vector<double> numbers_;
    std::unique_ptr<Pack[]> packs_;
  };

  /// For outputs that are all packs, of pack_lanes rows.
  void run(const Kernels& kernels, Scratch& scratch) const {
    kernels.run(code_.data(), code_.size(), scratch.table_.data(), scratch.outputs_.data());
  }

  /// Computes what depends on uniform inputs alone: before the first pack, when they are set.
  void begin(Scratch& scratch) const;
  void run_rows(const Kernels& kernels, const Scratch& scratch, const RowOutput* outputs, Index rows) const {
    kernels.run_rows(code_.data(), code_.size(), scratch.table_.data(), outputs, rows);
  }

 private:
  class Compiler;

  /// A number made of other numbers, by their places among `numbers`.
  struct NumberStep {
    Op op;
    int target;
    std::array<int, 4> arguments;
  };

  // Slots are inputs, constants as packs, numbers (copies of uniform inputs, constants, what is made of them), and
  // temporaries.
  int inputs_ = 0, outputs_ = 0, temporaries_ = 0, numbers_ = 0;
  std::vector<double> constants_;                      // those that stand as packs
  std::vector<std::pair<int, double>> number_values_;  // constants among the numbers
  std::vector<std::pair<int, int>> number_inputs_;     // number, input
  std::vector<NumberStep> number_steps_;
  std::vector<Instruction> code_;
};

}  // namespace hypertape
