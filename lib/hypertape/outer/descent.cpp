#include "hypertape/outer/descent.hpp"

#include "hypertape/core/require.hpp"
#include "hypertape/outer/step_control.hpp"

namespace hypertape {

void Descent::describe(OptionList& list, bool perturbed, bool accurate) {
  list.add("eta", &eta, "step for x (auto: 1/L, followed along the run)");
  if (perturbed) {
    list.add("r", &r, "radius of perturbations (0: none)");
    list.add("threshold", &threshold, "perturb where |u| <= threshold (auto: the tolerance)");
    list.add("gap", &gap, "iterations between perturbations, at least");
    list.add("perturb_start", &perturb_start, "perturb the start as well");
  }
  if (accurate) list.add("ctol", &ctol, "hypergradients are certified to ctol |u|");
  list.add("seed", &seed, "seed of perturbations and estimates");
}

void Descent::check(std::string_view who) const {
  require(!eta || *eta > 0, who, ": eta = ", eta.value_or(0), ", must be positive, or auto");
  require(r >= 0, who, ": r = ", r, ", must not be negative");
  require(!threshold || *threshold > 0, who, ": threshold = ", threshold.value_or(0), ", must be positive, or auto");
  require(gap >= 0, who, ": gap = ", gap, ", must not be negative");
  require(ctol > 0, who, ": ctol = ", ctol, ", must be positive");
}

void descend(Run& run, HypergradientEstimator& estimator, const Descent& o, const std::function<void(int k)>& before) {
  Noise noise(o.r, o.seed, o.noise);
  const bool perturbed = o.is_perturbed();

  Vec x = run.start().x;
  if (perturbed && o.perturb_start) noise.add_to(x);
  if (!warm_up(run, estimator, x, o.ctol, !perturbed)) return;
  StepControl steps(o.eta);
  if (!steps.start(run, estimator, x, o.ctol, o.seed)) return;

  double norm = run.result().gradient_norm;
  int last = -1;  // the iteration of the last perturbation
  for (int k = 0;; ++k) {
    if (before) before(k);
    const Hypergradient& h = estimator.at(x, accuracy(run, o.ctol, norm));
    if (!steps.is_acceptable(h) && steps.take_back(x, estimator)) continue;
    norm = h.norm;
    // A perturbed run ends only where the perturbation had time to grow.
    if (!run.accept(x, estimator, !perturbed || (last >= 0 && k - last >= o.gap))) {
      say_if_flat(run, steps, estimator);
      return;
    }
    steps.learn(x, h, estimator.y(), /*anchor=*/true);
    x -= steps.value(x, h.norm) * h.u;
    const bool small = h.norm <= o.threshold.value_or(run.tolerance());
    if (perturbed && small && (last < 0 || k - last > o.gap)) {
      noise.add_to(x);
      steps.forget();
      ++run.result().restarts;
      last = k;
    }
    if (!run.step(x)) return;
  }
}

}  // namespace hypertape
