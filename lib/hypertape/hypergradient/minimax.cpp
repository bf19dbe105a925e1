#include "hypertape/hypergradient/minimax.hpp"

#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"

namespace hypertape {

LowerOptions without_products(LowerOptions options, const char* who) {
  require(options.mu > 0, who, ": mu = ", options.mu, ", must be positive: it uses no products to estimate it");
  require(options.l >= options.mu, who, ": l = ", options.l, ", must be at least mu = ", options.mu);
  if (options.cross == 0) options.cross = options.l;
  options.c_y = options.cross;
  return options;
}

MinimaxGradient::MinimaxGradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start, bool certified,
                                 bool simultaneous)
    : HypergradientEstimator(oracle, without_products(options, "minimax"), start, certified || options.steps == 0, 0),
      simultaneous_(simultaneous) {
  require(!simultaneous || options.steps > 0, "minimax: steps = ", options.steps, ", must be positive if simultaneous");
  estimates_ = false;
}

void MinimaxGradient::estimate(const Vec& x, double sigma) {
  if (simultaneous_ && !adapts()) {
    if (!evaluate_upper(x)) return;
    oracle_.grad_y_g(x, y_, lower_.gradient);
    result_.lower_gradient = lower_.gradient.norm();
    if (!std::isfinite(result_.lower_gradient)) {
      fail(Status::not_finite, "lower level", text("|grad_y g| = ", result_.lower_gradient));
      return;
    }
    y_ -= options_.alpha * lower_.gradient;
  } else if (!solve_lower(x, (constants_.cross > 0 ? constants_.mu * sigma / constants_.cross
                                                   : std::numeric_limits<double>::infinity())) ||
             !evaluate_upper(x)) {
    return;
  }
  result_.u = gx_;
  if (certified_) result_.error_bound = constants_.cross * result_.lower_gradient / constants_.mu;
}

}  // namespace hypertape
