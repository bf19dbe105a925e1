#include "hypertape/lower/accelerated_lower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"
#include "hypertape/inner/lanczos.hpp"

namespace hypertape {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// (sqrt(kappa) - 1)/(sqrt(kappa) + 1).
double momentum(const LowerConstants& constants) {
  const double root = std::sqrt(std::max(1.0, constants.l / constants.mu));
  return std::min((root - 1) / (root + 1), 1 - 1e-9);
}

bool is_usable(const LowerConstants& c) { return c.mu > 0 && std::isfinite(c.mu) && std::isfinite(c.l); }

/// The gradient at the start itself was not finite: no step can be blamed.
bool failed_at_start(const AgdResult& steps) { return steps.status == Status::not_finite && steps.iterations == 1; }

bool has_failed(const LowerRound& round) {
  const AgdResult& s = round.steps;
  // A count of steps leaves no time to diverge by ten orders of magnitude: one is enough.
  const bool grew = round.counted && !round.step_given && s.gradient_norm > 10 * s.first_norm;
  return s.status == Status::diverged || s.status == Status::not_finite || grew;
}

}  // namespace

LowerDecision decide(const LowerRound& round) {
  const AgdResult& s = round.steps;
  if (s.status == Status::converged) return LowerDecision::accept;
  if (has_failed(round))
    return failed_at_start(s) || round.step_given || round.changes_left == 0 ? LowerDecision::give_up
                                                                             : LowerDecision::shorten;
  if (round.is_patient() || round.is_last || s.gradient_norm <= 0.5 * s.first_norm) return LowerDecision::refine;
  // Sums of many terms round off by more than one; a million times is still eight digits of y.
  return s.gradient_norm < 1e6 * round.rounding ? LowerDecision::accept : LowerDecision::measure;
}

AcceleratedLower::AcceleratedLower(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                   Products products, std::uint64_t seed)
    : oracle_(oracle),
      options_(options),
      products_(products == Products::allowed),
      seed_(seed),
      constants_{.mu = options.mu.value_or(0), .l = options.l.value_or(0)},
      has_curvature_(options.mu && options.l),
      y_(start.y) {
  options.check("lower level");
  if (!options_.cross || !options_.c_y || !has_curvature_) return;
  measure_gains(oracle_, start, options_, seed_, constants_);  // for nothing: all is given
  has_bounds_ = true;
}

void AcceleratedLower::set_y(const Vec& y) {
  y_ = y;
  gradient_at_y_ = false;
}

double AcceleratedLower::alpha() const { return options_.alpha.value_or(1 / constants_.l); }

double AcceleratedLower::beta() const { return accurate_ || !options_.beta ? momentum(constants_) : *options_.beta; }

bool AcceleratedLower::fail(Status status, const std::string& message) {
  status_ = status;
  message_ = text("lower level: ", message);
  return false;
}

bool AcceleratedLower::find_step(const Vec& x) {
  if (has_curvature_ || (options_.alpha && options_.beta && !accurate_)) return true;
  constants_ = curvature_constants(oracle_, {x, y_}, options_, seed_);
  has_curvature_ = is_usable(constants_);
  if (has_curvature_) return true;
  const bool negative = constants_.mu <= 0 && std::isfinite(constants_.l);
  return fail(negative ? Status::indefinite : Status::not_finite,
              text("mu = ", constants_.mu, ", l = ", constants_.l, ", measured at |y| = ", y_.norm(),
                   ": g is not strongly convex in y there, or not finite"));
}

bool AcceleratedLower::find_bounds(const Vec& x) {
  if (has_bounds_) return true;
  // Near y*(x), where they are wanted; at a start like y = 0 d2g/dxdy may be zero.
  constexpr int steps = 50;
  if (!find_step(x) || !minimise(x, steps, std::numeric_limits<double>::min())) return false;
  return renew_bounds(x);
}

bool AcceleratedLower::bounds_hold_at(const Vec& x) const {
  if (!has_bounds_) return false;
  if (options_.mu && options_.cross && options_.c_y) return true;
  const auto near = [](const Vec& a, const Vec& b) {
    return (a - b).norm() <= 0.003 * (std::sqrt(static_cast<double>(a.size())) + a.norm());
  };
  return measured_at_ && near(x, measured_at_->x) && near(y_, measured_at_->y);
}

bool AcceleratedLower::renew_bounds(const Vec& x) {
  const Point& here = measured_at_.emplace(Point{x, y_});
  if (products_) {
    const LowerConstants found = curvature_constants(oracle_, here, {}, seed_);
    if (!is_usable(found))
      return fail(found.mu <= 0 ? Status::indefinite : Status::not_finite,
                  text("curvature between ", 2 * found.mu, " and ", found.l / 1.1,
                       ": g is not strongly convex in y at this point, or not finite"));
    saw_curvature(2 * found.mu);
    if (!options_.mu) constants_.mu = found.mu;
    if (!options_.l) constants_.l = std::max(found.l, constants_.mu);
    has_curvature_ = true;
  }
  measure_gains(oracle_, here, options_, seed_, constants_);
  has_bounds_ = true;
  saw_gain_v(seen_gain_v_);
  has_bounds_ = std::isfinite(constants_.gain_y) && std::isfinite(constants_.gain_v);
  return has_bounds_ || fail(Status::not_finite, text("gains of y and v measured as ", constants_.gain_y, " and ",
                                                      constants_.gain_v, " at |y| = ", y_.norm()));
}

void AcceleratedLower::saw_curvature(double curvature) {
  if (!(curvature < (1 - 1e-6) * constants_.mu) || !(curvature > 0)) return;
  if (options_.mu) {
    warning_ = text("mu = ", *options_.mu, " was given, but g has curvature ", curvature,
                    " in y: error bounds are made with half of that");
    options_.mu.reset();
  }
  constants_.mu = curvature / 2;
  has_bounds_ = false;
}

void AcceleratedLower::saw_gain_v(double gain) {
  seen_gain_v_ = gain;
  if (!has_bounds_ || !(gain > (1 + 1e-6) * constants_.gain_v)) return;
  if (options_.cross) {
    warning_ = text("cross = ", *options_.cross, " was given, but d2g/dxdy has a gain of ",
                    gain * std::sqrt(constants_.mu), ": error bounds are made with a tenth more");
    options_.cross.reset();
  }
  constants_.gain_v = 1.1 * gain;
}

bool AcceleratedLower::solve_cold(const Vec& x, int steps) {
  y_.setZero();
  return find_step(x) && minimise(x, steps, 0);
}

bool AcceleratedLower::solve(const Vec& x, double tolerance) {
  if (is_counted()) return find_step(x) && minimise(x, *options_.steps, 0);
  if (tolerance < infinity) return find_step(x) && minimise(x, most(), std::max(tolerance, rounding()));
  return look(x);
}

bool AcceleratedLower::look(const Vec& x) {
  oracle_.grad_y_g(x, y_, workspace_.gradient);
  gradient_norm_ = workspace_.gradient.norm();
  gradient_at_y_ = std::isfinite(gradient_norm_);
  return gradient_at_y_ || fail(Status::not_finite, text("|grad_y g| = ", gradient_norm_));
}

bool AcceleratedLower::minimise(const Vec& x, int steps, double tolerance) {
  const auto gradient = [&](const Vec& y, Vec& out) { oracle_.grad_y_g(x, y, out); };
  before_ = y_;
  LowerRound round{.counted = tolerance == 0,
                   .step_given = options_.alpha.has_value(),
                   .changes_left = products_ ? 10 : 4};  // a step a million times too long, or 256 times, can be mended
  while (steps > 0) {
    // Steps that are a little too long go round in circles. By this many, good ones have made the gradient smaller.
    const double kappa = std::max(1.0, constants_.l / constants_.mu);
    const double enough = 100 + (beta() > 0 ? 20 * std::sqrt(kappa) : 2 * kappa);
    const int most = round.is_patient() ? steps : static_cast<int>(std::min<double>(steps, enough));
    round.steps =
        agd(gradient, y_, {.step = alpha(), .momentum = beta(), .max_iterations = most, .tolerance = tolerance},
            workspace_);
    steps -= most;
    round.is_last = steps == 0;
    round.rounding = rounding();
    gradient_norm_ = round.steps.gradient_norm;
    gradient_at_y_ = round.steps.status == Status::converged;
    const LowerDecision next = decide(round);
    switch (next) {
      case LowerDecision::accept:
        return true;
      case LowerDecision::refine:
        break;
      case LowerDecision::measure:
        --round.changes_left;
        round.settled = !measure_again(x, round.steps.gradient_norm >= round.steps.first_norm);
        break;
      case LowerDecision::shorten:
      case LowerDecision::give_up:
        y_ = before_;
        if (!failed_at_start(round.steps) && is_indefinite(x)) return false;
        if (next == LowerDecision::give_up) {
          const AgdResult& s = round.steps;
          return s.message.empty() ? fail(Status::diverged, text("|grad_y g| grew from ", s.first_norm, " to ",
                                                                 s.gradient_norm, " with steps of ", alpha()))
                                   : fail(s.status, s.message);
        }
        --round.changes_left;
        constants_.l *= 4;
        steps += most;
    }
  }
  return true;
}

bool AcceleratedLower::is_indefinite(const Vec& x) {
  if (!products_) return false;
  const RitzBounds ritz = lanczos(oracle_.curvature_at(x, y_), 10, 1);
  if (ritz.smallest >= -1e-9 * ritz.largest && ritz.largest > 0) return false;
  fail(Status::indefinite, text("curvature ", ritz.smallest, ": g is not strongly convex in y at this point"));
  return true;
}

bool AcceleratedLower::measure_again(const Vec& x, bool circles) {
  if (!products_) {
    if (circles) constants_.l *= 4;
    return circles;
  }
  const RitzBounds ritz = lanczos(oracle_.curvature_at(x, y_), 20, 1);
  const double l = std::max(constants_.l, 1.1 * ritz.largest);
  const double mu = !options_.mu && ritz.smallest > 0 ? std::min(constants_.mu, ritz.smallest / 2) : constants_.mu;
  if (!std::isfinite(l) || (l <= 1.01 * constants_.l && mu >= 0.99 * constants_.mu)) return false;
  constants_.l = l;
  constants_.mu = mu;
  return true;
}

}  // namespace hypertape
