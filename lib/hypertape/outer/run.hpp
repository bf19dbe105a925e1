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
  Run(BilevelOracle& oracle, const StopRule& stop, const Point& start, const Observer& observer);

  CountingOracle& oracle() { return oracle_; }
  const Point& start() const { return start_; }
  const StopRule& stop() const { return stop_; }
  Result& result() { return result_; }

  /// Whether error bounds are wanted.
  bool certified() const { return stop_.tolerance > 0 || stop_.rtol > 0; }

  /// What |u| and its error must get below, as far as the first |u| is known.
  double tolerance() const { return std::max(stop_.tolerance, stop_.rtol * first_norm_); }

  /// The hypergradient at `point`: from here on what the result is about. False if it failed or if it ends the run,
  /// which a certified gradient does where `may_converge`.
  bool accept(const Vec& point, const Hypergradient& h, const Vec& y, bool may_converge = true);
  bool accept(const Vec& point, const HypergradientEstimator& estimator, bool may_converge = true) {
    return accept(point, estimator.last(), estimator.y(), may_converge);
  }

  /// An outer iteration is done, x is next.
  bool step(const Vec& x);

  void end(Status status, const std::string& message);

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
/// RunFailed. The start must fit the oracle and be finite.
Result run(BilevelOracle& oracle, const StopRule& stop, const Point& start, const Observer& observer,
           const std::function<void(Run&)>& loop);

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

/// A first hypergradient at x, refined until its error is at most ctol |u|. Only where certificates decide; false if
/// the run is over.
bool warm_up(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol);

/// 1/L for the L of grad Phi near x, by power iteration on differences of hypergradients, 16 of them and those that
/// more accuracy takes. Not positive if the run is over.
double find_step(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol, std::uint64_t seed);

/// The step for x: as given, or as found at the start and made shorter where grad Phi proves to change faster. What two
/// hypergradients with their error bounds prove is (|u - u'| - errors) / |x - x'| <= L.
class StepLength {
 public:
  StepLength(double given, double found) : adapts_(given == 0), eta_(given > 0 ? given : found) {}
  double value() const { return eta_; }
  void learn(const Vec& at, const Hypergradient& h);

 private:
  bool adapts_, any_ = false;
  double eta_, error_ = 0;
  Vec at_, u_;
};

}  // namespace hypertape
