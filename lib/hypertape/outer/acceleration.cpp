#include "hypertape/outer/acceleration.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/outer/epoch.hpp"
#include "hypertape/outer/step_control.hpp"

namespace hypertape {

void Acceleration::describe(OptionList& list) {
  list.add("eta", &eta, "step for x (auto: 1/L, followed along the run)");
  list.add("theta", &theta, "momentum is 1 - theta (auto: it is k/(k+3))");
  list.add("B", &B, "restart when k sum |dx|^2 > B^2 (auto: B_factor eta max|u|; inf: never)");
  list.add("B_factor", &B_factor, "for B = auto");
  list.add("K", &K, "steps without a restart that an end needs (auto: by theory if perturbed, else 0)");
  list.add("gradient_restart", &gradient_restart, "restart also when u'dx > 0");
  list.add("strict_paper", &strict_paper, "K steps without a restart are the only end, as printed");
  list.add("cold_restart", &cold_restart, "solve for y from zero at each restart, as printed");
  list.add("T_init", &T_init, "steps of a cold restart, which needs it");
  list.add("r", &r, "radius of perturbations (0: none)");
  list.add("perturb_start", &perturb_start, "perturb the start as well");
  list.add("zeta", &zeta, "probability with which escaping a saddle may fail");
  list.add("ctol", &ctol, "hypergradients are certified to ctol |u|");
  list.add("seed", &seed, "seed of perturbations and estimates");
}

void Acceleration::check(std::string_view who) const {
  require(!eta || *eta > 0, who, ": eta = ", eta.value_or(0), ", must be positive, or auto");
  require(!theta || (*theta > 0 && *theta <= 1), who, ": theta = ", theta.value_or(0),
          ", must satisfy 0 < theta <= 1, or auto");
  require(!B || *B > 0, who, ": B = ", B.value_or(0), ", must be positive, or auto");
  require(B_factor > 0, who, ": B_factor = ", B_factor, ", must be positive");
  require(!K || *K >= 0, who, ": K = ", K.value_or(0), ", must not be negative");
  require(!strict_paper || K.value_or(0) >= 1, who, ": K = ", K.value_or(0), ", must be at least 1 with strict_paper");
  require(!T_init || *T_init >= 1, who, ": T_init = ", T_init.value_or(0), ", must be at least 1");
  require(!cold_restart || T_init, who, ": T_init = auto, must be given with cold_restart");
  require(cold_restart || !T_init, who, ": T_init = ", T_init.value_or(0), ", is of use with cold_restart only");
  require(r >= 0, who, ": r = ", r, ", must not be negative");
  require(zeta > 0 && zeta < 1, who, ": zeta = ", zeta, ", must satisfy 0 < zeta < 1");
  require(ctol > 0, who, ": ctol = ", ctol, ", must be positive");
}

namespace {

/// Steps after which a perturbed run has left a saddle with probability 1 - zeta, maths.md (23).
int escape_steps(const Acceleration& o, double B, Index d) {
  const double theta = o.theta.value_or(0.1);
  const double gain = 20 * B * std::sqrt(static_cast<double>(d)) / (theta * o.zeta * o.r);
  return gain > 1 && std::isfinite(gain) ? static_cast<int>(std::ceil(std::log(gain) / std::log1p(theta / 2))) : 1;
}

/// Line 10: whether the epoch has gone far enough. The first step, eta |u|, cannot be longer than a B of
/// B_factor eta max|u| with B_factor >= 1, but as long to the last digit: there rounding would decide.
bool has_gone_far(const Acceleration& o, const Epoch& epoch, double B) {
  const bool within_B = epoch.steps() == 1 && !o.B && o.B_factor >= 1;
  return !within_B && epoch.has_gone(B);
}

/// The paper's output: the mean of w_0 .. w_{K_0}, K_0 the shortest of the last K/2 steps of the epoch.
class Average {
 public:
  explicit Average(int K) : K_(K) {}
  void add(int k, const Vec& w, double step, Vec& best) {
    if (K_ == 0) return;
    if (k == 0) {
      sum_ = w;
      shortest_ = std::numeric_limits<double>::infinity();
    } else {
      sum_ += w;
    }
    if (k < K_ / 2 || k >= K_ || step >= shortest_) return;
    shortest_ = step;
    best = sum_ / (k + 1);
  }

 private:
  int K_;
  double shortest_ = 0;
  Vec sum_;
};

/// Notices epochs that lead nowhere, such as those of perturbations that are larger than the steps.
class Progress {
 public:
  /// False, and the run is over, after 1,000 restarts without a lower Phi or a shorter u. An epoch of the theory lowers
  /// Phi; ten times as many would cost ten times the time until somebody is told.
  bool goes_on(Run& run, const Hypergradient& h) {
    ++idle_;
    if (h.phi < phi_ || h.norm < norm_) idle_ = 0;
    phi_ = std::min(phi_, h.phi);
    norm_ = std::min(norm_, h.norm);
    if (idle_ < 1000) return true;
    run.end(Status::stagnated, text(idle_, " restarts without a Phi below ", phi_, " or a |u| below ", norm_,
                                    "; is the radius r of perturbations, or the step, too large?"));
    return false;
  }

 private:
  int idle_ = 0;
  double phi_ = std::numeric_limits<double>::infinity(), norm_ = phi_;
};

}  // namespace

void accelerate(Run& run, HypergradientEstimator& estimator, const Acceleration& o,
                const std::function<void()>& started) {
  Noise noise(o.r, o.seed, o.noise);
  const bool perturbed = o.is_perturbed();
  const auto new_epoch = [&](const Vec& at) {
    if (!o.cold_restart || estimator.solve_cold(at, *o.T_init)) return true;
    run.end(estimator.last().status, estimator.last().message);
    return false;
  };

  Vec x = run.start().x;
  if (perturbed && o.perturb_start) noise.add_to(x);
  if (!new_epoch(x)) return;
  if (started) started();
  const bool may_end_at_once = !perturbed && !o.strict_paper && o.K.value_or(0) == 0;
  if (!warm_up(run, estimator, x, o.ctol, may_end_at_once)) return;
  StepControl steps(o.eta);
  if (!steps.start(run, estimator, x, o.ctol, o.seed)) return;

  Average average(o.K.value_or(0));
  Progress progress;
  Epoch epoch(x);
  int single_steps = 0;
  double largest = 0, norm = run.result().gradient_norm;
  const auto restart_at = [&](const Vec& at) {
    ++run.result().restarts;
    epoch.begin(at);
  };
  for (;;) {
    const int k = epoch.steps();
    const Vec& w = epoch.extrapolate(o.theta ? 1 - *o.theta : k / (k + 3.0));  // line 4
    const Hypergradient& h = estimator.at(w, accuracy(run, o.ctol, norm));     // lines 5 to 7
    if (!steps.is_acceptable(h) && steps.take_back(x, estimator)) {
      restart_at(x);
      continue;
    }
    if (h.status == Status::converged) steps.learn(w, h, estimator.y(), /*anchor=*/k == 0);
    const double eta = steps.value(w, h.norm);
    largest = std::max(largest, norm = h.norm);
    const double B = o.B.value_or(o.B_factor * eta * largest);
    const int K = o.K         ? *o.K
                  : perturbed ? escape_steps(o, std::isfinite(B) ? B : o.B_factor * eta * largest, x.size())
                              : 0;
    if (!run.accept(w, estimator, !o.strict_paper && k >= K)) {
      say_if_flat(run, steps, estimator);
      break;
    }

    average.add(k, w, epoch.descend(eta, h.u), run.result().average);  // line 8
    x = epoch.x();
    const bool uphill = o.gradient_restart && h.u.dot(x - epoch.x_previous()) > 0;
    const bool restart = has_gone_far(o, epoch, B) || uphill;  // line 10
    if (restart) {                                             // lines 11 to 16
      if (epoch.steps() == 1) ++single_steps;
      if (perturbed) {
        noise.add_to(x);
        steps.forget();
      }
      restart_at(x);
    }
    if (!run.step(x)) break;
    if (restart && !progress.goes_on(run, h)) break;
    if (restart && !new_epoch(x)) break;
    if (o.strict_paper && epoch.steps() >= *o.K) {
      run.end(Status::converged, text(*o.K, " steps without a restart, |u| = ", norm));
      break;
    }
  }
  if (2 * single_steps > std::max(run.result().restarts, 20))
    run.result().message += text("; ", single_steps, " of ", run.result().restarts,
                                 " epochs had one step only: a larger B would use the momentum");
}

}  // namespace hypertape
