#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/simd/instruction_set.hpp"

namespace hypertape {

/// Expressions of a graph as a list of instructions, run on a pack of rows at a time. It holds no state: any number of
/// threads may run it, each with its own scratch.
class RowProgram {
 public:
  RowProgram() = default;

  /// Computes `outputs` from `inputs`, both nodes of `graph`. Every path from an output ends in an input of the list or
  /// in a constant.
  RowProgram(const Graph& graph, const std::vector<int>& inputs, const std::vector<int>& outputs);

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  int instructions() const { return static_cast<int>(code_.size()); }

  /// The memory that one thread needs for running the program.
  class Scratch {
   public:
    Scratch() = default;
    explicit Scratch(const RowProgram& program);

    /// Where a pack of each input is read, and of each output written. Set before run.
    const double** inputs() { return table_.data(); }
    double** outputs() { return outputs_.data(); }

   private:
    friend class RowProgram;
    std::vector<const double*> table_;
    std::vector<double*> outputs_;
    std::unique_ptr<Pack[]> packs_;
  };

  void run(const Kernels& kernels, Scratch& scratch) const {
    kernels.run(code_.data(), code_.size(), scratch.table_.data(), scratch.outputs_.data());
  }

 private:
  int inputs_ = 0, outputs_ = 0, temporaries_ = 0;
  std::vector<double> constants_;
  std::vector<Instruction> code_;
};

}  // namespace hypertape
