#include "hypertape/hypergradient/minimax.hpp"

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

bool needs_products(const LowerOptions& options) { return !options.mu || !options.l; }

/// grad_y f vanishes at y*, and with it all that c_y stands for.
LowerOptions with_bounds(LowerOptions options) {
  if (!needs_products(options) && !options.cross) options.cross = options.l;
  options.c_y = 0;
  return options;
}

}  // namespace

MinimaxGradient::MinimaxGradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                 std::uint64_t seed, bool simultaneous)
    : DescentEstimator(oracle, with_bounds(options), start,
                       needs_products(options) ? AcceleratedLower::Products::allowed : AcceleratedLower::Products::none,
                       seed),
      simultaneous_(simultaneous),
      products_(needs_products(options)) {
  require(!simultaneous || options.steps, "minimax: steps = auto, must be given if y moves with x");
}

void MinimaxGradient::estimate(const Vec& x, double sigma) {
  if (simultaneous_ && !adapts()) {
    if (!evaluate_upper(x, y())) return;
    if (!lower_.find_step(x) || !lower_.look(x)) {
      lower_failed();
      return;
    }
    result_.lower_gradient = lower_.gradient_norm();
    lower_.set_y(y() - lower_.alpha() * *lower_.gradient_at_y());
  } else if (!solve_lower(x, sigma, 1, &LowerConstants::gain_v) || !evaluate_upper(x, y())) {
    return;
  }
  result_.u = gx_;
  bound_error(x, 0, energy(result_.lower_gradient));
  // Of first order there is no correction, since grad_y f vanishes; of second order it is at most half of this.
  const double mu = lower_.constants().mu;
  if (mu > 0) result_.correction = result_.lower_gradient * result_.lower_gradient / mu;
}

bool MinimaxGradient::bound_again(const Vec& x) {
  if (!products_) return true;  // there is nothing but what was given
  if (!lower_.renew_bounds(x)) return lower_failed();
  bound_error(x, 0, energy(result_.lower_gradient));
  return true;
}

}  // namespace hypertape
