#include "hypertape/inner/limited_memory.hpp"

#include <cmath>

namespace hypertape {

bool LimitedMemory::add(const Vec& s, const Vec& As) {
  const double curvature = s.dot(As), scale = 1 / std::sqrt(curvature);
  if (most_ == 0 || !(curvature > 1e-12 * s.norm() * As.norm()) || !std::isfinite(scale)) return false;
  const auto put = [&](std::shared_ptr<Pair>& place) {
    if (place.use_count() != 1) place = std::make_shared<Pair>();
    place->s = scale * s;
    place->As = scale * As;
  };
  if (static_cast<Index>(pairs_.size()) < most_) {
    // Places are filled in order before the first is taken again.
    put(pairs_.emplace_back());
    next_ = 0;
  } else {
    put(pairs_[next_]);
    next_ = (next_ + 1) % pairs_.size();
  }
  return true;
}

void LimitedMemory::clear() {
  pairs_.clear();
  next_ = 0;
}

void LimitedMemory::apply(const Vec& b, Vec& out) { apply(b, Vec(), out); }

void LimitedMemory::apply(const Vec& b, const Vec& diagonal, Vec& out) {
  out = b;
  if (pairs_.empty()) {
    if (diagonal.size() > 0) out.array() /= diagonal.array();
    return;
  }
  coefficients_.resize(pairs_.size());
  for (std::size_t age = 0; age < pairs_.size(); ++age) {
    const Pair& pair = *pairs_[newest(age)];
    coefficients_[age] = pair.s.dot(out);
    out -= coefficients_[age] * pair.As;
  }
  // s'As / |As|^2
  const Vec& As = pairs_[newest(0)]->As;
  if (diagonal.size() > 0)
    out.array() /= diagonal.array() * As.cwiseAbs2().cwiseQuotient(diagonal).sum();
  else
    out /= As.squaredNorm();
  for (std::size_t age = pairs_.size(); age-- > 0;) {
    const Pair& pair = *pairs_[newest(age)];
    out += (coefficients_[age] - pair.As.dot(out)) * pair.s;
  }
}

}  // namespace hypertape
