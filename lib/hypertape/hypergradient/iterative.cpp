#include "hypertape/hypergradient/iterative.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

IterativeHypergradient::IterativeHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                               std::uint64_t seed)
    : DescentEstimator(oracle, options, start, AcceleratedLower::Products::allowed, seed) {
  require(options.steps.has_value(), "itd: steps = auto, must be given: the number D of steps to differentiate");
  path_.resize(static_cast<std::size_t>(*options.steps) + 1);
}

void IterativeHypergradient::estimate(const Vec& x, double) {
  if (!lower_.find_step(x)) {
    lower_failed();
    return;
  }
  const double alpha = lower_.alpha();
  const std::size_t D = path_.size() - 1;
  path_[0] = y();
  for (std::size_t t = 0; t < D; ++t) {
    oracle_.grad_y_g(x, path_[t], gradient_);
    result_.lower_gradient = gradient_.norm();
    if (!std::isfinite(result_.lower_gradient)) {
      fail(Status::not_finite, text("lower level: |grad_y g| = ", result_.lower_gradient, " at step ", t));
      return;
    }
    path_[t + 1] = path_[t] - alpha * gradient_;
  }
  lower_.set_y(path_[D]);
  if (!evaluate_upper(x, y())) return;

  Vec& u = result_.u;
  Vec& p = gy_;
  u = gx_;
  for (std::size_t t = D; t-- > 0;) {
    oracle_.cross_product(x, path_[t], p, product_x_);
    u -= alpha * product_x_;
    if (t == 0) break;
    oracle_.curvature_at(x, path_[t]).apply(p, product_y_);
    const double curvature = p.dot(product_y_);
    if (!std::isfinite(curvature) || curvature < 0) {
      fail(curvature < 0 && std::isfinite(curvature) ? Status::indefinite : Status::not_finite,
           text("reverse sweep: p'Hp = ", curvature, " at step ", t,
                ": g is not strongly convex in y there, or not finite"));
      return;
    }
    p -= alpha * product_y_;
  }
  result_.residual = p.norm();  // (I - alpha d2g/dy2)^(D-1) grad_y f: what the truncated series leaves
  result_.correction = 0;       // f(x, y^D(x)) is what u is the gradient of
  bound_error(x, energy(result_.lower_gradient), energy(result_.residual));
}

bool IterativeHypergradient::bound_again(const Vec& x) {
  if (!lower_.look(x) || !lower_.renew_bounds(x)) return lower_failed();
  bound_error(x, energy(x, *lower_.gradient_at_y()), energy(x, gy_));
  return true;
}

}  // namespace hypertape
