#include "hypertape/outer/minimize.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/hypergradient/adaptive.hpp"
#include "hypertape/outer/run.hpp"

namespace hypertape {
namespace {

// Accuracy of hypergradients relative to |u|: at the start, later on, and the best that is ever asked for.
constexpr double roughest = 0.5, loosest = 0.1, tightest = 1e-7;
constexpr double sufficient = 1e-4;  // of the decrease that the slope promises (Armijo)

/// As many pairs of vectors of this length as were asked for, or else as fit into eight megabytes: more would take a
/// noticeable part of the time of a run.
Index pairs_that_fit(int given, Index least, Index most, Index length) {
  return given > 0 ? given : std::clamp<Index>((Index{1} << 19) / length, least, most);
}

class Search {
 public:
  Search(Run& run, const AutoOptions& options)
      : run_(run),
        options_(options),
        estimator_(run.oracle(), run.start().y, pairs_that_fit(options.directions, 0, 100, run.start().y.size())),
        inverse_(pairs_that_fit(options.memory, 5, 60, run.start().x.size())),
        x_(run.start().x),
        root_(std::sqrt(static_cast<double>(x_.size()))) {}

  void go() {
    if (!look_around()) return;
    first_phi_ = here_.phi;
    if (here_.norm <= run_.tolerance() || here_.norm == 0) perturb();
    for (;;) {
      if (!settle() || !step() || !run_.step(x_)) return;
    }
  }

 private:
  enum class Verdict { accepted, too_short, refused };

  bool take(const Vec& x, const Hypergradient& h) {
    here_ = h;
    phi_error_ = estimator_.phi_error();
    return run_.accept(x, here_, estimator_.y(), false);
  }

  /// The first hypergradient. Phi there is what steps are measured by: as long as it rests on its correction, y is
  /// solved for more accurately.
  bool look_around() {
    estimator_.at(x_, roughest);
    for (double tau = 0.1; tau > tightest && !is_reliable(); tau /= 10) estimator_.at(x_, tau);
    effort_ = estimator_.effort();
    return take(x_, estimator_.last());
  }
  bool is_reliable() const {
    const Hypergradient& h = estimator_.last();
    return h.status != Status::converged || std::abs(estimator_.correction()) <= 0.1 * std::abs(h.phi);
  }

  /// A length that steps are measured by where nothing is known: 0.3 in every entry, or of x.
  double usual_length() const { return 0.3 * (root_ + x_.norm()); }

  /// At a stationary start: a saddle is left, a minimum is come back to.
  void perturb() {
    Vec direction = Random(options_.seed).direction(x_.size());
    x_ += 1e-3 * usual_length() * direction;
    ++run_.result().restarts;
    take(x_, estimator_.at(x_, roughest));
  }

  /// Whether to go on from x. Where |u| is small enough its error must be, too, which may take a second look.
  bool settle() {
    if (here_.status != Status::converged) return false;
    const double tolerance = run_.tolerance();
    if (run_.certified() && here_.norm <= tolerance && here_.norm + here_.error_estimate > tolerance) {
      tau_ = std::max(tightest, std::min(tau_, 0.1 * tolerance / std::max(here_.norm, 0.1 * tolerance)));
      if (!take(x_, estimator_.at(x_, tau_))) return false;
    }
    const auto is_small = [&] { return run_.certified() && here_.norm + here_.error_estimate <= tolerance; };
    if (!is_small()) return true;
    // Before a run ends, the estimate is put to the test: a more accurate u must not differ by more.
    const Vec before = here_.u;
    if (!take(x_, estimator_.at(x_, std::max(tightest, 0.1 * tau_)))) return false;
    here_.error_estimate = std::max({here_.error_estimate, (here_.u - before).norm(), estimator_.audit(x_)});
    if (!is_small()) {
      tau_ = std::max(tightest, 0.1 * tau_);
      return true;
    }
    if (!is_flat()) return run_.accept(x_, here_, estimator_.y());
    run_.end(Status::flat, text("|u| = ", here_.norm, " after a step of length ", last_step_,
                                ": Phi is flat there, and no minimum is near; |x - start| = ",
                                (x_ - run_.start().x).norm(), ", Phi fell from ", first_phi_, " to ", here_.phi));
    return false;
  }

  /// Whether u vanishes without a minimum: the steps that led there are long, and the next would be, or u does not come
  /// back on the way back.
  bool is_flat() {
    if (inverse_.empty() || last_step_ <= 0.1 * usual_length()) return false;
    inverse_.apply(here_.u, direction_);
    return direction_.norm() > 0.3 * last_step_ || !has_curvature();
  }

  /// Near a minimum u comes back in proportion, a tenth of the way back.
  bool has_curvature() {
    estimator_.save(before_);
    trial_x_ = x_ - 0.1 * moved_;
    const Hypergradient& h = estimator_.at(trial_x_, loosest);
    const bool comes_back = h.status == Status::converged && (here_.u - h.u).dot(moved_) > 0.01 * changed_.dot(moved_);
    estimator_.restore(before_);
    return comes_back;
  }

  /// The quasi-Newton direction, not much longer than the step before; downhill by usual_length where there is none.
  void choose_direction() {
    const bool none = inverse_.empty();
    inverse_.apply(here_.u, direction_);
    direction_ *= none && scale_ > 0 ? -scale_ : -1;
    const double length = direction_.norm();
    const double longest = none ? std::max(usual_length(), 2 * last_step_) : std::max(usual_length(), 4 * last_step_);
    if ((none && scale_ == 0) || length > longest) direction_ *= longest / length;
    // Concentrated in a few entries, the same length can be far: exp(x) is not rare in lower levels.
    const double entry = direction_.lpNorm<Eigen::Infinity>(), most = 1 + x_.lpNorm<Eigen::Infinity>();
    if (entry > most) direction_ *= most / entry;
    slope_ = direction_.dot(here_.u);
  }

  /// Far from y*(x), Phi as corrected to first order can be anything; a fall must not be the work of the correction.
  bool is_plausible() const {
    const double correction = estimator_.correction(), fall = here_.phi - (estimator_.last().phi + correction);
    return std::abs(correction) <= std::max({0.5 * std::abs(fall), 0.1 * last_fall_, 1e-14 * std::abs(here_.phi)});
  }

  Verdict judge(double t, const Hypergradient& trial, bool first) const {
    if (trial.status != Status::converged || !is_plausible()) return Verdict::refused;
    const double slope = trial.u.dot(direction_);
    const double noise = phi_error_ + estimator_.phi_error() + 1e-10 * std::abs(here_.phi);
    const bool falls = trial.phi <= here_.phi + sufficient * t * slope_;
    // Where the difference drowns in noise, slopes decide (Hager and Zhang).
    const bool drowned = std::abs(trial.phi - here_.phi) <= noise && slope <= (2 * sufficient - 1) * slope_;
    if (!falls && !drowned) return Verdict::refused;
    return slope < (first ? 0.5 : 0.9) * slope_ ? Verdict::too_short : Verdict::accepted;
  }

  /// One step of the search. False if the run is over.
  bool step() {
    for (int attempt = 0; attempt < 3; ++attempt) {
      choose_direction();
      if (slope_ < 0 && search_line()) return true;
      // Blame the quasi-Newton matrix first, then the accuracy.
      inverse_.clear();
      tighten(100);
      estimator_.restore(before_);
      if (!take(x_, estimator_.at(x_, tau_))) return false;
    }
    run_.end(Status::stagnated, text("no step from here lowers Phi = ", here_.phi,
                                     " by more than rounding or errors hide; |u| = ", here_.norm,
                                     " with an error of about ", here_.error_estimate));
    return false;
  }

  /// Asks for more accuracy, unless not even what was asked for so far can be had.
  void tighten(double factor) {
    if (estimator_.last().error_estimate <= 10 * tau_ * estimator_.last().norm) tau_ = std::max(tightest, tau_ / factor);
  }

  bool search_line() {
    const bool first = inverse_.empty();
    estimator_.save(before_);
    double t = 1, low = 0, high = std::numeric_limits<double>::infinity();
    int refusals = 0, failures = 0;
    long limit = 40 + 4 * effort_;  // what costs much more is far from x: closer trials first
    for (int trial = 0; trial < 40; ++trial) {
      trial_x_ = x_ + t * direction_;
      const Hypergradient& h = estimator_.at(trial_x_, tau_, limit);
      if (h.status == Status::converged && !is_plausible()) {
        estimator_.forget();
        estimator_.at(trial_x_, tau_, limit);
      }
      const Verdict verdict = judge(t, h, first);
      if (verdict == Verdict::accepted) {
        const double left = std::abs(h.u.dot(direction_) / slope_);
        if (!first || left > 0.02 || t * direction_.norm() <= usual_length()) return move(trial_x_, h, refusals);
        keep(h);
        return halve(t, refusals);
      }
      if (verdict == Verdict::too_short) {
        const double left = h.u.dot(direction_) / slope_;  // of the slope
        low = t;
        keep(h);
        estimator_.learn(here_.u, h.u);
        if (high < 1.5 * low || trial >= 20) return move(best_x_, best_, refusals);
        if (std::isinf(high) && t * direction_.lpNorm<Eigen::Infinity>() > 3 * (1 + x_.lpNorm<Eigen::Infinity>())) return move(best_x_, best_, refusals);
        t = std::isfinite(high) ? 0.5 * (low + high) : t * std::clamp(1 / (1 - left), 2.0, first ? 10.0 : 4.0);
        continue;
      }
      high = t;
      if (low > 0) {  // what was too short is good enough
        estimator_.restore(best_state_);
        return move(best_x_, best_, refusals);
      }
      estimator_.restore(before_);
      if (++refusals > (first ? 20 : 6)) return false;
      if (t * direction_.norm() < 1e-14 * (root_ + x_.norm())) return false;
      if (h.status != Status::converged) {
        if (h.status == Status::iteration_limit) limit *= 2;
        if (++failures > 10) return false;  // x itself is to be looked at again
        t *= t > 0.01 ? 0.2 : 0.01;
        continue;
      }
      const double quadratic = -0.5 * slope_ * t * t / (h.phi - here_.phi - slope_ * t);
      t = std::isfinite(quadratic) ? std::clamp(quadratic, 0.1 * t, 0.5 * t) : 0.2 * t;
      tighten(3);
      if (refusals == 2) {  // before the direction is blamed
        if (estimator_.at(x_, tau_).status != Status::converged) return false;
        here_ = estimator_.last();
        phi_error_ = estimator_.phi_error();
        estimator_.save(before_);
        slope_ = direction_.dot(here_.u);
        if (slope_ >= 0) return false;
      }
    }
    return false;
  }

  /// A long step, along a line of which nothing was known, to where the slope is nearly zero may have gone over a
  /// minimum to a plain beyond: shorter ones are tried as long as Phi is lower there.
  bool halve(double t, int refusals) {
    for (int trial = 0; trial < 10; ++trial) {
      t /= 2;
      trial_x_ = x_ + t * direction_;
      const Hypergradient& h = estimator_.at(trial_x_, tau_);
      if (h.status != Status::converged || !is_plausible() || !(h.phi < best_.phi)) break;
      keep(h);
    }
    estimator_.restore(best_state_);
    return move(best_x_, best_, refusals);
  }

  void keep(const Hypergradient& h) {
    best_x_ = trial_x_;
    best_ = h;
    estimator_.save(best_state_);
    best_phi_error_ = estimator_.phi_error();
    best_effort_ = estimator_.effort();
  }

  bool move(const Vec& x, const Hypergradient& h, int refusals) {
    estimator_.learn(here_.u, h.u);
    if (refusals == 0) tau_ = tau_ > loosest ? std::max(loosest, 0.8 * tau_) : std::min(loosest, (tau_ < 1e-3 ? 3 : 1.1) * tau_);
    effort_ = std::max(&h == &best_ ? best_effort_ : estimator_.effort(), effort_ / 2);
    moved_ = x - x_;
    changed_ = h.u - here_.u;
    if (inverse_.add(moved_, changed_)) scale_ = moved_.dot(changed_) / changed_.squaredNorm();
    last_step_ = moved_.norm();
    last_fall_ = std::abs(here_.phi - h.phi);
    x_ = x;
    phi_error_ = &h == &best_ ? best_phi_error_ : estimator_.phi_error();
    here_ = h;
    return run_.accept(x_, here_, estimator_.y(), false);
  }

  Run& run_;
  const AutoOptions& options_;
  AdaptiveHypergradient estimator_;
  LimitedMemory inverse_;
  Vec x_, direction_, trial_x_, best_x_, moved_, changed_;
  Hypergradient here_, best_;
  AdaptiveHypergradient::State before_, best_state_;
  double root_, tau_ = roughest, slope_ = 0, last_step_ = 0, last_fall_ = 0, scale_ = 0, phi_error_ = 0,
                best_phi_error_ = 0, first_phi_ = 0;
  long effort_ = 0, best_effort_ = 0;  // for one hypergradient, of late
};

}  // namespace

void AutoOptions::describe(OptionList& list) {
  stop.describe(list);
  list.add("memory", &memory, "pairs of the quasi-Newton matrix for x (0: at most 60, less where x is long)");
  list.add("directions", &directions,
           "directions kept for the next linear system (0: at most 100, less where y is long)");
  list.add("seed", &seed, "seed of the perturbation at a stationary start");
}

Result minimize(BilevelOracle& oracle, const AutoOptions& options, const Point& start, const Observer& observer) {
  require(options.memory >= 0, "auto: memory = ", options.memory, ", must not be negative");
  require(options.directions >= 0, "auto: directions = ", options.directions, ", must not be negative");
  return run("auto", oracle, options.stop, start, observer, [&](Run& run) { Search(run, options).go(); });
}

Result minimize(BilevelOracle& oracle, const Point& start, const StopRule& stop, const Observer& observer) {
  return minimize(oracle, {.stop = stop}, start, observer);
}

}  // namespace hypertape
