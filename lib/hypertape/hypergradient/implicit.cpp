#include "hypertape/hypergradient/implicit.hpp"

#include <cmath>

namespace hypertape {

ImplicitHypergradient::ImplicitHypergradient(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                                             std::uint64_t seed)
    : DescentEstimator(oracle, options, start, AcceleratedLower::Products::allowed, seed),
      products_(options.products),
      v_(Vec::Zero(start.y.size())) {}

void ImplicitHypergradient::restart_from(const Vec& y) {
  DescentEstimator::restart_from(y);
  v_.setZero();
}

void ImplicitHypergradient::set_accurate(bool accurate) {
  DescentEstimator::set_accurate(accurate);
  accurate_ = accurate;
}

CgOptions ImplicitHypergradient::wanted_of_v(double sigma) const {
  const LowerConstants& c = lower_.constants();
  CgOptions out{.mu = lower_.has_bounds() ? c.mu : 0};
  if (products_ && !accurate_) {
    out.max_iterations = *products_;
  } else if (std::isinf(sigma) || c.gain_v == 0) {
    out.max_iterations = 0;
  } else {
    out.max_iterations = lower_.most();
    out.tolerance = 4e-16 * gy_.norm();
    out.energy = sigma / (2 * c.gain_v);
  }
  return out;
}

void ImplicitHypergradient::estimate(const Vec& x, double sigma) {
  if (!solve_lower(x, sigma, 0.5, &LowerConstants::gain_y)) return;
  if (!evaluate_upper(x, y())) return;

  const auto solved = conjugate_gradient(oracle_.curvature_at(x, y()), gy_, v_, wanted_of_v(sigma), cg_);
  result_.residual = solved.residual;
  if (solved.status == Status::indefinite || solved.status == Status::not_finite) {
    fail(solved.status, "linear system: " + solved.message);
    return;
  }
  oracle_.cross_product(x, y(), v_, product_);
  result_.u = gx_ - product_;
  if (corrected_ && lower_.gradient_at_y() == nullptr && !lower_.look(x)) {
    lower_failed();
    return;
  }
  if (const Vec* gradient = lower_.gradient_at_y()) {
    result_.lower_gradient = lower_.gradient_norm();
    result_.correction = v_.dot(*gradient);
    result_.phi -= result_.correction;  // (19)
  }

  // What conjugate gradients met on the way tells whether constants measured elsewhere still hold.
  const double size = v_.dot(gy_) - v_.dot(cg_.residual);  // v' d2g/dy2 v
  lower_.saw_curvature(solved.curvature);
  if (size > 0) {
    lower_.saw_curvature(size / v_.squaredNorm());
    lower_.saw_gain_v(product_.norm() / std::sqrt(size));
  }
  bound_error(x, energy(result_.lower_gradient), solved.energy_bound);
}

bool ImplicitHypergradient::bound_again(const Vec& x) {
  if (!lower_.look(x) || !lower_.renew_bounds(x)) return lower_failed();
  bound_error(x, energy(x, *lower_.gradient_at_y()), energy(x, cg_.residual));
  return true;
}

}  // namespace hypertape
