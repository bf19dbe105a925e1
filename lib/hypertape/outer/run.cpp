#include "hypertape/outer/run.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

void StopRule::describe(OptionList& list) {
  list.add("tolerance", &tolerance, "epsilon: converged when |u| + its error <= tolerance (0: never)");
  list.add("rtol", &rtol, "or when |u| + its error <= rtol times the first |u|");
  list.add("max_iterations", &max_iterations, "budget of outer iterations");
  list.add("max_calls", &max_calls, "budget of oracle calls");
  list.add("max_seconds", &max_seconds, "budget of time");
}

Run::Run(BilevelOracle& oracle, const StopRule& stop, const Point& start, const Observer& observer)
    : oracle_(oracle), stop_(stop), start_(start), observer_(observer) {
  require(stop.tolerance >= 0, "tolerance = ", stop.tolerance, ", must not be negative");
  require(stop.max_iterations >= 0, "max_iterations = ", stop.max_iterations, ", must not be negative");
  require(stop.rtol >= 0 && stop.rtol < 1, "rtol = ", stop.rtol, ", must satisfy 0 <= rtol < 1");
  if (start_.y.size() == 0) start_.y.setZero(oracle.dims().y);
  require_vector("start", "x", start_.x, oracle.dims().x);
  require_vector("start", "y", start_.y, oracle.dims().y);
  oracle_.limit({stop.max_calls, stop.max_seconds});
  result_.x = result_.last = start_.x;
  result_.y = start_.y;
}

void Run::end(Status status, const std::string& message) {
  result_.status = status;
  result_.message = message;
}

bool Run::notify(const Vec& x) {
  result_.counts = oracle_.counts();
  result_.seconds = oracle_.seconds();
  if (!observer_) return true;
  const auto begin = std::chrono::steady_clock::now();
  const bool go_on =
      observer_({result_.iterations, x, result_.x, result_.y, result_.gradient, result_.phi, result_.gradient_norm,
                 result_.error_bound, result_.counts, result_.seconds, result_.restarts, result_.error_estimate});
  oracle_.exclude(std::chrono::steady_clock::now() - begin);
  return go_on;
}

/// Whether the error bound, not the gradient, is what stands between a run and its tolerance, and has for long.
bool Run::is_stuck(const Hypergradient& h) {
  if (h.norm > tolerance() || h.error_bound <= tolerance() || h.error_bound < 0.99 * best_) {
    best_ = h.error_bound;
    since_best_ = 0;
  }
  return ++since_best_ > 1000;
}

bool Run::accept(const Vec& point, const Hypergradient& h, const Vec& y, bool may_converge) {
  if (h.status != Status::converged) {
    end(h.status, h.message);
    return false;
  }
  result_.x = result_.last = point;
  result_.y = y;
  result_.gradient = h.u;
  result_.phi = h.phi;
  result_.gradient_norm = h.norm;
  result_.error_bound = h.error_bound;
  result_.error_estimate = h.error_estimate;
  if (result_.iterations == 0) first_norm_ = std::max(first_norm_, h.norm);  // the first ones are rough
  if (h.norm > 1e10 * (1 + first_norm_)) {
    end(Status::diverged, text("|u| grew from ", first_norm_, " to ", h.norm, " in ", result_.iterations,
                               " iterations; is the step too long?"));
    return false;
  }
  if (certified() && std::isinf(h.error_estimate) && is_stuck(h)) {
    end(Status::stagnated, text("|u| = ", h.norm, ", but its error bound ", h.error_bound, " does not fall below ",
                                tolerance(), ": more accurate hypergradients are needed (steps, products, lambda)"));
    return false;
  }
  if (may_converge && certified() && h.norm + std::min(h.error_bound, h.error_estimate) <= tolerance()) {
    end(Status::converged, h.error_bound <= h.error_estimate
                               ? text("|u| = ", h.norm, " with an error of at most ", h.error_bound)
                               : text("|u| = ", h.norm, " with an error of about ", h.error_estimate));
    notify(point);
    return false;
  }
  return true;
}

bool Run::step(const Vec& x) {
  result_.last = x;
  ++result_.iterations;
  const double norm = x.norm(), first = start_.x.norm();
  if (norm > 1e10 * (1 + first)) {
    end(std::isfinite(norm) ? Status::diverged : Status::not_finite,
        text("|x| grew from ", first, " to ", norm, " in ", result_.iterations, " iterations; is the step too long?"));
    return false;
  }
  if (!notify(x)) {
    end(Status::interrupted, text("by the observer, after ", result_.iterations, " iterations"));
    return false;
  }
  if (result_.iterations >= stop_.max_iterations) {
    end(Status::iteration_limit, text(result_.iterations, " iterations, |u| = ", result_.gradient_norm));
    return false;
  }
  return true;
}

namespace {

/// Caught by handlers of Error and by those of RunFailed.
template <class Error>
class FailedWith final : public Error, public RunFailed {
 public:
  FailedWith(const Error& error, Result so_far) : Error(error), RunFailed(std::move(so_far)) {}
};

/// Throws the exception at hand again, with the result so far.
[[noreturn]] void rethrow_with(Result& result) {
  const auto failed = [&](const auto& error) {
    result.status = Status::failed;
    result.message = error.what();
    return FailedWith(error, std::move(result));
  };
  try {
    throw;
  } catch (const FrozenBranch& error) {
    throw failed(error);
  } catch (const std::logic_error& error) {
    throw failed(error);
  } catch (const std::runtime_error& error) {
    throw failed(error);
  } catch (const std::exception& error) {
    throw failed(std::runtime_error(error.what()));
  } catch (...) {
    throw failed(std::runtime_error("an exception that is not a std::exception"));
  }
}

}  // namespace

Result run(BilevelOracle& oracle, const StopRule& stop, const Point& start, const Observer& observer,
           const std::function<void(Run&)>& loop) {
  Run run(oracle, stop, start, observer);
  const auto finished = [&]() -> Result& {
    run.result().counts = run.oracle().counts();
    run.result().seconds = run.oracle().seconds();
    return run.result();
  };
  try {
    if (stop.max_iterations == 0)
      run.end(Status::iteration_limit, "no iterations are allowed");
    else
      loop(run);
  } catch (const BudgetSpent& spent) {
    run.end(spent.status, spent.what());
  } catch (const NotFinite& bad) {
    run.end(Status::not_finite, bad.what());
  } catch (...) {
    if (std::isnan(run.result().gradient_norm)) throw;  // no hypergradient yet
    rethrow_with(finished());
  }
  return std::move(finished());
}

Noise::Noise(double radius, std::uint64_t seed, const std::vector<Vec>& given)
    : radius_(radius), random_(seed), given_(given) {
  require(radius >= 0, "r = ", radius, ", must not be negative");
}

void Noise::add_to(Vec& x) {
  if (used_ < given_.size()) {
    x += given_[used_++];
    return;
  }
  xi_.resize(x.size());
  random_.ball(radius_, xi_);
  x += xi_;
}

double accuracy(const Run& run, double ctol, double norm) { return std::max(run.tolerance() / 10, ctol * norm); }

bool warm_up(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol) {
  double sigma = std::numeric_limits<double>::infinity();
  while (estimator.adapts()) {
    const Hypergradient& h = estimator.at(x, sigma);
    if (!run.accept(x, estimator, false)) return false;
    const double wanted = accuracy(run, ctol, h.norm), next = std::max(wanted, h.error_bound / 10);
    if (h.error_bound <= wanted || next >= sigma) break;  // good enough, or as good as it gets
    sigma = next;
  }
  return true;
}

double find_step(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol, std::uint64_t seed) {
  const double h = 1e-2 * (std::sqrt(static_cast<double>(x.size())) + x.norm());  // a hundredth in every entry
  double sigma = accuracy(run, ctol, run.result().gradient_norm), L = 0;
  Vec base, there, direction = Random(seed).direction(x.size());
  estimator.set_accurate(true);
  for (int powers = 0, refinements = 0; powers < 8;) {
    estimator.at(x, sigma);
    if (!run.accept(x, estimator, false)) return 0;
    base = estimator.last().u;
    double error = estimator.last().error_bound;
    there = x + h * direction;
    const Hypergradient& moved = estimator.at(there, sigma);
    if (moved.status != Status::converged) {
      run.end(moved.status, moved.message);
      return 0;
    }
    error += moved.error_bound;
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
  if (L > 0) return 1 / (1.2 * L);
  run.end(Status::stagnated, "the hypergradient does not change near the start; give eta");
  return 0;
}

void StepLength::learn(const Vec& at, const Hypergradient& h) {
  if (!adapts_) return;
  if (any_) {
    const double moved = (at - at_).norm(), changed = (h.u - u_).norm() - h.error_bound - error_;
    if (changed * eta_ > moved) eta_ = moved / changed;
  }
  any_ = true;
  at_ = at;
  u_ = h.u;
  error_ = h.error_bound;
}

}  // namespace hypertape
