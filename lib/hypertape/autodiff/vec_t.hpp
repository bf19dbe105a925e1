#pragma once

#include <stdexcept>

#include "hypertape/core/require.hpp"
#include "hypertape/core/types.hpp"

namespace hypertape {

/// The vector that f and g are written for: an Eigen column vector of scalars S that checks every index, in every
/// build, so that a function which reads outside its argument is refused when it is taped.
///
///   template <class S> S g(const VecT<S>& x, const VecT<S>& y) { return 0.5 * y.dot(y) - x[0] * y.sum(); }
template <class S>
class VecT : public VecOf<S> {
  using Base = VecOf<S>;

 public:
  /// `name` is how error messages call this vector; it must outlive it.
  VecT(const char* name, Index size) : Base(size), name_(name) {}
  VecT(const char* name, const Vec& values) : Base(values.template cast<S>()), name_(name) {}

  const S& operator[](Index i) const { return Base::operator[](checked(i)); }
  const S& operator()(Index i) const { return Base::operator()(checked(i)); }
  S& operator[](Index i) { return Base::operator[](checked(i)); }
  S& operator()(Index i) { return Base::operator()(checked(i)); }

  auto head(Index n) const { return Base::head(checked_range(0, n)); }
  auto tail(Index n) const { return Base::tail(checked_range(this->size() - n, n)); }
  auto segment(Index i, Index n) const { return Base::segment(i, checked_range(i, n)); }

 private:
  Index checked(Index i) const {
    if (i < 0 || i >= this->size())
      throw std::out_of_range(text("reads ", name_, "[", i, "], but ", name_, " has ", this->size(), " entries"));
    return i;
  }
  Index checked_range(Index i, Index n) const {
    if (i < 0 || n < 0 || i + n > this->size())
      throw std::out_of_range(
          text("reads entries ", i, " to ", i + n - 1, " of ", name_, ", which has ", this->size(), " entries"));
    return n;
  }

  const char* name_;
};

}  // namespace hypertape
