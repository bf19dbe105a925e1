#include "hypertape/hypergradient/constants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/inner/agd.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/inner/lanczos.hpp"

namespace hypertape {
namespace {

constexpr double safety = 1.1;  // power iteration approaches a norm from below

double cross_norm(BilevelOracle& oracle, const Point& at, Random& random) {
  Vec q, p;
  double norm = 0;
  if (!oracle.has_second_order()) {  // E |J v|^2 = |J|_F^2 for standard normal v
    constexpr int draws = 10;
    for (int i = 0; i < draws; ++i) norm += oracle.cross_product(at.x, at.y, random.normal(at.y.size())).squaredNorm();
    return safety * std::sqrt(norm / draws);
  }
  p = random.direction(at.x.size());
  for (int i = 0; i < 5; ++i) {
    oracle.adjoint_cross_product(at.x, at.y, p, q);
    norm = q.norm();
    if (!(norm > 0)) return norm;
    q /= norm;
    oracle.cross_product(at.x, at.y, q, p);
    norm = p.norm();
    if (!(norm > 0)) return norm;
    p /= norm;
  }
  return safety * norm;
}

/// The derivative in y of (grad_x f - d2g/dxdy v, grad_y f - d2g/dy2 v) along d, v fixed, by central differences.
void adjoint_derivative(BilevelOracle& oracle, const Point& at, const Vec& v, const Vec& d, Point& out) {
  const double h = 1e-5 * (1 + at.y.norm());
  Vec gx, gy, product;
  out = {Vec::Zero(at.x.size()), Vec::Zero(at.y.size())};
  for (const double sign : {1.0, -1.0}) {
    const Vec y = at.y + sign * h * d;
    const double value = oracle.grad_f(at.x, y, gx, gy);
    if (!std::isfinite(value)) out.x.fill(value);
    oracle.cross_product(at.x, y, v, product);
    out.x += sign / (2 * h) * (gx - product);
    oracle.curvature_at(at.x, y).apply(v, product);
    out.y += sign / (2 * h) * (gy - product);
  }
}

/// c_y, or what is not finite in its place.
double lipschitz_in_y(BilevelOracle& oracle, const Point& at, double mu, double cross, Random& random) {
  const Gradient gradient = oracle.grad_f(at.x, at.y);
  Vec v = Vec::Zero(at.y.size());
  const auto solved = conjugate_gradient(oracle.curvature_at(at.x, at.y), gradient.y, v, {.max_iterations = 20});
  if (solved.status == Status::not_finite || !std::isfinite(gradient.value))
    return std::numeric_limits<double>::quiet_NaN();
  Vec d = random.direction(at.y.size());
  Point derivative;
  double norm_x = 0, norm_y = 0;
  for (int i = 0; i < 4; ++i) {
    adjoint_derivative(oracle, at, v, d, derivative);
    const double length = derivative.y.norm(), sum = derivative.x.norm() + length;
    if (!std::isfinite(sum)) return sum;
    norm_x = std::max(norm_x, derivative.x.norm());
    norm_y = std::max(norm_y, length);
    if (length == 0) break;
    d = derivative.y / length;  // its y-part is symmetric: power iteration finds its norm
  }
  return safety * (norm_x + cross / mu * norm_y);
}

}  // namespace

LowerConstants lower_constants(BilevelOracle& oracle, const Point& at, const LowerOptions& given, Wanted wanted,
                               std::uint64_t seed) {
  LowerConstants out{given.mu, given.l, given.cross, given.c_y};
  if (given.mu == 0 || given.l == 0) {
    const RitzBounds ritz = lanczos(oracle.curvature_at(at.x, at.y), given.mu == 0 ? 30 : 10, seed);
    if (given.l == 0) out.l = safety * ritz.largest;
    if (given.mu == 0) out.mu = std::min(out.l, ritz.smallest / 2);
  }
  const bool all_given = given.cross > 0 && given.c_y > 0;
  if (wanted == Wanted::curvature || all_given || !(out.mu > 0) || !std::isfinite(out.l)) return out;

  // Near y*(x), where they are wanted; at a start like y = 0 d2g/dxdy may be zero.
  Random random(seed);
  Point near = at;
  const double root = std::sqrt(std::max(1.0, out.l / out.mu));
  const auto gradient = [&](const Vec& y, Vec& g) { oracle.grad_y_g(near.x, y, g); };
  agd(gradient, near.y, {.step = 1 / out.l, .momentum = (root - 1) / (root + 1), .max_iterations = 50});
  if (given.cross == 0) out.cross = cross_norm(oracle, near, random);
  if (given.c_y == 0) out.c_y = lipschitz_in_y(oracle, near, out.mu, out.cross, random);
  return out;
}

}  // namespace hypertape
