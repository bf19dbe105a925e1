#include "hypertape/hypergradient/estimator.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"

namespace hypertape {

const Hypergradient& HypergradientEstimator::at(const Vec& x, double sigma) {
  result_.status = Status::converged;
  result_.error_bound = result_.error_estimate = result_.correction = std::numeric_limits<double>::infinity();
  estimate(x, sigma);
  result_.norm = result_.u.norm();
  if (result_.status == Status::converged && !std::isfinite(result_.norm))
    fail(Status::not_finite, text("hypergradient: |u| = ", result_.norm));
  return result_;
}

void HypergradientEstimator::certify(const Vec& x) {
  if (result_.error_estimate > 0 && !bound_again(x))
    result_.error_bound = result_.error_estimate = std::numeric_limits<double>::infinity();
}

bool HypergradientEstimator::fail(Status status, const std::string& message) {
  result_.status = status;
  result_.message = message;
  return false;
}

bool DescentEstimator::solve_cold(const Vec& x, int steps) { return lower_.solve_cold(x, steps) || lower_failed(); }

bool DescentEstimator::solve_lower(const Vec& x, double sigma, double share, double LowerConstants::*gain) {
  double tolerance = std::numeric_limits<double>::infinity();
  if (adapts() && sigma < tolerance) {
    if (!lower_.find_bounds(x)) return lower_failed();
    const LowerConstants& c = lower_.constants();
    if (c.*gain > 0) tolerance = std::sqrt(c.mu) * share * sigma / (c.*gain);
  }
  if (!lower_.solve(x, tolerance)) return lower_failed();
  // Along a run constants change, most of all at its beginning: they are measured anew after 8, 16, 32, ... calls.
  if (adapts() && ++calls_ >= 8 && (calls_ & (calls_ - 1)) == 0 && !lower_.renew_bounds(x)) return lower_failed();
  result_.lower_gradient = lower_.gradient_norm();
  return true;
}

bool DescentEstimator::evaluate_upper(const Vec& x, const Vec& y) {
  result_.phi = oracle_.grad_f(x, y, gx_, gy_);
  const double size = std::abs(result_.phi) + gx_.norm() + gy_.norm();
  return std::isfinite(size) ||
         fail(Status::not_finite,
              text("upper level: f = ", result_.phi, ", |grad_x f| = ", gx_.norm(), ", |grad_y f| = ", gy_.norm()));
}

void DescentEstimator::bound_error(const Vec& x, double energy_y, double energy_v) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const LowerConstants& c = lower_.constants();
  const bool exact = energy_y == 0 && energy_v == 0;
  result_.error_estimate = exact ? 0 : lower_.has_bounds() ? c.gain_y * energy_y + c.gain_v * energy_v : unknown;
  result_.error_bound = exact || lower_.bounds_hold_at(x) ? result_.error_estimate : unknown;
}

double DescentEstimator::energy(double residual) const {
  return residual == 0 ? 0 : residual / std::sqrt(lower_.constants().mu);
}

double DescentEstimator::energy(const Vec& x, const Vec& b) {
  if (b.isZero(0)) return 0;
  return inverse_energy(oracle_.curvature_at(x, lower_.y()), b, lower_.constants().mu, scratch_);
}

}  // namespace hypertape
