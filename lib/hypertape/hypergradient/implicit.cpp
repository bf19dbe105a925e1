#include "hypertape/hypergradient/implicit.hpp"

#include <algorithm>
#include <limits>

namespace hypertape {

ImplicitHypergradient::ImplicitHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                             bool certified, std::uint64_t seed)
    : HypergradientEstimator(oracle, options, start, certified || options.steps == 0 || options.products == 0, seed),
      v_(Vec::Zero(start.y.size())) {}

void ImplicitHypergradient::restart_from(const Vec& y) {
  y_ = y;
  v_.setZero();
}

void ImplicitHypergradient::estimate(const Vec& x, double sigma) {
  // Half of sigma for y, half for v: the two terms of (16).
  const auto share = [&](double constant) {
    return constant > 0 ? constants_.mu * sigma / (2 * constant) : std::numeric_limits<double>::infinity();
  };
  if (!solve_lower(x, share(constants_.c_y))) return;
  if (!evaluate_upper(x)) return;

  const bool counted = options_.products > 0;
  const double tolerance = std::max(share(constants_.cross), 4e-16 * gy_.norm());
  const auto solved = conjugate_gradient(
      oracle_.curvature_at(x, y_), gy_, v_,
      {.max_iterations = counted ? options_.products : options_.most, .tolerance = counted ? 0 : tolerance}, cg_);
  result_.residual = solved.residual;
  if (solved.status == Status::indefinite || solved.status == Status::not_finite) {
    fail(solved.status, "linear system", solved.message);
    return;
  }
  oracle_.cross_product(x, y_, v_, product_);
  if (given_.cross == 0 && certified_ && !v_.isZero(0))  // an estimate learns from what it sees
    constants_.cross = std::max(constants_.cross, 1.1 * product_.norm() / v_.norm());
  result_.u = gx_ - product_;
  if (gradient_at_y_) result_.phi -= v_.dot(lower_.gradient);  // (19)
  if (certified_)
    result_.error_bound =
        (constants_.c_y * result_.lower_gradient + constants_.cross * result_.residual) / constants_.mu;  // (16)
}

}  // namespace hypertape
