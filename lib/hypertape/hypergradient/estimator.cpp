#include "hypertape/hypergradient/estimator.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/inner/lanczos.hpp"

namespace hypertape {

HypergradientEstimator::HypergradientEstimator(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                               bool certified, std::uint64_t seed)
    : oracle_(oracle), options_(options), certified_(certified), y_(start.y), alpha_given_(options.alpha > 0) {
  require(options.mu >= 0, "mu = ", options.mu, ", must not be negative");
  require(options.l >= options.mu || options.l == 0, "l = ", options.l, ", must be at least mu = ", options.mu);
  require(options.alpha >= 0, "alpha = ", options.alpha, ", must not be negative");
  require(options.beta < 1, "beta = ", options.beta, ", must be less than 1");
  require(options.steps >= 0, "steps = ", options.steps, ", must not be negative");
  require(options.products >= 0, "products = ", options.products, ", must not be negative");
  require(options.cross >= 0, "cross = ", options.cross, ", must not be negative");
  require(options.c_y >= 0, "c_y = ", options.c_y, ", must not be negative");
  require(options.most >= 1, "most = ", options.most, ", must be at least 1");
  const bool steps_known = options.alpha > 0 && options.beta >= 0;
  if (certified || !steps_known)
    constants_ = lower_constants(oracle, start, options, certified ? Wanted::error_bound : Wanted::curvature, seed);
  if (options_.alpha == 0) options_.alpha = 1 / constants_.l;
  if (options_.beta < 0) options_.beta = momentum();
  given_ = options_;
}

const Hypergradient& HypergradientEstimator::at(const Vec& x, double sigma) {
  result_.status = Status::converged;
  const bool step_known = options_.alpha > 0 && std::isfinite(options_.alpha);
  const bool bounds_known = constants_.mu > 0 && std::isfinite(constants_.c_y) && std::isfinite(constants_.cross);
  if (!step_known || (certified_ && !bounds_known)) {
    const bool negative = constants_.mu <= 0 && std::isfinite(constants_.l);
    fail(negative ? Status::indefinite : Status::not_finite, "estimates",
         text("mu = ", constants_.mu, ", l = ", constants_.l, ", |d2g/dxdy| = ", constants_.cross,
              ", c_y = ", constants_.c_y, " at the start: g is not strongly convex there, or not finite"));
    return result_;
  }
  estimate(x, sigma);
  result_.norm = result_.u.norm();
  if (result_.status == Status::converged && !std::isfinite(result_.norm))
    fail(Status::not_finite, "hypergradient", text("|u| = ", result_.norm));
  return result_;
}

void HypergradientEstimator::set_accurate(bool accurate) {
  if (!certified_) return;
  options_.steps = accurate ? 0 : given_.steps;
  options_.products = accurate ? 0 : given_.products;
  options_.beta = accurate ? momentum() : given_.beta;
}

double HypergradientEstimator::momentum() const {
  const double root = std::sqrt(std::max(1.0, constants_.l / constants_.mu));
  return std::min((root - 1) / (root + 1), 1 - 1e-9);
}

double HypergradientEstimator::rounding() const { return 4e-16 * constants_.l * (1 + y_.norm()); }

bool HypergradientEstimator::fail(Status status, const char* part, const std::string& message) {
  result_.status = status;
  result_.message = text(part, ": ", message);
  return false;
}

bool HypergradientEstimator::solve_cold(const Vec& x, int steps) {
  y_.setZero();
  return minimise(x, steps, 0);
}

bool HypergradientEstimator::solve_lower(const Vec& x, double tolerance) {
  if (options_.steps > 0) return minimise(x, options_.steps, 0);
  return minimise(x, options_.most, std::max(tolerance, rounding()));
}

bool HypergradientEstimator::minimise(const Vec& x, int steps, double tolerance) {
  const auto gradient = [&](const Vec& y, Vec& out) { oracle_.grad_y_g(x, y, out); };
  before_ = y_;
  const int most_changes = estimates_ ? 10 : 4;  // of the step
  int shortened = 0;
  bool patient = tolerance == 0 || alpha_given_;
  while (steps > 0) {
    // Steps that are a little too long go round in circles. By this many, good ones have made the gradient smaller.
    const double kappa = std::max(1.0, constants_.l / constants_.mu);
    const double enough = 100 + (options_.beta > 0 ? 20 * std::sqrt(kappa) : 2 * kappa);
    const int round = patient ? steps : static_cast<int>(std::min<double>(steps, enough));
    const auto solved = agd(
        gradient, y_,
        {.step = options_.alpha, .momentum = options_.beta, .max_iterations = round, .tolerance = tolerance}, lower_);
    steps -= round;
    result_.lower_gradient = solved.gradient_norm;
    gradient_at_y_ = solved.status == Status::converged;
    if (gradient_at_y_) return true;
    const bool grew = tolerance == 0 && !alpha_given_ && solved.gradient_norm > 10 * solved.first_norm;
    const bool failed = solved.status == Status::diverged || solved.status == Status::not_finite || grew;
    if (!failed) {
      if (patient || steps == 0 || solved.gradient_norm <= 0.5 * solved.first_norm) continue;
      if (solved.gradient_norm < 1e6 * rounding()) return true;  // as good as the arithmetic allows
      patient = shortened >= most_changes || !fit_constants(x, solved.gradient_norm >= solved.first_norm);
      ++shortened;
      continue;
    }
    y_ = before_;
    const bool hopeless = solved.status == Status::not_finite && solved.iterations == 1;  // at the start itself
    if (!hopeless && estimates_) {
      const RitzBounds ritz = lanczos(oracle_.curvature_at(x, y_), 10, 1);
      if (ritz.smallest < -1e-9 * ritz.largest || ritz.largest <= 0)
        return fail(Status::indefinite, "lower level",
                    text("curvature ", ritz.smallest, ": g is not strongly convex in y at this point"));
    }
    if (hopeless || alpha_given_ || shortened >= most_changes)
      return fail(
          grew ? Status::diverged : solved.status, "lower level",
          grew ? text("|grad_y g| grew from ", solved.first_norm, " to ", solved.gradient_norm) : solved.message);
    ++shortened;
    set_curvature(4 * constants_.l, constants_.mu);
    steps += round;
  }
  return true;
}

bool HypergradientEstimator::fit_constants(const Vec& x, bool circles) {
  if (!estimates_) {
    if (circles) set_curvature(4 * constants_.l, constants_.mu);
    return circles;
  }
  const RitzBounds ritz = lanczos(oracle_.curvature_at(x, y_), 20, 1);
  const double l = std::max(constants_.l, 1.1 * ritz.largest);
  const double mu = given_.mu == 0 && ritz.smallest > 0 ? std::min(constants_.mu, ritz.smallest / 2) : constants_.mu;
  if (!std::isfinite(l) || (l <= 1.01 * constants_.l && mu >= 0.99 * constants_.mu)) return false;
  set_curvature(l, mu);
  return true;
}

void HypergradientEstimator::set_curvature(double l, double mu) {
  const bool accelerated = given_.beta == momentum();
  constants_.l = l;
  constants_.mu = mu;
  options_.alpha = given_.alpha = 1 / l;
  if (accelerated) given_.beta = momentum();
  if (options_.beta > 0) options_.beta = momentum();
}

bool HypergradientEstimator::evaluate_upper(const Vec& x) {
  result_.phi = oracle_.grad_f(x, y_, gx_, gy_);
  const double size = std::abs(result_.phi) + gx_.norm() + gy_.norm();
  return std::isfinite(size) ||
         fail(Status::not_finite, "upper level",
              text("f = ", result_.phi, ", |grad_x f| = ", gx_.norm(), ", |grad_y f| = ", gy_.norm()));
}

}  // namespace hypertape
