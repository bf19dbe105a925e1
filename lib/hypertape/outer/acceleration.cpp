#include "hypertape/outer/acceleration.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

void Acceleration::describe(OptionList& list) {
  list.add("eta", &eta, "step for x (0: 1/L, estimated)");
  list.add("theta", &theta, "momentum is 1 - theta (0: k/(k+3))");
  list.add("B", &B, "restart when k sum |dx|^2 > B^2 (0: B_factor eta max|u|; inf: never)");
  list.add("B_factor", &B_factor, "for B = 0");
  list.add("K", &K, "steps without a restart that an end needs (0: automatic)");
  list.add("gradient_restart", &gradient_restart, "restart also when u'dx > 0");
  list.add("strict_paper", &strict_paper, "K steps without a restart are the only end, as printed");
  list.add("cold_restart", &cold_restart, "solve for y from zero at each restart, as printed");
  list.add("T_init", &T_init, "steps of a cold restart");
  list.add("r", &r, "radius of perturbations (0: none)");
  list.add("perturb_start", &perturb_start, "perturb the start as well");
  list.add("zeta", &zeta, "probability with which escaping a saddle may fail");
  list.add("ctol", &ctol, "hypergradients are certified to ctol |u|");
  list.add("seed", &seed, "seed of perturbations and estimates");
}

namespace {

void check(const Acceleration& o) {
  require(o.eta >= 0, "eta = ", o.eta, ", must not be negative");
  require(o.theta >= 0 && o.theta <= 1, "theta = ", o.theta, ", must satisfy 0 <= theta <= 1");
  require(o.B >= 0, "B = ", o.B, ", must not be negative");
  require(o.B_factor > 0, "B_factor = ", o.B_factor, ", must be positive");
  require(o.K >= 0, "K = ", o.K, ", must not be negative");
  require(!o.strict_paper || o.K >= 1, "K = ", o.K, ", must be at least 1 with strict_paper");
  require(!o.cold_restart || o.T_init >= 1, "T_init = ", o.T_init, ", must be at least 1 with cold_restart");
  require(o.zeta > 0 && o.zeta < 1, "zeta = ", o.zeta, ", must satisfy 0 < zeta < 1");
  require(o.ctol > 0, "ctol = ", o.ctol, ", must be positive");
}

/// Steps after which a perturbed run has left a saddle with probability 1 - zeta, maths.md (23).
int escape_steps(const Acceleration& o, double B, Index d) {
  const double theta = o.theta > 0 ? o.theta : 0.1;
  const double gain = 20 * B * std::sqrt(static_cast<double>(d)) / (theta * o.zeta * o.r);
  return gain > 1 && std::isfinite(gain) ? static_cast<int>(std::ceil(std::log(gain) / std::log1p(theta / 2))) : 1;
}

/// Line 10: whether the epoch has gone far enough after k steps. The first step, eta |u|, cannot be longer than a B of
/// B_factor eta max|u| with B_factor >= 1, but as long to the last digit: there rounding would decide.
bool has_gone_far(const Acceleration& o, int k, double travelled, double B) {
  const bool within_B = k == 1 && o.B == 0 && o.B_factor >= 1;
  return !within_B && k * travelled > B * B;
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

}  // namespace

void accelerate(Run& run, HypergradientEstimator& estimator, const Acceleration& o,
                const std::function<void()>& started) {
  check(o);
  Noise noise(o.r, o.seed, o.noise);
  const bool perturbed = o.r > 0 || !o.noise.empty();
  const auto new_epoch = [&](const Vec& at) {
    if (!o.cold_restart || estimator.solve_cold(at, o.T_init)) return true;
    run.end(estimator.last().status, estimator.last().message);
    return false;
  };

  Vec x = run.start().x, x_previous, w;
  if (perturbed && o.perturb_start) noise.add_to(x);
  if (!new_epoch(x)) return;
  if (started) started();
  if (!warm_up(run, estimator, x, o.ctol)) return;
  StepLength step_length(o.eta, o.eta > 0 ? 0 : find_step(run, estimator, x, o.ctol, o.seed));
  if (!(step_length.value() > 0)) return;

  Average average(o.K);
  x_previous = x;
  int k = 0, single_steps = 0;
  double travelled = 0, largest = 0, norm = run.result().gradient_norm;
  for (;;) {
    const double momentum = o.theta > 0 ? 1 - o.theta : k / (k + 3.0);
    w = x + momentum * (x - x_previous);                                    // line 4
    const Hypergradient& h = estimator.at(w, accuracy(run, o.ctol, norm));  // lines 5 to 7
    if (h.status == Status::converged) step_length.learn(w, h);
    const double eta = step_length.value();
    largest = std::max(largest, norm = h.norm);
    const double B = o.B > 0 ? o.B : o.B_factor * eta * largest;
    const int K =
        o.K > 0 || !perturbed ? o.K : escape_steps(o, std::isfinite(B) ? B : o.B_factor * eta * largest, x.size());
    if (!run.accept(w, estimator, !o.strict_paper && k >= K)) break;

    x_previous.swap(x);
    x = w - eta * h.u;  // line 8
    const double step = (x - x_previous).squaredNorm();
    average.add(k, w, step, run.result().average);
    travelled += step;
    ++k;
    const bool uphill = o.gradient_restart && h.u.dot(x - x_previous) > 0;
    const bool restart = has_gone_far(o, k, travelled, B) || uphill;  // line 10
    if (restart) {                                                    // lines 11 to 16
      if (k == 1) ++single_steps;
      ++run.result().restarts;
      if (perturbed) noise.add_to(x);
      x_previous = x;
      k = 0;
      travelled = 0;
    }
    if (!run.step(x)) break;
    if (restart && !new_epoch(x)) break;
    if (o.strict_paper && k >= o.K) {
      run.end(Status::converged, text(o.K, " steps without a restart, |u| = ", norm));
      break;
    }
  }
  if (2 * single_steps > std::max(run.result().restarts, 20))
    run.result().message += text("; ", single_steps, " of ", run.result().restarts,
                                 " epochs had one step only: a larger B would use the momentum");
}

}  // namespace hypertape
