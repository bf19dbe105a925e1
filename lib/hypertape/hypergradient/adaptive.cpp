#include "hypertape/hypergradient/adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

AdaptiveHypergradient::AdaptiveHypergradient(BilevelOracle& oracle, const Vec& y, Index directions)
    : oracle_(oracle), lower_(oracle, y, directions), v_(Vec::Zero(y.size())) {}

void AdaptiveHypergradient::save(State& state) {
  lower_.save(state.lower);
  state.v = v_;
  state.gain_v = gain_v_;
  state.norm = expected_;
}

void AdaptiveHypergradient::restore(const State& state) {
  lower_.restore(state.lower);
  v_ = state.v;
  gain_v_ = state.gain_v;
  expected_ = state.norm;
}

bool AdaptiveHypergradient::fail(Status status, const std::string& message) {
  result_.status = status;
  result_.message = message;
  return false;
}

void AdaptiveHypergradient::learn(const Vec& from, const Vec& to) {
  // The largest that was seen, halved at each point: constants change along a run. What may be errors of v does not
  // count, as far as nine tenths of the change: with all of it, 20 Newsgroups takes 1.4 times the calls to each loss.
  const double moved = lower_.moved(), change = (to - from).norm();
  if (moved > 0) gain_y_ = std::max(0.5 * gain_y_, std::max(0.1 * change, change - gain_v_ * error_v_) / moved);
}

bool AdaptiveHypergradient::solve_linear(const Vec& x, double tau) {
  LinearOperator& H = oracle_.curvature_at(x, lower_.y());
  RecycledCg& cg = lower_.cg();
  // In a minimax problem, where f is a multiple of -g, v is that multiple of the error of y: zero is as good as y is.
  const Vec& gradient = lower_.gradient();
  const double multiple = gradient.isZero(0) ? 0 : gy_.dot(gradient) / gradient.squaredNorm();
  if ((gy_ - multiple * gradient).norm() <= 1e-12 * gy_.norm()) v_.setZero();
  cg.start(H, gy_, v_);
  const int most = lower_.most_products();
  for (;;) {
    for (;;) {
      const double size = std::sqrt(std::max(0.0, v_.dot(gy_)));
      const double goal = gain_v_ > 0 && expected_ > 0 ? tau * expected_ / gain_v_ : 0.5 * tau * size;
      const bool least = cg.iterations() >= lower_.least_products();
      if ((least && cg.energy_error() <= goal) || cg.iterations() >= most || cg.exhausted()) break;
      if (lower_.is_spent()) return fail(Status::iteration_limit, "linear system: not solved when time was up");
      if (!cg.improve(H, v_, least ? goal : 0, 1))
        return fail(cg.status(),
                    text("linear system: d2g/dy2 is ",
                         cg.status() == Status::indefinite ? "not positive definite" : "not finite", " at this point"));
    }
    if (v_.isZero(0)) {
      result_.u = gx_;
    } else {
      oracle_.cross_product(x, lower_.y(), v_, product_);
      result_.u = gx_ - product_;
    }
    result_.norm = result_.u.norm();
    if (!std::isfinite(result_.norm)) return fail(Status::not_finite, text("hypergradient: |u| = ", result_.norm));
    const double size = std::sqrt(std::max(0.0, v_.dot(gy_)));
    // Slowly forgotten: where u = -d2g/dxdy v tends to zero, the gain for other vectors does not.
    if (size > 0) gain_v_ = std::max(0.9 * gain_v_, product_.norm() / size);
    error_v_ = cg.energy_error();
    const bool smaller = result_.norm < 0.9 * expected_ || expected_ == 0;  // than was expected
    expected_ = result_.norm;
    if (!smaller || gain_v_ * error_v_ <= 1.5 * tau * result_.norm || cg.exhausted() || cg.iterations() >= most)
      return true;
  }
}

double AdaptiveHypergradient::audit(const Vec& x) {
  constexpr int steps = 30;
  LinearOperator& H = oracle_.curvature_at(x, lower_.y());
  RecycledCg plain(0), &cg = lower_.cg();
  const auto energy = [&](const Vec& r) {
    step_.setZero(lower_.y().size());
    plain.start(H, r, step_);
    if (!plain.improve(H, step_, 0, steps)) return infinity;
    return std::sqrt(std::max(0.0, step_.dot(r)));  // grows with every step, up to the energy norm of H^-1 r
  };
  const Vec residual = cg.residual();
  const double error = gain_v_ * energy(residual) + std::max(0.0, gain_y_) * energy(lower_.gradient());
  if (error > result_.error_estimate) cg.forget();
  return error;
}

const Hypergradient& AdaptiveHypergradient::at(const Vec& x, double tau, long limit) {
  result_.status = Status::converged;
  lower_.allow(limit);
  const long before = lower_.effort();
  estimate(x, tau);
  effort_ = lower_.effort() - before;
  return result_;
}

void AdaptiveHypergradient::estimate(const Vec& x, double tau) {
  try {
    if (!lower_.look(x)) return lower_failed();
    for (int round = 0; round < 10; ++round) {
      const bool known = gain_y_ > 0 && expected_ > 0;
      const auto goal = known ? std::optional(tau * expected_ / gain_y_) : std::nullopt;
      if (!lower_.solve(x, goal)) return lower_failed();
      result_.phi = oracle_.grad_f(x, lower_.y(), gx_, gy_);
      const double size = std::abs(result_.phi) + gx_.norm() + gy_.norm();
      if (!std::isfinite(size)) {
        fail(Status::not_finite,
             text("upper level: f = ", result_.phi, ", |grad_x f| = ", gx_.norm(), ", |grad_y f| = ", gy_.norm()));
        return;
      }
      if (!solve_linear(x, tau)) return;
      // |u| may have turned out smaller than was expected when y was solved for, unless y is as good as rounding
      // allows.
      if (!known || lower_.error() > *goal || gain_y_ * lower_.error() <= 2 * tau * result_.norm) break;
    }
  } catch (const NotFinite& bad) {
    fail(Status::not_finite, bad.what());
    return;
  }
  correction_ = v_.dot(lower_.gradient());
  result_.phi -= correction_;  // (19)
  result_.lower_gradient = lower_.gradient().norm();
  result_.residual = lower_.cg().residual().norm();
  result_.error_estimate = gain_v_ * error_v_ + std::max(0.0, gain_y_) * lower_.error();
  phi_error_ =
      lower_.error() * (error_v_ + (gain_v_ > 0 && gain_y_ > 0 ? 0.5 * gain_y_ / gain_v_ * lower_.error() : 0));
}

}  // namespace hypertape
