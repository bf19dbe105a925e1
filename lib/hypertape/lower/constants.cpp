#include "hypertape/lower/constants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/inner/lanczos.hpp"

namespace hypertape {
namespace {

constexpr double safety = 1.2;  // power iteration approaches a norm from below: five powers to 0.7 of it or better
constexpr int powers = 5;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// |d2g/dxdy| from random products: E |C v|^2 is its squared Frobenius norm for standard normal v.
double frobenius_norm(BilevelOracle& oracle, const Point& at, Random& random) {
  constexpr int draws = 10;
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += oracle.cross_product(at.x, at.y, random.normal(at.y.size())).squaredNorm();
  return std::sqrt(sum / draws);
}

double measure_gain_v(BilevelOracle& oracle, const Point& at, double mu, Random& random) {
  if (!oracle.has_second_order()) return safety * frobenius_norm(oracle, at, random) / std::sqrt(mu);
  LinearOperator& H = oracle.curvature_at(at.x, at.y);
  Vec p, q, w;
  // Directions of little curvature count most: the first is one that a solve finds.
  if (!std::isfinite(inverse_energy(H, random.direction(at.y.size()), mu, w))) return nan;
  oracle.cross_product(at.x, at.y, w, p);
  if (p.isZero(0)) p = random.direction(at.x.size());
  p /= p.norm();
  double gain = 0;
  for (int i = 0; i < powers; ++i) {
    oracle.adjoint_cross_product(at.x, at.y, p, q);
    const double found = inverse_energy(H, q, mu, w);
    if (!std::isfinite(found)) return nan;
    gain = std::max(gain, found);
    oracle.cross_product(at.x, at.y, w, p);
    const double norm = p.norm();
    if (!std::isfinite(norm)) return nan;
    if (norm == 0) break;
    p /= norm;
  }
  return safety * gain;
}

/// The derivative in y of (grad_x f - d2g/dxdy v, grad_y f - d2g/dy2 v) along e, v fixed, by central differences.
void adjoint_derivative(BilevelOracle& oracle, const Point& at, const Vec& v, const Vec& e, Point& out) {
  const double h = 1e-5 * (1 + at.y.norm()) / e.norm();
  Vec gx, gy, product;
  out = {Vec::Zero(at.x.size()), Vec::Zero(at.y.size())};
  for (const double sign : {1.0, -1.0}) {
    const Vec y = at.y + sign * h * e;
    const double value = oracle.grad_f(at.x, y, gx, gy);
    if (!std::isfinite(value)) out.x.fill(value);
    oracle.cross_product(at.x, y, v, product);
    out.x += sign / (2 * h) * (gx - product);
    oracle.curvature_at(at.x, y).apply(v, product);
    out.y += sign / (2 * h) * (gy - product);
  }
}

/// gain_y to leading order, or the NaN that prevented it.
double measure_gain_y(BilevelOracle& oracle, const Point& at, double mu, double gain_v, Random& random) {
  const Gradient gradient = oracle.grad_f(at.x, at.y);
  if (!std::isfinite(gradient.value)) return nan;
  Vec v, e, product;
  Point derivative;
  LinearOperator& H = oracle.curvature_at(at.x, at.y);
  if (!std::isfinite(inverse_energy(H, gradient.y, mu, v))) return nan;
  if (!std::isfinite(inverse_energy(H, random.direction(at.y.size()), mu, e))) return nan;
  double gain_x = 0, gain = 0;
  for (int i = 0; i < powers; ++i) {
    oracle.curvature_at(at.x, at.y).apply(e, product);
    const double size = std::sqrt(e.dot(product));  // in the energy norm
    if (size == 0) break;
    if (!(size > 0) || !std::isfinite(size)) return nan;
    adjoint_derivative(oracle, at, v, e, derivative);
    if (!std::isfinite(derivative.x.norm() + derivative.y.norm())) return nan;
    const double found = inverse_energy(oracle.curvature_at(at.x, at.y), derivative.y, mu, e);
    gain_x = std::max(gain_x, derivative.x.norm() / size);
    gain = std::max(gain, found / size);
    if (!std::isfinite(found)) return nan;
    if (found == 0) break;
  }
  return safety * (gain_x + gain_v * gain);
}

}  // namespace

LowerConstants curvature_constants(BilevelOracle& oracle, const Point& at, const LowerOptions& given,
                                   std::uint64_t seed) {
  LowerConstants out{.mu = given.mu.value_or(0), .l = given.l.value_or(0)};
  if (given.mu && given.l) return out;
  // Lanczos keeps a vector for each step: no more than fit into a quarter of a gigabyte.
  const Index most = std::max<Index>(5, (Index{1} << 25) / at.y.size());
  const int steps = static_cast<int>(std::min<Index>(most, given.mu ? 10 : 30));
  const RitzBounds ritz = lanczos(oracle.curvature_at(at.x, at.y), steps, seed);
  if (!given.l) out.l = std::max(1.1 * ritz.largest, out.mu);
  if (!given.mu) out.mu = std::min(out.l, ritz.smallest / 2);
  return out;
}

void measure_gains(BilevelOracle& oracle, const Point& at, const LowerOptions& given, std::uint64_t seed,
                   LowerConstants& constants) {
  if (!(constants.mu > 0) || !std::isfinite(constants.l)) return;
  Random random(seed);
  const double root = std::sqrt(constants.mu);
  constants.gain_v = given.cross ? *given.cross / root : measure_gain_v(oracle, at, constants.mu, random);
  constants.gain_y = given.c_y ? *given.c_y / root : measure_gain_y(oracle, at, constants.mu, constants.gain_v, random);
}

}  // namespace hypertape
