#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/inner/agd.hpp"
#include "hypertape/lower/constants.hpp"
#include "hypertape/lower/decision.hpp"

namespace hypertape {

/// A round of steps, as a decision sees it.
struct LowerRound {
  AgdResult steps{};
  double rounding = 0;      ///< a |grad_y g| that no solver gets below
  bool counted = false;     ///< a number of steps was asked for, not an accuracy
  bool step_given = false;  ///< the step is the user's, and stays as it is
  bool settled = false;     ///< l and mu were measured, and are not the reason
  bool is_last = false;     ///< no steps are left
  int changes_left = 0;     ///< of the step

  /// Whether slow progress is to be borne: nothing can, or may, be changed.
  bool is_patient() const { return counted || step_given || settled || changes_left == 0; }
};

LowerDecision decide(const LowerRound& round);

/// y*(x) = argmin_y g(x, y) for one x after another by (accelerated) gradient descent, maths.md (15), each solve from
/// where the one before ended; with what is known of the curvature of g. Of the options, what is given is never
/// changed: a step and a momentum that were not given follow l and mu, which are measured when they are first needed
/// and again where steps prove them wrong.
class AcceleratedLower {
 public:
  /// Whether products with d2g/dy2 may be spent on measuring.
  enum class Products { allowed, none };

  /// Refers to `oracle`; costs nothing.
  AcceleratedLower(BilevelOracle& oracle, const LowerOptions& options, const Point& start, Products products,
                   std::uint64_t seed);

  const Vec& y() const { return y_; }
  void set_y(const Vec& y);

  /// y <- argmin g(x, .), to |grad_y g| <= tolerance, or by as many steps as the options say. False if it failed, which
  /// status() and message() tell.
  bool solve(const Vec& x, double tolerance);

  /// grad_y g at y, which stays where it is.
  bool look(const Vec& x);

  /// y <- `steps` steps on g(x, .) from zero: the cold start that the paper prints at every restart.
  bool solve_cold(const Vec& x, int steps);

  /// Whether a number of steps decides, rather than an accuracy.
  bool is_counted() const { return options_.steps.has_value() && !accurate_; }

  /// Ignore `steps` for now, and solve to the accuracy asked for with momentum; or no longer.
  void set_accurate(bool accurate) { accurate_ = accurate; }
  void set_steps(int steps) { options_.steps = steps; }

  /// Makes sure that alpha() and beta() are known at x, measuring l and mu here if need be. False if g is not strongly
  /// convex there, or not finite.
  bool find_step(const Vec& x);
  double alpha() const;
  double beta() const;

  /// Makes sure that constants() has all that error bounds are made of; measured here if it is not known. Near y*(x)
  /// only: what is measured far from it is of no use.
  bool find_bounds(const Vec& x);
  bool has_bounds() const { return has_bounds_; }

  /// Whether they hold at (x, y): what was measured does near the point where it was, within 0.003 in every entry or of
  /// x and y; what was given does everywhere.
  bool bounds_hold_at(const Vec& x) const;

  /// Measures all that bounds are made of anew at (x, y), also what was given: it is believed only if nothing that is
  /// seen here contradicts it.
  bool renew_bounds(const Vec& x);

  /// A curvature p' d2g/dy2 p / p'p that was met: the smallest eigenvalue is below it. Below mu, it proves mu wrong:
  /// what was measured is forgotten.
  void saw_curvature(double curvature);

  /// A part of v that was seen to reach u, |d2g/dxdy v| over the energy norm of v: gain_v is at least that.
  void saw_gain_v(double gain);

  const LowerConstants& constants() const { return constants_; }

  /// |grad_y g| at the last point where it was computed, as AgdResult has it; the gradient itself if that point is y.
  double gradient_norm() const { return gradient_norm_; }
  const Vec* gradient_at_y() const { return gradient_at_y_ ? &workspace_.gradient : nullptr; }

  /// Iteration cap where an accuracy decides.
  int most() const { return options_.most.value_or(10'000); }

  /// A rounding error of |grad_y g| that no solver gets below.
  double rounding() const { return 4e-16 * constants_.l * (1 + y_.norm()); }

  Status status() const { return status_; }
  const std::string& message() const { return message_; }

  /// What the user gave that was proved wrong, in words; empty if nothing was.
  const std::string& warning() const { return warning_; }

 private:
  bool minimise(const Vec& x, int steps, double tolerance);
  bool fail(Status status, const std::string& message);

  /// Where steps failed: whether that is because g is not convex there.
  bool is_indefinite(const Vec& x);

  /// Slow progress: l and mu as they are at (x, y), if they differ from those that are known; without products, a
  /// larger l if steps go round in circles. False if nothing changed.
  bool measure_again(const Vec& x, bool circles);

  BilevelOracle& oracle_;
  LowerOptions options_;
  bool products_;
  std::uint64_t seed_;
  LowerConstants constants_;
  bool has_curvature_, has_bounds_ = false, accurate_ = false, gradient_at_y_ = false;
  Vec y_, before_;
  std::optional<Point> measured_at_;
  AgdWorkspace workspace_;
  double gradient_norm_ = 0, seen_gain_v_ = 0;
  Status status_ = Status::converged;
  std::string message_, warning_;
};

}  // namespace hypertape
