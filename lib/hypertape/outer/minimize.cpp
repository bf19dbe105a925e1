#include "hypertape/outer/minimize.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/hypergradient/adaptive.hpp"
#include "hypertape/outer/floor.hpp"
#include "hypertape/outer/run.hpp"

namespace hypertape {
namespace {

// Accuracy of hypergradients relative to |u|: at the start, later on, and the best that is ever asked for.
constexpr double roughest = 0.5, loosest = 0.1, tightest = 1e-7;
constexpr double sufficient = 1e-4;  // of the decrease that the slope promises (Armijo)

/// As many pairs of vectors of this length as were asked for, or else as fit into eight megabytes: with 8,000 unknowns
/// a third of them makes runs on MNIST 1.3 to 1.6 times as long, half as many again makes them no shorter.
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
        here_{run.start().x, {}, 0},
        root_(std::sqrt(static_cast<double>(here_.x.size()))) {}

  void go() {
    if (!look_around()) return;
    first_phi_ = here_.h.phi;
    if (here_.h.norm <= run_.tolerance() || here_.h.norm == 0) perturb();
    for (begin_block();;) {
      if (!settle() || !step() || !run_.step(here_.x)) return;
    }
  }

 private:
  enum class Verdict { accepted, too_short, refused };  // of a trial
  enum class Outcome { moved, failed, over };

  /// The hypergradient at x, to be gone on from: false if it is no use. `x` may be where the run is already.
  bool look(const Vec& x, double tau) {
    here_.x = x;
    here_.h = estimator_.at(x, tau);
    here_.phi_error = estimator_.phi_error();
    return run_.accept(here_.x, here_.h, estimator_.y(), false);
  }

  /// The hypergradient where the run is, again. Phi must be what it was, within what its errors were thought to be:
  /// where the lower level is nearly singular, y goes on and on from solve to solve, and Phi with it.
  bool look_again(double tau) {
    const double before = here_.h.phi, errors = here_.phi_error;
    if (!look(here_.x, tau)) return false;
    const double rise = here_.h.phi - before;
    if (rise > std::max(10 * (errors + here_.phi_error), 0.1 * last_fall_) && ++contradictions_ == 3) {
      run_.end(Status::stagnated, text("Phi here was thought to be ", before, " and is ", here_.h.phi,
                                       ": d2g/dy2 is so nearly singular that y, and Phi with it, is not determined; "
                                       "|u| = ",
                                       here_.h.norm, ", |x - start| = ", (here_.x - run_.start().x).norm()));
      return false;
    }
    return true;
  }

  /// The first hypergradient. Phi there is what steps are measured by: as long as it rests on its correction, y is
  /// solved for more accurately.
  bool look_around() {
    bool usable = look(here_.x, roughest);
    for (int i = 0; i < 10 && usable && !is_reliable(); ++i) usable = look(here_.x, roughest);
    estimator_.save(at_start_);
    effort_ = estimator_.effort();
    return usable;
  }
  bool is_reliable() const { return std::abs(estimator_.correction()) <= 0.2 * std::abs(here_.h.phi); }

  /// A length that steps are measured by where nothing is known: 0.3 in every entry, or of x.
  double usual_length() const { return 0.3 * (root_ + here_.x.norm()); }

  /// At a stationary start: a saddle is left, a minimum is come back to.
  void perturb() {
    Vec direction = Random(options_.seed).direction(here_.x.size());
    ++run_.result().restarts;
    look(here_.x + 1e-3 * usual_length() * direction, roughest);
  }

  /// Where |u| is compared with the first one, that must be known better than at first sight, where it can be wrong by
  /// orders of magnitude.
  void measure_start() {
    start_is_known_ = true;
    estimator_.save(before_);
    estimator_.restore(at_start_);
    const Hypergradient& h = estimator_.at(run_.start().x, tightest);
    if (h.status == Status::converged) run_.set_first_norm(h.norm);
    estimator_.restore(before_);
  }

  /// Whether to go on from x. Where |u| is small enough its error must be, too, which may take a second look.
  bool settle() {
    if (here_.h.status != Status::converged) return false;
    if (!start_is_known_ && run_.is_relative() && here_.h.norm <= run_.tolerance()) measure_start();
    const double tolerance = run_.tolerance();
    if (run_.certified() && here_.h.norm <= tolerance && here_.h.norm + here_.h.error_estimate > tolerance) {
      tau_ = std::max(tightest, std::min(tau_, 0.1 * tolerance / std::max(here_.h.norm, 0.1 * tolerance)));
      if (!look_again(tau_)) return false;
    }
    const auto is_small = [&] { return run_.certified() && here_.h.norm + here_.h.error_estimate <= tolerance; };
    if (!is_small()) return true;
    // Before a run ends, the estimate is put to the test: a more accurate u must not differ by more.
    const Vec before = here_.h.u;
    if (!look_again(std::max(tightest, 0.1 * tau_))) return false;
    here_.h.error_estimate = std::max({here_.h.error_estimate, (here_.h.u - before).norm(), estimator_.audit(here_.x)});
    if (!is_small()) {
      tau_ = std::max(tightest, 0.1 * tau_);
      return true;
    }
    if (!is_flat()) return run_.accept(here_.x, here_.h, estimator_.y());
    run_.end(Status::flat,
             text("|u| = ", here_.h.norm, " after a step of length ", last_step_,
                  ": Phi is flat there, and no minimum is near; |x - start| = ", (here_.x - run_.start().x).norm(),
                  ", Phi fell from ", first_phi_, " to ", here_.h.phi));
    return false;
  }

  /// Whether u vanishes without a minimum: the steps that led there are long, and the next would be, or u does not come
  /// back on the way back.
  bool is_flat() {
    if (inverse_.empty() || last_step_ <= 0.1 * usual_length()) return false;
    inverse_.apply(here_.h.u, direction_);
    return direction_.norm() > 0.3 * last_step_ || !has_curvature();
  }

  /// Near a minimum u comes back in proportion, a tenth of the way back.
  bool has_curvature() {
    estimator_.save(before_);
    trial_.x = here_.x - 0.1 * moved_;
    const Hypergradient& h = estimator_.at(trial_.x, loosest);
    const bool comes_back =
        h.status == Status::converged && (here_.h.u - h.u).dot(moved_) > 0.01 * changed_.dot(moved_);
    estimator_.restore(before_);
    return comes_back;
  }

  /// The quasi-Newton direction, not much longer than the step before; downhill by usual_length where there is none.
  void choose_direction() {
    const bool none = inverse_.empty();
    if (options_.direction) {
      direction_ = options_.direction(here_.x, here_.h.u);
      require_vector("auto: direction", "d", direction_, here_.x.size());
    } else {
      inverse_.apply(here_.h.u, direction_);
      direction_ *= none && scale_ > 0 ? -scale_ : -1;
    }
    const double length = direction_.norm();
    const double longest = none ? std::max(usual_length(), 2 * last_step_) : std::max(usual_length(), 4 * last_step_);
    if ((none && scale_ == 0) || length > longest) direction_ *= longest / length;
    // Concentrated in a few entries, the same length can be far: exp(x) is not rare in lower levels.
    const double entry = direction_.lpNorm<Eigen::Infinity>(), most = 1 + here_.x.lpNorm<Eigen::Infinity>();
    if (entry > most) direction_ *= most / entry;
    slope_ = direction_.dot(here_.h.u);
  }

  /// Far from y*(x), Phi as corrected to first order can be anything; a fall must not be the work of the correction.
  bool is_plausible() const {
    const double correction = estimator_.correction(), fall = here_.h.phi - (estimator_.last().phi + correction);
    return std::abs(correction) <= std::max({0.5 * std::abs(fall), 0.1 * last_fall_, 1e-14 * std::abs(here_.h.phi)});
  }

  Verdict judge(double t, const Hypergradient& trial, bool first) const {
    if (trial.status != Status::converged || !is_plausible()) return Verdict::refused;
    const double slope = trial.u.dot(direction_);
    const double noise = here_.phi_error + estimator_.phi_error() + 1e-10 * std::abs(here_.h.phi);
    const bool falls = trial.phi <= here_.h.phi + sufficient * t * slope_;
    // Where the difference drowns in noise, slopes decide (Hager and Zhang).
    const bool drowned = std::abs(trial.phi - here_.h.phi) <= noise && slope <= (2 * sufficient - 1) * slope_;
    if (!falls && !drowned) return Verdict::refused;
    return slope < (first ? 0.5 : 0.9) * slope_ ? Verdict::too_short : Verdict::accepted;
  }

  /// One step of the search. False if the run is over.
  bool step() {
    if (falls_short())
      if (const Outcome outcome = run_epoch(); outcome != Outcome::failed) return outcome == Outcome::moved;
    for (int attempt = 0; attempt < 3; ++attempt) {
      choose_direction();
      estimator_.save(before_);
      const Outcome outcome = slope_ < 0 ? search_line() : Outcome::failed;
      if (outcome != Outcome::failed) return outcome == Outcome::moved;
      // Blame the quasi-Newton matrix first, then the accuracy.
      inverse_.clear();
      tighten(100);
      estimator_.restore(before_);
      if (!look_again(tau_)) return false;
    }
    if (const Outcome outcome = run_epoch(); outcome != Outcome::failed) return outcome == Outcome::moved;
    run_.end(Status::stagnated, text("no step from here lowers Phi = ", here_.h.phi,
                                     " by more than rounding or errors hide; |u| = ", here_.h.norm,
                                     " with an error of about ", here_.h.error_estimate));
    return false;
  }

  /// Asks for more accuracy, unless not even what was asked for so far can be had.
  void tighten(double factor) {
    if (estimator_.last().error_estimate <= 10 * tau_ * estimator_.last().norm)
      tau_ = std::max(tightest, tau_ / factor);
  }

  Outcome search_line() {
    const bool first = inverse_.empty();
    double t = 1, low = 0, high = std::numeric_limits<double>::infinity();
    int refusals = 0, failures = 0;
    long limit = 40 + 4 * effort_;  // what costs much more is far from x: closer trials first
    for (int trial = 0; trial < 40; ++trial) {
      trial_.x = here_.x + t * direction_;
      const Hypergradient& h = estimator_.at(trial_.x, tau_, limit);
      if (h.status == Status::converged && !is_plausible()) {
        estimator_.forget();
        estimator_.at(trial_.x, tau_, limit);
      }
      const Verdict verdict = judge(t, h, first);
      if (verdict == Verdict::accepted) {
        const double left = std::abs(h.u.dot(direction_) / slope_);
        if (!first || left > 0.02 || t * direction_.norm() <= usual_length())
          return move(visited(h), estimator_.effort(), refusals);
        keep(h);
        return halve(t, refusals);
      }
      if (verdict == Verdict::too_short) {
        const double left = h.u.dot(direction_) / slope_;  // of the slope
        low = t;
        keep(h);
        estimator_.learn(here_.h.u, h.u);
        if (high < 1.5 * low || trial >= 20) return move(best_, best_effort_, refusals);
        if (std::isinf(high) && t * direction_.lpNorm<Eigen::Infinity>() > 3 * (1 + here_.x.lpNorm<Eigen::Infinity>()))
          return move(best_, best_effort_, refusals);
        t = std::isfinite(high) ? 0.5 * (low + high) : t * std::clamp(1 / (1 - left), 2.0, first ? 10.0 : 4.0);
        continue;
      }
      high = t;
      if (low > 0) {  // what was too short is good enough
        estimator_.restore(best_state_);
        return move(best_, best_effort_, refusals);
      }
      estimator_.restore(before_);
      if (++refusals > (first ? 20 : 6)) return Outcome::failed;
      if (t * direction_.norm() < 1e-14 * (root_ + here_.x.norm())) return Outcome::failed;
      if (h.status != Status::converged) {
        if (h.status == Status::iteration_limit) limit *= 2;
        if (++failures > 10) return Outcome::failed;  // x itself is to be looked at again
        t *= t > 0.01 ? 0.2 : 0.01;
        continue;
      }
      const double quadratic = -0.5 * slope_ * t * t / (h.phi - here_.h.phi - slope_ * t);
      // Where value and slope agree that Phi is a parabola, its minimum is far better than a part of the way.
      const double secant = slope_ * t / (slope_ - h.u.dot(direction_));
      const bool parabola = std::abs(quadratic - secant) <= 0.1 * secant;
      t = std::isfinite(quadratic) ? std::clamp(quadratic, (parabola ? 0.001 : 0.1) * t, 0.5 * t) : 0.2 * t;
      tighten(3);
      if (refusals == 2) {  // before the direction is blamed
        if (!look_again(tau_)) return Outcome::over;
        estimator_.save(before_);
        slope_ = direction_.dot(here_.h.u);
        if (slope_ >= 0) return Outcome::failed;
      }
    }
    return Outcome::failed;
  }

  /// A long step, along a line of which nothing was known, to where the slope is nearly zero may have gone over a
  /// minimum to a plain beyond: shorter ones are tried as long as Phi is lower there.
  Outcome halve(double t, int refusals) {
    for (int trial = 0; trial < 10; ++trial) {
      t /= 2;
      trial_.x = here_.x + t * direction_;
      const Hypergradient& h = estimator_.at(trial_.x, tau_);
      if (h.status != Status::converged || !is_plausible() || !(h.phi < best_.h.phi)) break;
      keep(h);
    }
    estimator_.restore(best_state_);
    return move(best_, best_effort_, refusals);
  }

  const Visited& visited(const Hypergradient& h) {
    trial_.h = h;
    trial_.phi_error = estimator_.phi_error();
    return trial_;
  }

  void keep(const Hypergradient& h) {
    best_ = visited(h);
    estimator_.save(best_state_);
    best_effort_ = estimator_.effort();
  }

  /// The end of a search.
  Outcome move(const Visited& to, long effort, int refusals) {
    estimator_.learn(here_.h.u, to.h.u);
    floor_.learn(here_, to);
    if (refusals == 0)
      tau_ = tau_ > loosest ? std::max(loosest, 0.8 * tau_) : std::min(loosest, (tau_ < 1e-3 ? 10 : 1.1) * tau_);
    return go_on_from(to, effort) ? Outcome::moved : Outcome::over;
  }

  bool go_on_from(const Visited& to, long effort) {
    effort_ = std::max(effort, effort_ / 2);
    moved_ = to.x - here_.x;
    changed_ = to.h.u - here_.h.u;
    if (inverse_.add(moved_, changed_)) scale_ = moved_.dot(changed_) / changed_.squaredNorm();
    last_step_ = moved_.norm();
    last_fall_ = std::abs(here_.h.phi - to.h.phi);
    here_ = to;
    ++block_steps_;
    block_norm_ = std::min(block_norm_, here_.h.norm);
    return run_.accept(here_.x, here_.h, estimator_.y(), false);
  }

  void begin_block() {
    block_steps_ = 0;
    block_phi_ = here_.h.phi;
    block_norm_ = here_.h.norm;
  }

  /// Whether a block of steps is over that brought less than an epoch of RAHGD must, maths.md (28).
  bool falls_short() {
    if (block_steps_ < Floor::block) return false;
    const bool enough = block_phi_ - here_.h.phi >= floor_.due(block_norm_, block_steps_);
    begin_block();
    return !enough;
  }

  /// An epoch of RAHGD. Fails if none lowers Phi, whatever its constants.
  Outcome run_epoch() {
    Vec last = here_.h.u;
    const auto look = [&](Visited& point, double sigma) {
      point.h = estimator_.at(point.x, std::clamp(sigma / here_.h.norm, tightest, 0.1 * loosest));
      point.phi_error = estimator_.phi_error();
      if (point.h.status == Status::converged) estimator_.learn(last, point.h.u);
      last = point.h.u;
    };
    estimator_.save(before_);
    estimator_.set_thorough(true);
    const auto end = floor_.descend(here_, look, [&] {
      estimator_.restore(before_);
      last = here_.h.u;
    });
    estimator_.set_thorough(false);
    if (!end) return Outcome::failed;
    ++run_.result().restarts;
    if (!go_on_from(*end, estimator_.effort())) return Outcome::over;
    begin_block();
    return Outcome::moved;
  }

  Run& run_;
  const AutoOptions& options_;
  AdaptiveHypergradient estimator_;
  LimitedMemory inverse_;
  Floor floor_;
  Vec direction_, moved_, changed_;
  Visited here_, trial_, best_;
  AdaptiveHypergradient::State at_start_, before_, best_state_;
  bool start_is_known_ = false;
  double root_, tau_ = roughest, slope_ = 0, last_step_ = 0, last_fall_ = 0, scale_ = 0, first_phi_ = 0, block_phi_ = 0,
                block_norm_ = 0;
  long effort_ = 0, best_effort_ = 0;  // for one hypergradient, of late
  int block_steps_ = 0, contradictions_ = 0;
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
