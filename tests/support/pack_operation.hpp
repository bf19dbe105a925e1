#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hypertape/core/random.hpp"
#include "hypertape/simd/instruction_set.hpp"

namespace hypertape::testing {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest_normal = std::numeric_limits<double>::min();

/// Numbered so that neighbouring doubles, infinities included, have neighbouring numbers.
inline std::int64_t place(double t) {
  const auto bits = std::bit_cast<std::int64_t>(t);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

/// Steps from one double to the other; none between two not-a-numbers.
inline double steps(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : infinity;
  return std::abs(static_cast<double>(place(a) - place(b)));
}

/// |value - exact| in units of the last place of exact.
inline double error_in_ulp(double value, long double exact) {
  const double rounded = std::abs(static_cast<double>(exact));
  const double ulp =
      rounded < largest ? std::nextafter(rounded, infinity) - rounded : largest - std::nextafter(largest, 0);
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / ulp);
}

/// Where long double is wider (not so under valgrind) it gives the true value.
inline bool has_long_double() {
  volatile long double one = 1;
  return one + 0x1p-62L != one;
}

/// One operation of every lane, on a pack that starts at `first` and goes around.
struct Operation {
  Op op;
  InstructionSet set;

  Pack operator()(const std::vector<double>& values, std::size_t first) const { return (*this)(values, values, first); }
  Pack operator()(const std::vector<double>& a, const std::vector<double>& b, std::size_t first) const {
    Pack left, right, out;
    for (std::size_t l = 0; l < pack_lanes; ++l) {
      left.lane[l] = a[(first + l) % a.size()];
      right.lane[l] = b[(first + l) % b.size()];
    }
    const Instruction code{Instruction::Code::operation, op, -1, {0, 1, 0, 0}};
    const double* const slots[] = {left.lane, right.lane};
    double* const outputs[] = {out.lane};
    kernels(set).run(&code, 1, slots, outputs);
    return out;
  }
  double operator()(double t) const { return (*this)(std::vector{t}, 0).lane[0]; }
  double operator()(double a, double b) const { return (*this)(std::vector{a}, std::vector{b}, 0).lane[0]; }
};

/// The 2 * reach + 1 doubles around t.
inline std::vector<double> neighbours(double t, int reach) {
  std::vector<double> out;
  for (int k = 0; k < reach; ++k) t = std::nextafter(t, -infinity);
  for (int k = 0; k <= 2 * reach; ++k, t = std::nextafter(t, infinity)) out.push_back(t);
  return out;
}

/// A positive double, every exponent as likely as any other.
inline double any_positive(Random& random) {
  return std::bit_cast<double>(random.below(0x7ff0000000000000u));  // below infinity
}

}  // namespace hypertape::testing
