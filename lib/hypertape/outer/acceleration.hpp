#pragma once

#include <optional>
#include <vector>

#include "hypertape/outer/run.hpp"

namespace hypertape {

/// The outer loop of RAHGD, PRAHGD and PRAGDA: Nesterov's method that starts anew, without momentum, when it has
/// travelled far. What is not given is found out.
struct Acceleration {
  std::optional<double> eta{};        ///< step, eta > 0 (theorem 3.4: 1/(4 L-tilde)); StepControl
  std::optional<double> theta = 0.1;  ///< momentum is 1 - theta, 0 < theta <= 1; it is k/(k + 3)
  std::optional<double>
      B{};                 ///< restart when k sum |x_{i+1} - x_i|^2 > B^2; infinite: never; B_factor eta max |u| so far
  double B_factor = 10;    ///< forgiving; 1 for problems that saturate, like hypercleaning
  std::optional<int> K{};  ///< K >= 0 steps of an epoch without a restart are needed for an end; for perturbed runs
                           ///< ceil(log(20 B sqrt(d) / (theta zeta r)) / log(1 + theta/2)), else none
  bool gradient_restart = false;  ///< restart also when u'(x_{k+1} - x_k) > 0
  bool strict_paper = false;      ///< as printed: K steps without a restart end the run, whatever the gradient
  bool cold_restart = false;      ///< as printed: every epoch first solves for y from zero, with T_init steps
  std::optional<int> T_init{};    ///< T_{t,-1} >= 1, for cold restarts, which need it
  double r = 0;                   ///< radius of the perturbation at each restart; 0: none
  bool perturb_start = true;      ///< perturb the start as well; as printed: false, and a start at a saddle stays there
  double zeta = 0.01;             ///< probability with which escaping may fail, for K
  double ctol = 0.3;              ///< hypergradients are certified to max(tolerance/10, ctol |u|)
  std::uint64_t seed = 1;
  std::vector<Vec> noise{};  ///< perturbations to take before random ones

  bool is_perturbed() const { return r > 0 || !noise.empty(); }

  void describe(OptionList& list);
  void check(std::string_view who) const;
};

/// Runs the loop; `started` is called when the first epoch has its y.
void accelerate(Run& run, HypergradientEstimator& estimator, const Acceleration& options,
                const std::function<void()>& started = {});

}  // namespace hypertape
