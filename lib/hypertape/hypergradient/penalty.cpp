#include "hypertape/hypergradient/penalty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"

namespace hypertape {

PenaltyGradient::PenaltyGradient(BilevelOracle& oracle, const LowerOptions& options, double lambda, const Point& start,
                                 bool certified, std::uint64_t seed)
    : HypergradientEstimator(oracle, options, start, certified || options.steps == 0, seed),
      lambda_(lambda),
      z_(start.y) {
  require(lambda > 0, "f2ba: lambda = ", lambda, ", must be positive");
  require(oracle.has_second_order(), "f2ba: needs grad_x g, which this oracle does not provide");
}

void PenaltyGradient::restart_from(const Vec& y) {
  y_ = y;
  z_ = y;
}

void PenaltyGradient::estimate(const Vec& x, double sigma) {
  // An error of y or z enters u times lambda: a quarter of sigma for each, the rest is the bias.
  const double tolerance = (constants_.cross > 0 ? constants_.mu * sigma / (4 * lambda_ * constants_.cross)
                                                 : std::numeric_limits<double>::infinity());
  if (!solve_lower(x, tolerance)) return;
  const double error_y = result_.lower_gradient;

  const auto gradient = [&](const Vec& z, Vec& out) {
    oracle_.grad_y_g(x, z, out);
    const double value = oracle_.grad_f(x, z, gx_, gy_);
    out += gy_ / lambda_;
    if (!std::isfinite(value)) out.setConstant(value);
  };
  // Half the step: f/lambda adds to the curvature of g, by at most as much for every lambda that is of use.
  const auto solved = agd(gradient, z_,
                          {.step = options_.alpha / 2,
                           .momentum = options_.beta,
                           .max_iterations = options_.steps > 0 ? options_.steps : options_.most,
                           .tolerance = options_.steps > 0 ? 0 : std::max(tolerance, rounding())},
                          lower_);
  if (solved.status == Status::diverged || solved.status == Status::not_finite) {
    fail(solved.status, "penalised lower level", solved.message);
    return;
  }
  y_.swap(z_);
  const bool finite = evaluate_upper(x);
  y_.swap(z_);
  if (!finite) return;
  const double g_z = oracle_.grad_g(x, z_, lower_at_z_, unused_x_);
  const double g_y = oracle_.grad_g(x, y_, lower_at_y_, unused_x_);
  result_.u = gx_ + lambda_ * (lower_at_z_ - lower_at_y_);
  result_.phi += lambda_ * (g_z - g_y);
  if (certified_)
    result_.error_bound = constants_.c_y * (z_ - y_).norm() +
                          lambda_ * constants_.cross * (solved.gradient_norm + error_y) / constants_.mu;
}

}  // namespace hypertape
