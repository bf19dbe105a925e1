#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "hypertape/core/random.hpp"
#include "hypertape/hypergradient/estimator.hpp"
#include "hypertape/outer/solver.hpp"

namespace hypertape {

/// What all outer loops share: counting, budgets, the stop rule, the observer and the result. A loop asks `accept` for
/// each hypergradient and `step` for each new iterate, and returns as soon as one of them says false.
class Run {
 public:
  Run(std::string_view who, BilevelOracle& oracle, const StopRule& stop, const Point& start, const Observer& observer);

  CountingOracle& oracle() { return oracle_; }
  const Point& start() const { return start_; }
  const StopRule& stop() const { return stop_; }
  Result& result() { return result_; }

  /// Whether error bounds are wanted.
  bool certified() const { return stop_.tolerance > 0 || stop_.rtol > 0; }

  /// What |u| and its error must get below, as far as the first |u| is known.
  double tolerance() const { return std::max(stop_.tolerance, stop_.rtol * first_norm_); }

  /// Whether that hangs on the first |u|, and what it is: until it is set, the last that was accepted at the start.
  bool is_relative() const { return stop_.rtol * first_norm_ > stop_.tolerance; }
  void set_first_norm(double norm) { first_norm_ = norm; }

  /// The hypergradient at `point`: from here on what the result is about. False if it failed or if it ends the run,
  /// which a certified gradient does where `may_converge`.
  bool accept(const Vec& point, const Hypergradient& h, const Vec& y, bool may_converge = true);

  /// The same for that of an estimator. Where it could end the run, its error bound is found out, and put to the test
  /// before it is believed.
  bool accept(const Vec& point, HypergradientEstimator& estimator, bool may_converge = true);

  /// An outer iteration is done, x is next.
  bool step(const Vec& x);

  void end(Status status, const std::string& message);

  /// What a budget was spent on, in words.
  std::string where_it_went() const;

 private:
  bool notify(const Vec& x);
  bool is_stuck(const Hypergradient& h);

  CountingOracle oracle_;
  const StopRule& stop_;
  Point start_;
  const Observer& observer_;
  Result result_;
  double first_norm_ = 0, best_ = std::numeric_limits<double>::infinity();
  int since_best_ = 0;
};

/// Runs `loop` and returns the result, whatever ended it; exceptions of the oracle and of the observer become
/// RunFailed. The start must fit the oracle and be finite; `who` is named if it is not.
Result run(std::string_view who, BilevelOracle& oracle, const StopRule& stop, const Point& start,
           const Observer& observer, const std::function<void(Run&)>& loop);

/// Perturbations, uniform in a ball.
class Noise {
 public:
  /// `given` ones come first, for reproducing a run.
  Noise(double radius, std::uint64_t seed, const std::vector<Vec>& given);
  void add_to(Vec& x);

 private:
  double radius_;
  Random random_;
  const std::vector<Vec>& given_;
  std::size_t used_ = 0;
  Vec xi_;
};

/// The accuracy that an estimate is worth: max(epsilon / 10, ctol |u|), maths.md (18).
double accuracy(const Run& run, double ctol, double norm);

/// A first hypergradient at x, refined until its error is at most ctol |u|. Only where an accuracy decides; false if
/// the run is over, which a start that is stationary ends at once if it may.
bool warm_up(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol, bool may_converge);

}  // namespace hypertape
