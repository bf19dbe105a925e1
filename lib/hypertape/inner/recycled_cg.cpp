#include "hypertape/inner/recycled_cg.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hypertape {

void RecycledCg::recycle() {
  if (!gains_.empty()) memory_.scale = std::sqrt(std::accumulate(gains_.begin(), gains_.end(), 0.0)) / first_;
  gains_.clear();
  // Of many directions, some from all over the solve: early ones are of large eigenvalues, late ones of small.
  const std::size_t taken = std::min(fresh_count_, static_cast<std::size_t>(memory_.inverse.most()));
  for (std::size_t i = 0; i < taken; ++i) {
    const Direction& d = fresh_[i * fresh_count_ / taken];
    memory_.inverse.add(d.p, d.Ap);
  }
  fresh_count_ = 0;
}

void RecycledCg::find_diagonal(LinearOperator& A) {
  diagonal_.resize(0);
  if (!memory_.inverse.empty() || !A.has_diagonal()) return;
  ++products_;
  A.diagonal(diagonal_);
  if (!(diagonal_.minCoeff() > 0)) diagonal_.resize(0);
}

double RecycledCg::scaled_norm(const Vec& r) const {
  return diagonal_.size() > 0 ? std::sqrt(r.cwiseAbs2().cwiseQuotient(diagonal_).sum()) : r.norm();
}

void RecycledCg::start(LinearOperator& A, const Vec& b, const Vec& q) {
  recycle();
  if (q.isZero(0)) {
    r_ = b;
  } else {
    ++products_;
    A.apply(q, Ap_);
    r_ = b - Ap_;
  }
  find_diagonal(A);
  first_ = scaled_norm(r_);
  rounding_ = 2e-16 * b.norm();
  k_ = 0;
  precondition();
  p_ = z_;
  status_ = std::isfinite(rz_) ? Status::converged : Status::not_finite;
}

const RecycledCg::Memory& RecycledCg::memory() {
  recycle();
  return memory_;
}

void RecycledCg::set_memory(const Memory& memory) {
  memory_ = memory;
  fresh_count_ = 0;
  gains_.clear();
}

void RecycledCg::precondition() {
  memory_.inverse.apply(r_, diagonal_, z_);
  rz_ = r_.dot(z_);
  if (!(rz_ > 0) && !memory_.inverse.empty()) {  // what was learned of very different matrices, and rounding
    memory_.inverse.clear();
    memory_.inverse.apply(r_, diagonal_, z_);
    rz_ = r_.dot(z_);
  }
  if (r_.norm() <= rounding_) rz_ = 0;
}

double RecycledCg::energy_error() const {
  if (rz_ == 0) return 0;
  if (k_ < 2) return 2 * std::sqrt(rz_) * (memory_.inverse.empty() ? memory_.scale : 1);
  const auto window = std::max<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(gains_.size() / 4));
  return std::sqrt(std::accumulate(gains_.end() - window, gains_.end(), 0.0));
}

double RecycledCg::energy_of(const Vec& r) {
  recycle();
  if (memory_.inverse.empty()) return r.isZero(0) ? 0 : 2 * memory_.scale * scaled_norm(r);
  memory_.inverse.apply(r, diagonal_, z_);
  return 2 * std::sqrt(std::max(0.0, r.dot(z_)));
}

bool RecycledCg::improve(LinearOperator& A, Vec& q, double energy, int max_iterations) {
  if (status_ != Status::converged) return false;
  for (int i = 0; i < max_iterations && energy_error() > energy; ++i) {
    ++products_;
    A.apply(p_, Ap_);
    const double curvature = p_.dot(Ap_);
    if (std::isfinite(curvature) &&
        std::abs(curvature) <= 1e-15 * p_.norm() * Ap_.norm()) {  // rounding: there is no step to be had
      rz_ = 0;
      return true;
    }
    if (curvature <= 0 && !memory_.inverse.empty()) {  // directions of another matrix may be what is wrong
      memory_.inverse.clear();
      precondition();
      p_ = z_;
      continue;
    }
    if (!std::isfinite(curvature) || curvature <= 0) {
      status_ = std::isfinite(curvature) ? Status::indefinite : Status::not_finite;
      return false;
    }
    const double step = rz_ / curvature, rz_before = rz_;
    if (memory_.inverse.most() > 0) {
      // When there is no room left every second one goes: those that stay are spread over the solve.
      if (fresh_count_ == static_cast<std::size_t>(2 * memory_.inverse.most())) {
        for (std::size_t j = 0; 2 * j < fresh_count_; ++j) std::swap(fresh_[j], fresh_[2 * j]);
        fresh_count_ /= 2;
      }
      if (fresh_count_ == fresh_.size()) fresh_.emplace_back();
      fresh_[fresh_count_].p = p_;
      fresh_[fresh_count_++].Ap = Ap_;
    }
    gains_.push_back(step * rz_);
    q += step * p_;
    r_ -= step * Ap_;
    ++k_;
    precondition();
    p_ = z_ + (rz_ / rz_before) * p_;
  }
  return true;
}

}  // namespace hypertape
