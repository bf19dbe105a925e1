#include "hypertape/hypergradient/iterative.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape {

IterativeHypergradient::IterativeHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                               bool certified, std::uint64_t seed)
    : HypergradientEstimator(oracle, options, start, certified, seed) {
  require(options.steps >= 1, "itd: steps = ", options.steps, ", must be at least 1");
  path_.resize(static_cast<std::size_t>(options.steps) + 1);
}

void IterativeHypergradient::estimate(const Vec& x, double) {
  const double alpha = options_.alpha;
  const std::size_t D = path_.size() - 1;
  path_[0] = y_;
  for (std::size_t t = 0; t < D; ++t) {
    oracle_.grad_y_g(x, path_[t], lower_.gradient);
    result_.lower_gradient = lower_.gradient.norm();
    if (!std::isfinite(result_.lower_gradient)) {
      fail(Status::not_finite, "lower level", text("|grad_y g| = ", result_.lower_gradient, " at step ", t));
      return;
    }
    path_[t + 1] = path_[t] - alpha * lower_.gradient;
  }
  y_ = path_[D];
  if (!evaluate_upper(x)) return;

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
      fail(curvature < 0 && std::isfinite(curvature) ? Status::indefinite : Status::not_finite, "reverse sweep",
           text("p'Hp = ", curvature, " at step ", t, ": g is not strongly convex in y there, or not finite"));
      return;
    }
    p -= alpha * product_y_;
  }
  result_.residual = p.norm();  // (I - alpha d2g/dy2)^(D-1) grad_y f: what the truncated series leaves
  if (certified_)
    result_.error_bound =
        (constants_.c_y * result_.lower_gradient + constants_.cross * result_.residual) / constants_.mu;
}

}  // namespace hypertape
