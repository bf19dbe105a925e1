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

void StopRule::check(std::string_view who) const {
  require(tolerance >= 0, who, ": tolerance = ", tolerance, ", must not be negative");
  require(rtol >= 0 && rtol < 1, who, ": rtol = ", rtol, ", must satisfy 0 <= rtol < 1");
  require(max_iterations >= 0, who, ": max_iterations = ", max_iterations, ", must not be negative");
  require(max_calls >= 0, who, ": max_calls = ", max_calls, ", must not be negative");
  require(max_seconds >= 0, who, ": max_seconds = ", max_seconds, ", must not be negative");
}

Run::Run(std::string_view who, BilevelOracle& oracle, const StopRule& stop, const Point& start,
         const Observer& observer)
    : oracle_(oracle), stop_(stop), start_(start), observer_(observer) {
  stop.check(who);
  if (start_.y.size() == 0) start_.y.setZero(oracle.dims().y);
  const std::string where = text(who, ": start");
  require_vector(where.c_str(), "x", start_.x, oracle.dims().x);
  require_vector(where.c_str(), "y", start_.y, oracle.dims().y);
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

/// The error has not fallen by 1 % in 1,000 hypergradients.
bool Run::is_stuck(const Hypergradient& h) {
  if (h.error_estimate < 0.99 * best_) {
    best_ = h.error_estimate;
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
  if (result_.iterations == 0) first_norm_ = h.norm;  // of several looks at the start the last is the least rough
  if (h.norm > 1e10 * (1 + first_norm_)) {
    end(Status::diverged, text("|u| grew from ", first_norm_, " to ", h.norm, " in ", result_.iterations,
                               " iterations; is the step too long?"));
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

bool Run::accept(const Vec& point, HypergradientEstimator& estimator, bool may_converge) {
  const Hypergradient& h = estimator.last();
  const bool small = h.status == Status::converged && certified() && h.norm <= tolerance();
  bool ends = small && may_converge && (std::isinf(h.error_estimate) || h.norm + h.error_estimate <= tolerance());
  if (ends) {
    estimator.certify(point);
    ends = h.norm + h.error_bound <= tolerance();
  }
  bool go_on = accept(point, h, estimator.y(), ends);
  if (go_on && may_converge && small && is_stuck(h)) {
    end(Status::stagnated,
        text("|u| = ", h.norm, ", but its error, of at most about ", h.error_estimate, ", does not fall below ",
             tolerance(), ": more accurate hypergradients are needed (steps, products, lambda)"));
    go_on = false;
  }
  if (!go_on && !estimator.warning().empty()) result_.message += "; " + estimator.warning();
  return go_on;
}

std::string Run::where_it_went() const {
  if (std::isnan(result_.gradient_norm)) return "; there is no hypergradient yet";
  std::string out =
      text("; |u| = ", result_.gradient_norm, " after ", result_.iterations, " iterations, ", first_norm_, " at first");
  const OracleCounts& n = oracle_.counts();
  const double most = 0.8 * static_cast<double>(n.total());
  if (static_cast<double>(n.g) > most)
    out += text("; ", n.g, " of ", n.total(), " calls are gradients of g: the lower level takes long to solve");
  if (static_cast<double>(n.hv) > most)
    out += text("; ", n.hv, " of ", n.total(), " calls are products d2g/dy2 v: the linear systems take long to solve");
  return out;
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

Result run(std::string_view who, BilevelOracle& oracle, const StopRule& stop, const Point& start,
           const Observer& observer, const std::function<void(Run&)>& loop) {
  Run run(who, oracle, stop, start, observer);
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
    run.end(spent.status, spent.what() + run.where_it_went());
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

bool warm_up(Run& run, HypergradientEstimator& estimator, const Vec& x, double ctol, bool may_converge) {
  double sigma = std::numeric_limits<double>::infinity();
  while (estimator.adapts()) {
    const Hypergradient& h = estimator.at(x, sigma);
    if (!run.accept(x, estimator, may_converge && h.error_estimate == 0)) return false;
    const double wanted = accuracy(run, ctol, h.norm);
    const double next = std::isinf(h.error_estimate) ? wanted : std::max(wanted, h.error_estimate / 10);
    if (h.error_estimate <= wanted || next >= sigma) break;  // good enough, or as good as it gets
    sigma = next;
  }
  return true;
}

}  // namespace hypertape
