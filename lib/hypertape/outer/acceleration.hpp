#pragma once

#include <vector>

#include "hypertape/outer/run.hpp"

namespace hypertape {

/// The outer loop of RAHGD, PRAHGD and PRAGDA: Nesterov's method that starts anew, without momentum, when it has
/// travelled far. Zeros are filled in by the rules behind them.
struct Acceleration {
  double eta = 0;      ///< step, eta > 0 (theorem 3.4: 1/(4 L-tilde)); 0: 1/L, estimated
  double theta = 0.1;  ///< momentum is 1 - theta, 0 <= theta <= 1; 0: momentum k/(k + 3)
  double B = 0;        ///< restart when k sum |x_{i+1} - x_i|^2 > B^2; infinite: never; 0: B_factor eta max |u| so far
  double B_factor = 10;  ///< forgiving; 1 for problems that saturate, like hypercleaning
  int K = 0;             ///< K >= 0 steps of an epoch without a restart are needed for an end; 0: for perturbed runs
                         ///< ceil(log(20 B sqrt(d) / (theta zeta r)) / log(1 + theta/2)), else none
  bool gradient_restart = false;  ///< restart also when u'(x_{k+1} - x_k) > 0
  bool strict_paper = false;      ///< as printed: K steps without a restart end the run, whatever the gradient
  bool cold_restart = false;      ///< as printed: every epoch first solves for y from zero, with T_init steps
  int T_init = 0;                 ///< T_{t,-1} >= 1, for cold restarts
  double r = 0;                   ///< radius of the perturbation at each restart; 0: none
  bool perturb_start = true;      ///< perturb the start as well; as printed: false, and a start at a saddle stays there
  double zeta = 0.01;             ///< probability with which escaping may fail, for K
  double ctol = 0.3;              ///< hypergradients are certified to max(tolerance/10, ctol |u|)
  std::uint64_t seed = 1;
  std::vector<Vec> noise{};  ///< perturbations to take before random ones

  void describe(OptionList& list);
};

/// Runs the loop; `started` is called when the first epoch has its y.
void accelerate(Run& run, HypergradientEstimator& estimator, const Acceleration& options,
                const std::function<void()>& started = {});

}  // namespace hypertape
