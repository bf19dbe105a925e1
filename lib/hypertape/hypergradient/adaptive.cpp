#include "hypertape/hypergradient/adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// More iterations than conjugate gradients can make use of.
int most_products(Index dim) { return 100 + 4 * static_cast<int>(std::min<Index>(dim, 10'000)); }

}  // namespace

AdaptiveHypergradient::AdaptiveHypergradient(BilevelOracle& oracle, const Vec& y, Index directions)
    : oracle_(oracle), cg_(directions), y_(y), v_(Vec::Zero(y.size())) {}

void AdaptiveHypergradient::save(State& state) const {
  state.y = y_;
  state.v = v_;
  state.memory = cg_.memory();
  state.gain_v = gain_v_;
  state.forcing = forcing_;
  state.norm = expected_;
  state.moved = moved_;
}

void AdaptiveHypergradient::restore(const State& state) {
  y_ = state.y;
  v_ = state.v;
  cg_.set_memory(state.memory);
  gain_v_ = state.gain_v;
  forcing_ = state.forcing;
  expected_ = state.norm;
  moved_ = state.moved;
}

bool AdaptiveHypergradient::fail(Status status, const std::string& message) {
  result_.status = status;
  result_.message = message;
  return false;
}

void AdaptiveHypergradient::learn(const Vec& from, const Vec& to) {
  // The largest that was seen, halved at each point: constants change along a run. What v still lacks u lacks, too.
  if (moved_ > 0) gain_y_ = std::max(0.5 * gain_y_, ((to - from).norm() + gain_v_ * error_v_) / moved_);
}

/// y <- y - t w with d2g/dy2 w = grad_y g, up to an energy error of `goal` or a part of |w|. The derivative of g along
/// w decides how long a step may be: it must not have turned to more than half of what it was, the other way.
bool AdaptiveHypergradient::newton_step(const Vec& x, double goal) {
  LinearOperator& H = oracle_.curvature_at(x, y_);
  step_.setZero(y_.size());
  cg_.start(H, gradient_, step_);
  double length = 0;  // |w| in the energy norm
  const int most = most_products(y_.size());
  do {
    if (!cg_.improve(H, step_, std::max(goal, forcing_ * length), 1)) break;
    length = std::sqrt(std::max(0.0, step_.dot(gradient_)));
  } while (cg_.energy_error() > std::max(goal, forcing_ * length) && cg_.iterations() < most);
  if (cg_.status() == Status::not_finite) return fail(Status::not_finite, "lower level: d2g/dy2 is not finite");
  const bool indefinite = cg_.status() == Status::indefinite;
  indefinite_ = indefinite ? indefinite_ + 1 : 0;
  if (indefinite && cg_.iterations() == 0) step_ = gradient_;  // downhill at least
  const double slope = step_.dot(gradient_), first = gradient_.norm();
  if (!(slope > 0)) return true;  // nothing left that arithmetic can see
  double t = indefinite ? (1 + y_.norm()) / (1 + step_.norm()) : 1;
  int failures = 0;
  for (int trial = 0; trial < 60; ++trial) {
    trial_y_ = y_ - t * step_;
    oracle_.grad_y_g(x, trial_y_, trial_gradient_);
    const double there = step_.dot(trial_gradient_);
    const bool finite = std::isfinite(there) && std::isfinite(trial_gradient_.squaredNorm());
    if (finite && there >= -0.5 * slope) {
      // How far the model was off says how accurately the next step is worth computing (Eisenstat and Walker).
      const double model = cg_.residual().norm(), now = trial_gradient_.norm();
      forcing_ = t < 1 || indefinite ? 0.3 : std::clamp(std::abs(now - model) / first, 1e-8, 0.3);
      moved_ += t * std::sqrt(slope);
      y_.swap(trial_y_);
      gradient_.swap(trial_gradient_);
      return true;
    }
    if (!finite && ++failures > 10)
      return fail(Status::not_finite, text("lower level: |grad_y g| = ", trial_gradient_.norm(), " at a step of ",
                                           t * step_.norm(), " from where it is ", first));
    t *= finite ? std::clamp(slope / (slope - there), 0.1, 0.7) : 0.1;
  }
  return fail(Status::stagnated, text("lower level: no step lowers g at |grad_y g| = ", first));
}

bool AdaptiveHypergradient::solve_lower(const Vec& x, double tau) {
  double before = infinity;
  indefinite_ = 0;
  for (int steps = 0; steps < 100; ++steps) {
    if (indefinite_ > 20)
      return fail(Status::indefinite, text("lower level: d2g/dy2 is not positive definite at any of the last ",
                                           indefinite_, " points on the way down, |y| = ", y_.norm()));
    error_y_ = cg_.energy_of(gradient_);
    // Until it is known how much of an error reaches u: a quarter of the way that y has come.
    const bool known = gain_y_ > 0 && expected_ > 0;
    const double goal = known ? tau * expected_ / gain_y_ : 0.25 * moved_;
    if (error_y_ == 0 || (error_y_ <= goal && (known || steps > 0))) return true;
    if (steps > 3 && error_y_ > 0.5 * before) return true;  // rounding; what is left is part of the error
    before = error_y_;
    if (!newton_step(x, 0.3 * goal)) return false;
  }
  return fail(Status::iteration_limit, text("lower level: |grad_y g| = ", gradient_.norm(), " after 100 Newton steps"));
}

bool AdaptiveHypergradient::solve_linear(const Vec& x, double tau) {
  LinearOperator& H = oracle_.curvature_at(x, y_);
  cg_.start(H, gy_, v_);
  const int most = most_products(y_.size());
  for (;;) {
    for (;;) {
      const double size = std::sqrt(std::max(0.0, v_.dot(gy_)));
      const double goal = gain_v_ > 0 && expected_ > 0 ? tau * expected_ / gain_v_ : 0.5 * tau * size;
      if (cg_.energy_error() <= goal || cg_.iterations() >= most) break;
      if (!cg_.improve(H, v_, goal, 1))
        return fail(cg_.status(), text("linear system: d2g/dy2 is ",
                                       cg_.status() == Status::indefinite ? "not positive definite" : "not finite",
                                       " at this point"));
    }
    oracle_.cross_product(x, y_, v_, product_);
    result_.u = gx_ - product_;
    result_.norm = result_.u.norm();
    if (!std::isfinite(result_.norm)) return fail(Status::not_finite, text("hypergradient: |u| = ", result_.norm));
    const double size = std::sqrt(std::max(0.0, v_.dot(gy_)));
    // Slowly forgotten: where u = -d2g/dxdy v tends to zero, the gain for other vectors does not.
    if (size > 0) gain_v_ = std::max(0.9 * gain_v_, product_.norm() / size);
    error_v_ = cg_.energy_error();
    const bool smaller = result_.norm < 0.9 * expected_ || expected_ == 0;  // than was expected
    expected_ = result_.norm;
    if (!smaller || gain_v_ * error_v_ <= 1.5 * tau * result_.norm || cg_.exhausted() || cg_.iterations() >= most)
      return true;
  }
}

double AdaptiveHypergradient::audit(const Vec& x) {
  constexpr int steps = 30;
  LinearOperator& H = oracle_.curvature_at(x, y_);
  RecycledCg plain(0);
  const auto energy = [&](const Vec& r) {
    step_.setZero(y_.size());
    plain.start(H, r, step_);
    if (!plain.improve(H, step_, 0, steps)) return infinity;
    return std::sqrt(std::max(0.0, step_.dot(r)));  // grows with every step, up to the energy norm of H^-1 r
  };
  const Vec residual = cg_.residual();
  const double error = gain_v_ * energy(residual) + std::max(0.0, gain_y_) * energy(gradient_);
  if (error > result_.error_estimate) cg_.set_memory(LimitedMemory(cg_.memory().most()));
  return error;
}

const Hypergradient& AdaptiveHypergradient::at(const Vec& x, double tau) {
  result_.status = Status::converged;
  moved_ = 0;
  try {
    oracle_.grad_y_g(x, y_, gradient_);
    if (!std::isfinite(gradient_.squaredNorm())) {
      fail(Status::not_finite, text("lower level: |grad_y g| = ", gradient_.norm()));
      return result_;
    }
    for (int round = 0; round < 10; ++round) {
      if (!solve_lower(x, tau)) return result_;
      result_.phi = oracle_.grad_f(x, y_, gx_, gy_);
      const double size = std::abs(result_.phi) + gx_.norm() + gy_.norm();
      if (!std::isfinite(size)) {
        fail(Status::not_finite,
             text("upper level: f = ", result_.phi, ", |grad_x f| = ", gx_.norm(), ", |grad_y f| = ", gy_.norm()));
        return result_;
      }
      if (!solve_linear(x, tau)) return result_;
      // |u| may have turned out smaller than was expected when y was solved for.
      if (!(gain_y_ > 0) || gain_y_ * error_y_ <= 2 * tau * result_.norm) break;
    }
  } catch (const NotFinite& bad) {
    fail(Status::not_finite, bad.what());
    return result_;
  }
  correction_ = v_.dot(gradient_);
  result_.phi -= correction_;  // (19)
  result_.lower_gradient = gradient_.norm();
  result_.residual = cg_.residual().norm();
  result_.error_estimate = gain_v_ * error_v_ + std::max(0.0, gain_y_) * error_y_;
  phi_error_ = error_y_ * (error_v_ + (gain_v_ > 0 && gain_y_ > 0 ? 0.5 * gain_y_ / gain_v_ * error_y_ : 0));
  return result_;
}

}  // namespace hypertape
