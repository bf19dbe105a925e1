#pragma once

#include <vector>

#include "hypertape/outer/run.hpp"

namespace hypertape {

/// The outer loop of the methods that RAHGD is compared with: x <- x - eta u, perturbed where the gradient is small.
struct Descent {
  double eta = 0;              ///< step, eta > 0; 0: 1/L, estimated
  double r = 0;                ///< radius of perturbations; 0: none
  double threshold = 0;        ///< perturb where |u| <= threshold; 0: where the stop rule holds
  int gap = 50;                ///< and no perturbation for more than this many iterations
  bool perturb_start = false;  ///< perturb the start as well
  double ctol = 0.3;           ///< hypergradients are certified to max(tolerance/10, ctol |u|)
  std::uint64_t seed = 1;
  std::vector<Vec> noise{};  ///< perturbations to take before random ones

  void describe(OptionList& list, bool perturbed);
};

/// Runs the loop; `before` is called with k before the k-th hypergradient.
void descend(Run& run, HypergradientEstimator& estimator, const Descent& options,
             const std::function<void(int k)>& before = {});

}  // namespace hypertape
