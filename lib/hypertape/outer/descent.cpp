#include "hypertape/outer/descent.hpp"

#include "hypertape/core/require.hpp"

namespace hypertape {

void Descent::describe(OptionList& list, bool perturbed) {
  list.add("eta", &eta, "step for x (0: 1/L, estimated)");
  if (perturbed) {
    list.add("r", &r, "radius of perturbations (0: none)");
    list.add("threshold", &threshold, "perturb where |u| <= threshold (0: where the stop rule holds)");
    list.add("gap", &gap, "iterations between perturbations, at least");
    list.add("perturb_start", &perturb_start, "perturb the start as well");
  }
  list.add("ctol", &ctol, "hypergradients are certified to ctol |u|");
  list.add("seed", &seed, "seed of perturbations and estimates");
}

void descend(Run& run, HypergradientEstimator& estimator, const Descent& o, const std::function<void(int k)>& before) {
  require(o.eta >= 0, "eta = ", o.eta, ", must not be negative");
  require(o.gap >= 0, "gap = ", o.gap, ", must not be negative");
  require(o.ctol > 0, "ctol = ", o.ctol, ", must be positive");
  Noise noise(o.r, o.seed, o.noise);
  const bool perturbed = o.r > 0 || !o.noise.empty();

  Vec x = run.start().x;
  if (perturbed && o.perturb_start) noise.add_to(x);
  if (!warm_up(run, estimator, x, o.ctol)) return;
  StepLength step_length(o.eta, o.eta > 0 ? 0 : find_step(run, estimator, x, o.ctol, o.seed));
  if (!(step_length.value() > 0)) return;

  double norm = run.result().gradient_norm;
  int last = -1;  // the iteration of the last perturbation
  for (int k = 0;; ++k) {
    if (before) before(k);
    const Hypergradient& h = estimator.at(x, accuracy(run, o.ctol, norm));
    norm = h.norm;
    // A perturbed run ends only where the perturbation had time to grow.
    if (!run.accept(x, estimator, !perturbed || (last >= 0 && k - last >= o.gap))) return;
    step_length.learn(x, h);
    x -= step_length.value() * h.u;
    const bool flat = o.threshold > 0 ? h.norm <= o.threshold : h.norm + h.error_bound <= run.tolerance();
    if (perturbed && flat && (last < 0 || k - last > o.gap)) {
      noise.add_to(x);
      ++run.result().restarts;
      last = k;
    }
    if (!run.step(x)) return;
  }
}

}  // namespace hypertape
