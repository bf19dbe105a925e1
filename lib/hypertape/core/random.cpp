#include "hypertape/core/random.hpp"

#include <cmath>
#include <utility>

namespace hypertape {

std::uint64_t Random::below(std::uint64_t n) {
  const std::uint64_t unfair = (-n) % n;  // 2^64 mod n: draws below it would favour small results
  std::uint64_t draw = engine_();
  while (draw < unfair) draw = engine_();
  return draw % n;
}

double Random::normal() {
  if (std::exchange(has_spare_, false)) return spare_;
  double a = 0, b = 0, r2 = 0;
  do {
    a = 2 * uniform() - 1;
    b = 2 * uniform() - 1;
    r2 = a * a + b * b;
  } while (r2 >= 1 || r2 == 0);
  const double scale = std::sqrt(-2 * std::log(r2) / r2);
  spare_ = b * scale;
  has_spare_ = true;
  return a * scale;
}

Vec Random::normal(Index size) {
  Vec v(size);
  for (double& entry : v) entry = normal();
  return v;
}

Mat Random::normal(Index rows, Index cols) {
  Mat m(rows, cols);
  for (double& entry : m.reshaped()) entry = normal();
  return m;
}

Vec Random::direction(Index size) {
  Vec v = normal(size);
  v.normalize();  // in place: what normalized() returns is aligned (core/types.hpp)
  return v;
}

void Random::ball(double radius, Vec& out) {
  if (out.size() == 0) return;
  double norm = 0;
  while (norm == 0) {
    for (double& entry : out) entry = normal();
    norm = out.norm();
  }
  // The share of the volume within t of the centre is (t / radius)^d.
  out *= radius * std::pow(uniform(), 1 / static_cast<double>(out.size())) / norm;
}

}  // namespace hypertape
