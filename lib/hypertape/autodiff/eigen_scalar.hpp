#pragma once

#include <limits>
#include "hypertape/core/types.hpp"

/// Makes a scalar type that wraps a double known to Eigen, alone and mixed with double: `A * y`, `2.0 * y`, `y.dot(b)`.
#define HYPERTAPE_EIGEN_SCALAR(S)                                                   \
  namespace Eigen {                                                                 \
  template <>                                                                       \
  struct NumTraits<S> : GenericNumTraits<S> {                                       \
    using Real = S;                                                                 \
    using NonInteger = S;                                                           \
    using Nested = S;                                                               \
    using Literal = S;                                                              \
    enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 1 }; \
    enum { ReadCost = 1, AddCost = 2, MulCost = 2 };                                \
    static S epsilon() { return S(std::numeric_limits<double>::epsilon()); }        \
    static S dummy_precision() { return S(1e-12); }                                 \
    static S highest() { return S(std::numeric_limits<double>::max()); }            \
    static S lowest() { return S(std::numeric_limits<double>::lowest()); }          \
    static S infinity() { return S(std::numeric_limits<double>::infinity()); }      \
    static S quiet_NaN() { return S(std::numeric_limits<double>::quiet_NaN()); }    \
    static int digits10() { return std::numeric_limits<double>::digits10; }         \
  };                                                                                \
  template <class Op>                                                               \
  struct ScalarBinaryOpTraits<S, double, Op> {                                      \
    using ReturnType = S;                                                           \
  };                                                                                \
  template <class Op>                                                               \
  struct ScalarBinaryOpTraits<double, S, Op> {                                      \
    using ReturnType = S;                                                           \
  };                                                                                \
  }
