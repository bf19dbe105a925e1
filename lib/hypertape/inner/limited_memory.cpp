#include "hypertape/inner/limited_memory.hpp"

#include <cmath>

namespace hypertape {

bool LimitedMemory::add(const Vec& s, const Vec& As) {
  const double curvature = s.dot(As), scale = 1 / std::sqrt(curvature);
  if (most_ == 0 || !(curvature > 1e-12 * s.norm() * As.norm()) || !std::isfinite(scale)) return false;
  if (static_cast<Index>(pairs_.size()) < most_) {
    // Places are filled in order before the first is taken again.
    pairs_.push_back({scale * s, scale * As});
    next_ = 0;
    return true;
  }
  pairs_[next_].s = scale * s;
  pairs_[next_].As = scale * As;
  next_ = (next_ + 1) % pairs_.size();
  return true;
}

void LimitedMemory::clear() {
  pairs_.clear();
  next_ = 0;
}

void LimitedMemory::apply(const Vec& b, Vec& out) {
  out = b;
  if (pairs_.empty()) return;
  coefficients_.resize(pairs_.size());
  for (std::size_t age = 0; age < pairs_.size(); ++age) {
    const Pair& pair = pairs_[newest(age)];
    coefficients_[age] = pair.s.dot(out);
    out -= coefficients_[age] * pair.As;
  }
  out /= pairs_[newest(0)].As.squaredNorm();  // s'As / |As|^2
  for (std::size_t age = pairs_.size(); age-- > 0;) {
    const Pair& pair = pairs_[newest(age)];
    out += (coefficients_[age] - pair.As.dot(out)) * pair.s;
  }
}

}  // namespace hypertape
