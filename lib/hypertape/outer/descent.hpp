#pragma once

#include <optional>
#include <vector>

#include "hypertape/outer/run.hpp"

namespace hypertape {

/// The outer loop of the methods that RAHGD is compared with: x <- x - eta u, perturbed where the gradient is small.
struct Descent {
  std::optional<double> eta{};        ///< step, eta > 0; StepControl
  double r = 0;                       ///< radius of perturbations; 0: none
  std::optional<double> threshold{};  ///< perturb where |u| <= threshold > 0; the tolerance
  int gap = 50;                       ///< and no perturbation for more than this many iterations
  bool perturb_start = false;         ///< perturb the start as well
  double ctol = 0.3;                  ///< hypergradients are certified to max(tolerance/10, ctol |u|)
  std::uint64_t seed = 1;
  std::vector<Vec> noise{};  ///< perturbations to take before random ones

  bool is_perturbed() const { return r > 0 || !noise.empty(); }

  /// `perturbed`: with the options of perturbations; `accurate`: hypergradients can be of any accuracy.
  void describe(OptionList& list, bool perturbed, bool accurate = true);
  void check(std::string_view who) const;
};

/// Runs the loop; `before` is called with k before the k-th hypergradient.
void descend(Run& run, HypergradientEstimator& estimator, const Descent& options,
             const std::function<void(int k)>& before = {});

}  // namespace hypertape
