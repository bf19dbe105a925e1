#pragma once

#include <cstddef>
#include <type_traits>

// g++ 12 takes the stores of whole registers, which Eigen does only where they fit, for overflows of short vectors, and
// its own header of AVX-512 for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace hypertape {

using Index = Eigen::Index;
static_assert(std::is_same_v<Index, std::ptrdiff_t>, "Hypertape needs Eigen without EIGEN_DEFAULT_DENSE_INDEX_TYPE");

#ifdef _GLIBCXX_DEBUG
constexpr bool glibcxx_debug = true;
#else
constexpr bool glibcxx_debug = false;
#endif
/// The library defines this for the setting it was built with: a program with the other one, whose containers have
/// another layout, does not link.
template <bool debug>
void built_with_GLIBCXX_DEBUG();
[[gnu::used]] static void (*const needs_GLIBCXX_DEBUG)() = built_with_GLIBCXX_DEBUG<glibcxx_debug>;

/// Eigen's column vector and matrices, of scalars S. Memory that a program allocates is freed by the library and the
/// other way round, so it must not depend on the compiler's flags how that is done. For Eigen's own types it does
/// (-march=native, -mavx, -fsanitize=address, EIGEN_MAX_ALIGN_BYTES); with DontAlign it is malloc, always.
template <class S>
using VecOf = Eigen::Matrix<S, Eigen::Dynamic, 1, Eigen::ColMajor | Eigen::DontAlign>;
using Vec = VecOf<double>;
using Mat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor | Eigen::DontAlign>;
using RowMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;

/// The two dimensions of a bilevel problem: x is the upper variable, y the lower one.
struct Dims {
  Index x = 0;
  Index y = 0;
  bool operator==(const Dims&) const = default;
};

/// A point of the joint space, or a direction in it.
struct Point {
  Vec x;
  Vec y{};  ///< of a start: empty means zeros
};

}  // namespace hypertape
