#include "hypertape/outer/step_control.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

/// A length that steps are measured by where nothing is known: one in every entry, or of x.
double unit_length(const Vec& x) { return std::sqrt(static_cast<double>(x.size())) + x.norm(); }

}  // namespace

std::optional<double> find_lipschitz(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol,
                                     std::uint64_t seed) {
  estimator.set_accurate(true);
  if (!warm_up(run, estimator, x, ctol, false)) return std::nullopt;
  const double h = 1e-2 * unit_length(x);
  const double norm = estimator.adapts() ? run.result().gradient_norm : 0;  // else no accuracy is asked for
  double sigma = accuracy(run, ctol, norm), L = 0;
  Vec base, there, direction = Random(seed).direction(x.size());
  for (int powers = 0, refinements = 0; powers < 4;) {
    estimator.at(x, sigma);
    if (!run.accept(x, estimator, false)) return std::nullopt;
    base = estimator.last().u;
    double error = estimator.last().error_estimate;
    there = x + h * direction;
    const Hypergradient& moved = estimator.at(there, sigma);
    if (moved.status != Status::converged) {
      run.end(moved.status, moved.message);
      return std::nullopt;
    }
    error += moved.error_estimate;
    direction = moved.u - base;
    const double change = direction.norm();
    if (estimator.adapts() && error > 0.1 * change && refinements < 12) {  // more error than difference
      ++refinements;
      sigma = std::min(sigma, error) / 10;
      direction = (there - x) / h;
      continue;
    }
    if (change == 0) break;
    L = std::max(L, change / h);
    direction /= change;
    ++powers;
  }
  estimator.set_accurate(false);
  if (L > 0) return L;
  run.end(Status::stagnated, "the hypergradient does not change near the start; give eta");
  return std::nullopt;
}

bool StepControl::start(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol, std::uint64_t seed) {
  if (given_) return true;
  const auto found = find_lipschitz(run, estimator, x, ctol, seed);
  L_ = found.value_or(0);
  estimator.set_corrected(true);
  return found.has_value();
}

double StepControl::value(const Vec& x, double norm) const {
  if (given_) return *given_;
  const double longest = 0.3 * unit_length(x);
  return norm * (1 / (1.2 * L_)) > longest ? longest / norm : 1 / (1.2 * L_);
}

bool StepControl::is_acceptable(const Hypergradient& h) const {
  if (given_ || !best_.any || went_back_) return true;
  if (h.status != Status::converged) return false;
  const double rise = h.phi - anchor_phi_;
  // A correction of first order that is not small beside the rise may be wrong by all of it.
  const bool trusted = std::abs(h.correction) <= 0.5 * std::abs(rise);
  if (trusted && rise > 1e-8 * (std::abs(h.phi) + std::abs(anchor_phi_))) return h.norm <= h.error_estimate;
  return h.norm <= 10 * largest_ || h.norm <= 2 * h.error_estimate;
}

void StepControl::learn(const Vec& at, const Hypergradient& h, const Vec& y, bool anchor) {
  if (given_) return;
  if (last_.any) {
    const double moved = (at - last_.x).norm(), changed = (h.u - last_.u).norm();
    // Without bounds a difference counts that is no small part of u: it is not all error then.
    const double errors = h.error_estimate + last_.error;
    const double known = std::isfinite(errors)                          ? changed - errors
                         : changed > 0.3 * std::max(h.norm, last_.norm) ? changed
                                                                        : 0;
    L_ *= 0.95;  // constants change along a run: what was seen once is forgotten by half in 14 steps
    if (moved > 0) L_ = std::max(L_, known / moved);
  }
  last_.any = true;
  last_.x = at;
  last_.y = y;
  last_.u = h.u;
  last_.phi = h.phi;
  last_.norm = h.norm;
  last_.error = h.error_estimate;
  if (anchor) {
    largest_ = 0;
    anchor_phi_ = h.phi;
  }
  if (anchor || h.phi < best_.phi) best_ = last_;
  largest_ = std::max(largest_, h.norm);
  went_back_ = false;
}

bool StepControl::take_back(Vec& x, HypergradientEstimator& estimator) {
  if (!best_.any) return false;
  x = best_.x;
  if (estimator.last().status != Status::converged) estimator.restart_from(best_.y);
  last_.any = false;
  went_back_ = true;
  L_ *= 2;
  return true;
}

bool StepControl::is_flat(const Vec& x, const Vec& u, HypergradientEstimator& estimator) const {
  const double norm = u.norm();
  if (given_ || norm == 0) return false;
  const Hypergradient& uphill = estimator.at(x + 0.03 * unit_length(x) / norm * u, 0.3 * norm);
  return uphill.status == Status::converged && (uphill.u - u).norm() <= 3 * norm;
}

void say_if_flat(Run& run, const StepControl& steps, HypergradientEstimator& estimator) {
  const Result& r = run.result();
  if (r.status != Status::converged || !steps.is_flat(r.x, r.gradient, estimator)) return;
  run.end(Status::flat, text("|u| = ", r.gradient_norm,
                             ", and no minimum is near: u is hardly larger a little way back; "
                             "|x - start| = ",
                             (r.x - run.start().x).norm(), ", Phi = ", r.phi));
}

}  // namespace hypertape
