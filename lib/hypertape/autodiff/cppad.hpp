#pragma once

// The one place where CppAD comes in. Its headers are complete on their own only with NDEBUG (without it they refer to
// a compiled library, and run 2.5 times slower), so they are read with NDEBUG in every build. What CppAD would assert,
// this library checks itself at the door.

#include <Eigen/Core>

#ifdef NDEBUG
#include <cppad/cppad.hpp>
#else
#define NDEBUG
#include <cppad/cppad.hpp>
#undef NDEBUG
#include <cassert>
#endif

#include "hypertape/autodiff/eigen_scalar.hpp"

namespace hypertape {

/// The scalar that a user's function meets while it is taped.
using TapeScalar = CppAD::AD<double>;

}  // namespace hypertape

// Eigen looks these up beside the scalar type.
namespace CppAD {
template <class Base>
const AD<Base>& conj(const AD<Base>& s) {
  return s;
}
template <class Base>
const AD<Base>& real(const AD<Base>& s) {
  return s;
}
template <class Base>
AD<Base> imag(const AD<Base>&) {
  return AD<Base>(0.0);
}
template <class Base>
AD<Base> abs2(const AD<Base>& s) {
  return s * s;
}
}  // namespace CppAD

HYPERTAPE_EIGEN_SCALAR(CppAD::AD<double>)
