#pragma once

#include <memory>
#include <vector>

#include "hypertape/core/types.hpp"

namespace hypertape {

/// An approximation of the inverse of a symmetric positive definite matrix A from pairs (s, A s), the last so many of
/// them: the L-BFGS matrix. Of secant pairs (x' - x, grad' - grad) it is the inverse Hessian of quasi-Newton methods;
/// of the directions and products of conjugate gradients it preconditions the next system with a matrix like A. Copies
/// share their pairs.
class LimitedMemory {
 public:
  /// Keeps `most` pairs; with 0 it stays empty.
  explicit LimitedMemory(Index most) : most_(most) {}

  bool empty() const { return pairs_.empty(); }
  Index most() const { return most_; }

  /// Takes a pair, in place of the oldest if there is no room. False, and nothing taken, where s'As is not clearly
  /// positive: then A is not positive definite, or rounding is all there is.
  bool add(const Vec& s, const Vec& As);

  void clear();

  /// out = (about A^-1) b; out = b if there is no pair. b and out must be different vectors.
  void apply(const Vec& b, Vec& out);

  /// The same with 1 / diagonal in place of the identity where pairs say nothing, if it is not empty: then out =
  /// b / diagonal if there is no pair.
  void apply(const Vec& b, const Vec& diagonal, Vec& out);

 private:
  struct Pair {
    Vec s, As;  // scaled so that s'As = 1
  };
  std::size_t newest(std::size_t age) const { return (next_ + pairs_.size() - 1 - age) % pairs_.size(); }

  Index most_;
  std::vector<std::shared_ptr<Pair>> pairs_;  // not changed while others have them
  std::size_t next_ = 0;                      // where the next pair goes once all places are taken
  std::vector<double> coefficients_;
};

}  // namespace hypertape
