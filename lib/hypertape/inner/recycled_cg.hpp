#pragma once

#include <limits>
#include <vector>

#include "hypertape/core/status.hpp"
#include "hypertape/inner/limited_memory.hpp"
#include "hypertape/oracle/linear_operator.hpp"

namespace hypertape {

/// Conjugate gradients for one system after another whose matrices differ little, each preconditioned by directions of
/// those before (maths.md (8), (25)): of A p and p, which every iteration computes anyway, some are kept and make an
/// L-BFGS approximation of A^-1. Where there is room for as many pairs as A has dimensions, later systems take a few
/// products; that a solve ends early is told by estimates of the error in the energy norm, |e|^2 = e'A e. The first
/// solve, and all where there is no room, are preconditioned by the diagonal of A instead, if A has one.
class RecycledCg {
 public:
  /// Keeps at most `most` directions; 0: plain conjugate gradients.
  explicit RecycledCg(Index most) : memory_{LimitedMemory(most)} {}

  /// Begins A q = b at the given q. Costs one product unless q = 0, and one for the diagonal where that is used.
  void start(LinearOperator& A, const Vec& b, const Vec& q);

  /// Goes on until the estimated energy error of q is at most `energy`, or for so many more iterations. False if A q is
  /// not finite (status) or A not positive definite; q is then the last iterate.
  bool improve(LinearOperator& A, Vec& q, double energy, int max_iterations);

  /// The estimated energy error at the last iterate: what the last iterations took away, at least two and a quarter of
  /// all (Hestenes and Stiefel); before there are two, about |r| in the norm of the approximate inverse.
  double energy_error() const;

  /// |r| in the norm of the approximate inverse of A, about the energy norm of A^-1 r.
  double energy_of(const Vec& r);

  /// The residual b - A q at the last iterate, and whether it is as small as rounding allows.
  const Vec& residual() const { return r_; }
  bool exhausted() const { return rz_ == 0; }

  /// What solves so far learned; to be put back where solves in between were of matrices far away.
  struct Memory {
    LimitedMemory inverse{0};
    /// Energy norm of A^-1 r over |r|, in the solve before; over |D^-1/2 r| where D, the diagonal, was used.
    double scale = std::numeric_limits<double>::infinity();
  };
  const Memory& memory();
  void set_memory(const Memory& memory);
  void forget() { set_memory({LimitedMemory(memory_.inverse.most())}); }

  int iterations() const { return k_; }

  /// Products with A in all solves so far.
  long products() const { return products_; }
  Status status() const { return status_; }

 private:
  /// Directions of the solve before become part of the approximate inverse.
  void recycle();

  void find_diagonal(LinearOperator& A);
  double scaled_norm(const Vec& r) const;  // |r|, or |D^-1/2 r|

  /// z = (about A^-1) r, r'z.
  void precondition();

  Memory memory_;
  struct Direction {
    Vec p, Ap;
  };
  std::vector<Direction> fresh_;  // of the current solve; the first fresh_count_ are
  std::size_t fresh_count_ = 0;
  Vec r_, z_, p_, Ap_;
  Vec diagonal_;  // D; empty where it is not used
  double rz_ = 0, rounding_ = 0;
  double first_ = 0;  // that of the residual where the solve began
  std::vector<double> gains_;
  int k_ = 0;
  long products_ = 0;
  Status status_ = Status::converged;
};

}  // namespace hypertape
