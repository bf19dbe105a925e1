#pragma once

#include "hypertape/hypergradient/estimator.hpp"
#include "hypertape/lower/newton_lower.hpp"

namespace hypertape {

/// Hypergradients by implicit differentiation, maths.md (2), that need no constants: y by truncated Newton steps, v by
/// conjugate gradients, both preconditioned by what earlier solves learned, and both as accurate as |u| asks for. How
/// much of an error of y or v reaches u is learned on the way: c_v = |d2g/dxdy v| / |v|, and c_y from how u changed
/// when y moved, both in energy norms |e|^2 = e' d2g/dy2 e. Everything scales with f, g, x and y. Cost: 1 Gc(g) and one
/// more for each Newton step, 1 Gc(f), 1 JV, and the products of the solves.
class AdaptiveHypergradient {
 public:
  /// Refers to `oracle`. `directions` of earlier solves are kept.
  AdaptiveHypergradient(BilevelOracle& oracle, const Vec& y, Index directions);

  /// grad Phi at x, with an estimated error of at most about tau |u|. Starts from y and v as they are. Fails with
  /// Status::iteration_limit where that takes more than `limit` products and gradients.
  const Hypergradient& at(const Vec& x, double tau, long limit = std::numeric_limits<int>::max());

  /// At least two products for v, and a step for y, at each point; or no longer. For points that are near each other.
  void set_thorough(bool thorough) { lower_.set_thorough(thorough); }

  /// What the last one took.
  long effort() const { return effort_; }

  /// Learns how much u changes with y: from one point, where it was `from`, to that of the last solve or of the state
  /// that was restored.
  void learn(const Vec& from, const Vec& to);

  /// What was learned of y is wrong: the next point goes without it, and solves for y to a part of how far it moves.
  void forget() { gain_y_ = -1; }

  const Hypergradient& last() const { return result_; }
  const Vec& y() const { return lower_.y(); }

  /// The estimated error of phi, which is of second order in those of y and v.
  double phi_error() const { return phi_error_; }

  /// What phi was corrected by, to first order in the error of y: where this is large, it is not to be relied on.
  double correction() const { return correction_; }

  /// Looks at the last point without what earlier solves learned, which may be wrong: a lower bound of what the error
  /// estimate should be, by a few plain conjugate gradient steps. Where it is larger, all that was learned is
  /// forgotten.
  double audit(const Vec& x);

  /// Where the next solves start, what they know, and the size of u to be expected.
  struct State {
    NewtonLower::State lower;
    Vec v;
    double norm = 0, gain_v = 0;
  };
  void save(State& state);
  void restore(const State& state);

 private:
  void estimate(const Vec& x, double tau);
  void lower_failed() { fail(lower_.status(), lower_.message()); }
  bool solve_linear(const Vec& x, double tau);
  bool fail(Status status, const std::string& message);

  BilevelOracle& oracle_;
  NewtonLower lower_;
  Hypergradient result_;
  Vec v_, step_, gx_, gy_, product_;
  double gain_v_ = 0, gain_y_ = -1;  // c_v and c_y; negative: not known
  double expected_ = 0;              // |u|, as far as known; 0: not at all
  double error_v_ = 0, phi_error_ = 0, correction_ = 0;
  long effort_ = 0;
};

}  // namespace hypertape
