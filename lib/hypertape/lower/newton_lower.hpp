#pragma once

#include <limits>
#include <optional>
#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/inner/recycled_cg.hpp"
#include "hypertape/lower/decision.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {

/// y as it is before a Newton step, as a decision sees it.
struct NewtonRound {
  double error = 0;              ///< of y, in the energy norm, as far as known
  std::optional<double> goal{};  ///< for it; nothing: a quarter of the way that y has come, at least one step
  double moved = 0;              ///< that way, in the energy norm
  double before = std::numeric_limits<double>::infinity();  ///< the error before the last step
  int steps = 0;                                            ///< since the solve began
  int indefinite = 0;     ///< of the last ones, those where d2g/dy2 was not positive definite
  bool thorough = false;  ///< at least one step, whatever the error seems to be

  /// What the error must get below.
  double target() const { return goal.value_or(0.25 * moved); }
};

LowerDecision decide(const NewtonRound& round);

/// A step of length t that was tried along w. Lengths up to `done` do not go too far, that of `high` does.
struct NewtonTrial {
  double t = 1, done = 0, high = std::numeric_limits<double>::infinity();
  double slope = 0;    ///< of g along -w where the step begins, w'grad_y g > 0
  double there = 0;    ///< where it ends
  bool finite = true;  ///< grad_y g there is
  int trials = 0;      ///< so far
  int not_finite = 0;  ///< of them, ended where grad_y g is not finite

  /// Past the minimum along w, and not by little.
  bool is_too_long() const { return !finite || there < -0.5 * slope; }

  /// The next length to try, if there is to be one.
  double next() const;
};

LowerDecision decide(const NewtonTrial& trial);

/// y*(x) = argmin_y g(x, y) for one x after another by truncated Newton steps, each solve from where the one before
/// ended: no constant of g is needed. Systems with d2g/dy2 are solved by conjugate gradients that are preconditioned by
/// what earlier ones learned, maths.md (25), which others may share: cg().
class NewtonLower {
 public:
  /// Refers to `oracle`. `directions` of earlier systems are kept.
  NewtonLower(BilevelOracle& oracle, const Vec& y, Index directions) : oracle_(oracle), cg_(directions), y_(y) {}

  const Vec& y() const { return y_; }
  RecycledCg& cg() { return cg_; }

  /// grad_y g at (x, y), where a solve begins; error() is not known. False if it is not finite.
  bool look(const Vec& x);
  const Vec& gradient() const { return gradient_; }

  /// Goes on to an energy error of `goal`, |e|^2 = e' d2g/dy2 e; without one, to a quarter of the way that y has come
  /// since look(). False if that failed, or took more products and gradients than allow() says: status() and
  /// message() tell.
  bool solve(const Vec& x, std::optional<double> goal);

  /// The estimated error of y, and how far it has come since look(), in the energy norm.
  double error() const { return error_; }
  double moved() const { return moved_; }

  /// At least one step of two products in each solve, or no longer. Errors are estimated by what earlier solves
  /// learned, and where one point after the other is so near that nothing seems to be left to do, nothing is learned
  /// either.
  void set_thorough(bool thorough) { thorough_ = thorough; }
  int least_products() const { return thorough_ ? 2 : 0; }

  /// From here on solves may take so many products and gradients, those of others with cg() among them.
  void allow(long effort) { limit_ = effort_ + cg_.products() + effort; }
  bool is_spent() const { return effort_ + cg_.products() >= limit_; }
  long effort() const { return effort_ + cg_.products(); }

  /// More iterations than conjugate gradients can make use of.
  int most_products() const { return 100 + 4 * static_cast<int>(std::min<Index>(y_.size(), 10'000)); }

  /// Where the next solve starts, and what it knows.
  struct State {
    Vec y;
    RecycledCg::Memory memory{};
    double moved = 0, forcing = 0.1;
  };
  void save(State& state);
  void restore(const State& state);

  Status status() const { return status_; }
  const std::string& message() const { return message_; }

 private:
  bool step(const Vec& x, double goal, double forcing);
  bool search_line(const Vec& x, bool indefinite);
  bool fail(Status status, const std::string& message);

  BilevelOracle& oracle_;
  RecycledCg cg_;
  Vec y_, gradient_, step_, trial_y_, trial_gradient_;
  double error_ = 0, moved_ = 0;
  double forcing_ = 0.3;  // how much of a Newton step may be error
  bool thorough_ = false;
  int indefinite_ = 0;  // steps one after the other where d2g/dy2 was not positive definite
  long effort_ = 0, limit_ = std::numeric_limits<long>::max();
  Status status_ = Status::converged;
  std::string message_;
};

}  // namespace hypertape
