#include "hypertape/lower/newton_lower.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

LowerDecision decide(const NewtonRound& round) {
  if (round.error == 0) return LowerDecision::accept;
  if (round.thorough && round.steps == 0) return LowerDecision::refine;
  if (round.error <= round.target() && (round.goal || round.steps > 0)) return LowerDecision::accept;
  if (round.steps > 3 && round.error > 0.5 * round.before) return LowerDecision::accept;  // rounding: part of the error
  if (round.indefinite > 20 || round.steps >= 100) return LowerDecision::give_up;
  return LowerDecision::refine;
}

double NewtonTrial::next() const {
  if (done > 0) return std::sqrt(done * high);
  return t * (finite ? std::clamp(slope / (slope - there), 0.1, 0.7) : 0.1);
}

LowerDecision decide(const NewtonTrial& trial) {
  if (trial.is_too_long()) {
    if (trial.high <= 2 * trial.done) return LowerDecision::accept;  // nearly as far as is known to be possible
    return trial.not_finite > 10 || trial.trials >= 60 ? LowerDecision::give_up : LowerDecision::shorten;
  }
  const bool half_way = trial.there <= 0.5 * trial.slope;  // to the minimum along w
  return half_way || std::isinf(trial.high) || trial.high <= 2 * trial.t ? LowerDecision::accept
                                                                         : LowerDecision::refine;
}

void NewtonLower::save(State& state) {
  state.y = y_;
  state.memory = cg_.memory();
  state.moved = moved_;
  state.forcing = forcing_;
}

void NewtonLower::restore(const State& state) {
  y_ = state.y;
  cg_.set_memory(state.memory);
  moved_ = state.moved;
  forcing_ = state.forcing;
}

bool NewtonLower::fail(Status status, const std::string& message) {
  status_ = status;
  message_ = "lower level: " + message;
  return false;
}

bool NewtonLower::look(const Vec& x) {
  status_ = Status::converged;
  moved_ = 0;
  ++effort_;
  oracle_.grad_y_g(x, y_, gradient_);
  return std::isfinite(gradient_.squaredNorm()) || fail(Status::not_finite, text("|grad_y g| = ", gradient_.norm()));
}

bool NewtonLower::solve(const Vec& x, std::optional<double> goal) {
  NewtonRound round{.goal = goal, .thorough = thorough_};
  indefinite_ = 0;
  for (;; ++round.steps) {
    error_ = cg_.energy_of(gradient_);
    round.error = error_;
    round.moved = moved_;
    round.indefinite = indefinite_;
    const LowerDecision next = decide(round);
    if (next == LowerDecision::accept) return true;
    if (next == LowerDecision::give_up) break;
    if (is_spent()) return fail(Status::iteration_limit, text("|grad_y g| = ", gradient_.norm(), " when time was up"));
    round.before = error_;
    if (!step(x, 0.3 * round.target(), goal ? forcing_ : std::max(forcing_, 0.1))) return false;
  }
  if (indefinite_ > 0)
    return fail(Status::indefinite, text("d2g/dy2 is not positive definite at any of the last ", indefinite_,
                                         " points on the way down, |y| = ", y_.norm()));
  return fail(Status::iteration_limit,
              text("|grad_y g| = ", gradient_.norm(), " after ", round.steps, " Newton steps"));
}

/// y <- y - t w with d2g/dy2 w = grad_y g, up to an energy error of `goal` or a part of |w|.
bool NewtonLower::step(const Vec& x, double goal, double forcing) {
  LinearOperator& H = oracle_.curvature_at(x, y_);
  step_.setZero(y_.size());
  cg_.start(H, gradient_, step_);
  double length = 0;  // |w| in the energy norm
  do {
    if (!cg_.improve(H, step_, cg_.iterations() < least_products() ? 0 : std::max(goal, forcing * length), 1)) break;
    length = std::sqrt(std::max(0.0, step_.dot(gradient_)));
  } while ((cg_.energy_error() > std::max(goal, forcing * length) || cg_.iterations() < least_products()) &&
           !cg_.exhausted() && cg_.iterations() < most_products() && !is_spent());
  if (cg_.status() == Status::not_finite) return fail(Status::not_finite, "d2g/dy2 is not finite");
  const bool indefinite = cg_.status() == Status::indefinite;
  indefinite_ = indefinite ? indefinite_ + 1 : 0;
  if (indefinite && cg_.iterations() == 0) step_ = gradient_;  // downhill at least
  return search_line(x, indefinite);
}

/// How far to go along -w: the derivative of g decides, which costs what a value would.
bool NewtonLower::search_line(const Vec& x, bool indefinite) {
  NewtonTrial trial{.slope = step_.dot(gradient_)};
  const double first = gradient_.norm();
  if (!(trial.slope > 0)) return true;  // nothing left that arithmetic can see
  if (indefinite) trial.t = (1 + y_.norm()) / (1 + step_.norm());
  for (;; trial.t = trial.next()) {
    ++trial.trials;
    ++effort_;
    trial_y_ = y_ - (trial.t - trial.done) * step_;
    oracle_.grad_y_g(x, trial_y_, trial_gradient_);
    trial.there = step_.dot(trial_gradient_);
    trial.finite = std::isfinite(trial.there) && std::isfinite(trial_gradient_.squaredNorm());
    if (!trial.finite) ++trial.not_finite;
    if (trial.is_too_long()) trial.high = trial.t;
    const LowerDecision next = decide(trial);
    if (!trial.is_too_long()) {
      moved_ += (trial.t - trial.done) * std::sqrt(trial.slope);
      trial.done = trial.t;
      y_.swap(trial_y_);
      gradient_.swap(trial_gradient_);
    }
    if (next == LowerDecision::accept) {
      // How far the model was off says how accurately the next step is worth computing (Eisenstat and Walker).
      const double off = std::abs(gradient_.norm() - cg_.residual().norm()) / first;
      forcing_ = trial.done < 1 || indefinite ? 0.3 : std::clamp(off, 1e-8, 0.3);
      return true;
    }
    if (next == LowerDecision::give_up)
      return trial.finite ? fail(Status::stagnated, text("no step lowers g at |grad_y g| = ", first))
                          : fail(Status::not_finite, text("|grad_y g| = ", trial_gradient_.norm(), " at a step of ",
                                                          trial.t * step_.norm(), " from where it is ", first));
  }
}

}  // namespace hypertape
