#include "hypertape/hypergradient/penalty.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

void PenaltyGradient::Penalised::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  oracle_.grad_y_g(x, y, out);
  const double value = oracle_.grad_f(x, y, gx_, gy_);
  out += gy_ / lambda_;
  if (!std::isfinite(value)) out.setConstant(value);
}

PenaltyGradient::PenaltyGradient(BilevelOracle& oracle, const LowerOptions& options, double lambda, const Point& start,
                                 std::uint64_t seed)
    : DescentEstimator(oracle, options, start, AcceleratedLower::Products::allowed, seed),
      given_(options),
      lambda_(lambda),
      penalised_(oracle, lambda),
      start_z_(start.y) {
  require(lambda > 0, "f2ba: lambda = ", lambda, ", must be positive");
  require(oracle.has_second_order(), "f2ba: needs grad_x g, which this oracle does not provide");
}

void PenaltyGradient::restart_from(const Vec& y) {
  DescentEstimator::restart_from(y);
  start_z_ = y;
  if (z_) z_->set_y(y);
}

void PenaltyGradient::set_accurate(bool accurate) {
  DescentEstimator::set_accurate(accurate);
  if (z_) z_->set_accurate(accurate);
}

bool PenaltyGradient::prepare_z(const Vec& x) {
  if (!lower_.find_step(x)) return lower_failed();
  if (z_ && step_ == lower_.alpha()) return true;
  step_ = lower_.alpha();
  LowerOptions options = given_;
  if (options.alpha) options.alpha = step_ / 2;
  options.mu = options.l = std::nullopt;
  if (lower_.constants().mu > 0) {
    options.mu = lower_.constants().mu;
    options.l = std::max(2 / step_, lower_.constants().mu);
  }
  if (z_) start_z_ = z_->y();
  const bool accurate = adapts() && given_.steps.has_value();
  z_.emplace(penalised_, options, Point{x, start_z_}, AcceleratedLower::Products::none, 1);
  z_->set_accurate(accurate);
  return true;
}

void PenaltyGradient::estimate(const Vec& x, double sigma) {
  // An error of y or z enters u times lambda: a quarter of sigma for each, the rest is the bias.
  if (!solve_lower(x, sigma, 1 / (4 * lambda_), &LowerConstants::gain_v)) return;
  if (!prepare_z(x)) return;
  const LowerConstants& c = lower_.constants();
  const bool any = std::isinf(sigma) || !(c.gain_v > 0);
  const double tolerance =
      any ? std::numeric_limits<double>::infinity() : std::sqrt(c.mu) * sigma / (4 * lambda_ * c.gain_v);
  if (!z_->solve(x, tolerance)) {
    fail(z_->status(), "penalised " + z_->message());
    return;
  }
  if (!evaluate_upper(x, z_->y())) return;
  const double g_z = oracle_.grad_g(x, z_->y(), x_at_z_, y_at_z_);
  const double g_y = oracle_.grad_g(x, y(), x_at_y_, y_at_y_);
  result_.u = gx_ + lambda_ * (x_at_z_ - x_at_y_);
  result_.phi += lambda_ * (g_z - g_y);
  result_.correction = 0;  // this is what u is the gradient of
  apart_ = std::sqrt(std::max(0.0, (z_->y() - y()).dot(y_at_z_ - y_at_y_)));
  bound(x);
}

void PenaltyGradient::bound(const Vec& x) {
  bound_error(x, apart_, lambda_ * (energy(z_->gradient_norm()) + energy(result_.lower_gradient)));
}

bool PenaltyGradient::bound_again(const Vec& x) {
  if (!lower_.renew_bounds(x)) return lower_failed();
  bound(x);
  return true;
}

}  // namespace hypertape
