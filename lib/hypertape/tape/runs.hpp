#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/simd/instruction_set.hpp"
#include "hypertape/tape/recording.hpp"
#include "hypertape/tape/tape_options.hpp"

namespace hypertape {

/// A recorded function without rows, for any point: value, gradient, Hessian products. z stands for y or for (x, y), by
/// `independent`.
///
/// CppAD's sweeps on symbols write all derivatives as one graph. Each of its operations is computed in one of five
/// stages, by what it changes with and what needs it first, so that nothing is computed twice: at a point a product
/// takes the operations on its direction and no others. A stage is a list of runs: of all operations that are ready
/// those of the commonest kind come first, together. So a kind is looked up once for many operations, their results lie
/// next to each other, and functions are computed in registers.
///
/// Cost, in evaluations of the function compiled: a gradient 2, a product 2.5 for a random graph of 20,000 operations;
/// 11 and 13 for 200 Runge-Kutta steps, where each operation waits for the one before and runs are of length one.
/// Preparation: about a microsecond for each recorded operation.
///
/// It has no state: points have memories of their own, and any number of threads may use it, each with its own.
class Runs {
 public:
  Runs(const Recording& recording, Independent independent);

  /// A point, and what was computed there. Made by `memory()`.
  class Memory {
   public:
    /// How many comparisons (Recording::comparisons) would be decided otherwise at the point than while recording.
    int changed_comparisons() const { return changed_comparisons_; }

   private:
    friend class Runs;
    std::vector<double> numbers_;  // by place
    int stages_ = 0;               // that are computed for the point
    int changed_comparisons_ = 0;
  };
  Memory memory() const;

  double value(const Kernels& kernels, Memory& memory, const Vec& x, const Vec& y) const;

  /// The value; the gradient over z lands in gradient_x (unless it is null) and gradient_y.
  double gradient(const Kernels& kernels, Memory& memory, const Vec& x, const Vec& y, Vec* gradient_x,
                  Vec& gradient_y) const;

  /// The Hessian over z at the point of the memory times (p, q); null stands for zeros, and for a part of the product
  /// that is not wanted. The first product at a point computes what all others there share.
  void hessian_product(const Kernels& kernels, Memory& memory, const Vec* p, const Vec* q, Vec* out_x,
                       Vec* out_y) const;

  /// Operations of all stages.
  std::size_t operations() const;
  std::size_t bytes() const;

 private:
  /// What x alone decides, the value, the gradient, what products at one point share, and products.
  enum Stage : int { given_x, primal, adjoint, linearisation, product, stages };
  class Compiler;

  struct Program {
    std::vector<ScalarRun> runs;
    std::vector<int> operands;
    int first = 0;  ///< place of the first result
  };

  void move_to(const Kernels& kernels, Memory& memory, const Vec& x, const Vec& y) const;
  void compute(const Kernels& kernels, Memory& memory, int end) const;
  void run(const Kernels& kernels, Memory& memory, Stage stage) const;

  Dims dims_;
  Independent independent_;

  // Places: x, y, directions by them, constants, then results, stage by stage.
  std::array<Program, stages> programs_;
  std::vector<double> initial_;  // zeros and constants
  int places_ = 0;

  int value_ = 0;  // places of results
  std::vector<int> comparisons_;
  std::vector<int> gradient_, product_;  // by component of z
};

}  // namespace hypertape
