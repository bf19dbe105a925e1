#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "hypertape/hypergradient/estimator.hpp"

namespace hypertape::testing {

/// Hypergradients as a script says, whatever the problem: for tests of what solvers make of them.
class ScriptedEstimator final : public HypergradientEstimator {
 public:
  /// Fills in what call number `call`, counted from 1, at x with accuracy sigma is to give.
  using Script = std::function<void(const Vec& x, double sigma, int call, Hypergradient& out)>;

  explicit ScriptedEstimator(Script script, bool adapts = false) : script_(std::move(script)), adapts_(adapts) {}

  const Vec& y() const override { return y_; }
  void restart_from(const Vec& y) override { y_ = y; }
  bool solve_cold(const Vec&, int) override { return true; }
  bool adapts() const override { return adapts_; }

  /// The accuracies that were asked for, one for each call, and the points.
  std::vector<double> sigmas;
  std::vector<Vec> points;
  int certified = 0;          ///< calls of certify that had something to do
  double renewed_bound = -1;  ///< the error bound that certify finds; negative: that of before

 private:
  void estimate(const Vec& x, double sigma) override {
    sigmas.push_back(sigma);
    points.push_back(x);
    script_(x, sigma, static_cast<int>(sigmas.size()), result_);
    result_.error_estimate = std::min(result_.error_estimate, result_.error_bound);
  }
  bool bound_again(const Vec&) override {
    ++certified;
    if (renewed_bound >= 0) result_.error_bound = result_.error_estimate = renewed_bound;
    return true;
  }

  Script script_;
  bool adapts_;
  Vec y_ = Vec::Zero(3);
};

}  // namespace hypertape::testing
