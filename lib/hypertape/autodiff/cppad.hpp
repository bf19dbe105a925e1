#pragma once

// The one place where CppAD comes in. Its headers are complete on their own only with NDEBUG (without it they refer to
// a compiled library, and run 2.5 times slower), so they are read with NDEBUG in every build. What CppAD would assert,
// this library checks itself at the door.

#include "hypertape/core/types.hpp"

#ifdef CPPAD_CPPAD_HPP
#error "include Hypertape before cppad/cppad.hpp: a CppAD base type must be known first"
#endif

#ifndef NDEBUG
#define NDEBUG
#define HYPERTAPE_RESTORE_ASSERTIONS
#endif
#include <cppad/base_require.hpp>

#include "hypertape/autodiff/symbol.hpp"
// The order matters: CppAD finds what it asks of a base type only if it stands before its templates.
#include <cppad/cppad.hpp>
#ifdef HYPERTAPE_RESTORE_ASSERTIONS
#undef NDEBUG
#undef HYPERTAPE_RESTORE_ASSERTIONS
#include <cassert>
#endif

#include "hypertape/autodiff/eigen_scalar.hpp"

namespace hypertape {

/// The scalar that a user's function meets while it is taped.
using TapeScalar = CppAD::AD<double>;

/// The library defines this for the number it was built with: a program with another one, which CppAD's numbering of
/// tapes depends on, does not link.
template <int threads>
void built_with_CPPAD_MAX_NUM_THREADS();
[[gnu::used]] static void (*const needs_CPPAD_MAX_NUM_THREADS)() =
    built_with_CPPAD_MAX_NUM_THREADS<CPPAD_MAX_NUM_THREADS>;

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
HYPERTAPE_EIGEN_SCALAR(CppAD::AD<hypertape::Symbol>)
