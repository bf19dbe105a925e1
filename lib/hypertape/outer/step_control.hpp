#pragma once

#include <limits>
#include <optional>

#include "hypertape/outer/run.hpp"

namespace hypertape {

/// The Lipschitz constant of grad Phi near x, by power iteration on differences of hypergradients, 8 of them and those
/// that more accuracy takes. Nothing if the run is over.
std::optional<double> find_lipschitz(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol,
                                     std::uint64_t seed);

/// The step eta for x, as given, and then never changed; or found out: 1/(1.2 L) for the largest L that was seen of
/// late, measured at the start and followed by differences of hypergradients along the run, maths.md (22a). A step that
/// is not given is no longer than 0.3 in every entry or of x, and where it leads uphill it is taken back.
class StepControl {
 public:
  explicit StepControl(std::optional<double> given) : given_(given) {}

  bool is_given() const { return given_.has_value(); }

  /// Finds L at x if eta is not given. False if the run is over.
  bool start(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol, std::uint64_t seed);

  /// eta at x, where the hypergradient has this norm.
  double value(const Vec& x, double norm) const;

  /// Whether a hypergradient is where it should be. It is not where it failed, where Phi has risen above that of the
  /// last anchor, as far as values can be trusted, or where |u| has grown tenfold; if eta is not given. At the point
  /// that a step was taken back to, it is what it is: the step is not to blame.
  bool is_acceptable(const Hypergradient& h) const;

  /// Learns from an acceptable hypergradient. `anchor`: Phi is not to rise above that of this point, to which a step is
  /// taken back if there is no lower one after it.
  void learn(const Vec& at, const Hypergradient& h, const Vec& y, bool anchor);

  /// The next point is not on the way down from the last: nothing is compared with what was before.
  void forget() { last_.any = best_.any = false; }

  /// Goes back: x and y of the best point, and a step half as long. False if there is no such point.
  bool take_back(Vec& x, HypergradientEstimator& estimator);

  /// Whether u vanishes at x, where the run has converged, without a minimum nearby: a little further uphill, 0.03 in
  /// every entry or of x, u is not three times what it is. One more hypergradient. Never if eta is given.
  bool is_flat(const Vec& x, const Vec& u, HypergradientEstimator& estimator) const;

 private:
  struct Seen {
    bool any = false;
    Vec x, y, u;
    double phi = 0, norm = 0, error = 0;
  };

  std::optional<double> given_;
  double L_ = 0;
  Seen last_, best_;
  double largest_ = 0, anchor_phi_ = 0;  // |u| since the last anchor, and Phi there
  bool went_back_ = false;               // and nothing was learned since
};

/// A run that has converged where Phi is flat ends as that, with the numbers.
void say_if_flat(Run& run, const StepControl& steps, HypergradientEstimator& estimator);

}  // namespace hypertape
