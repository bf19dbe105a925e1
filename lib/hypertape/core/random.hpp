#pragma once

#include <cstdint>
#include <random>

#include "hypertape/core/types.hpp"

namespace hypertape {

/// Seeded random numbers that are the same on every machine (the distributions of the standard library are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// Uniform in {0, ..., n - 1}, n > 0.
  std::uint64_t below(std::uint64_t n);

  /// Standard normal, by the polar method.
  double normal();

  Vec normal(Index size);
  Mat normal(Index rows, Index cols);

  /// A vector of length 1, uniform over all directions.
  Vec direction(Index size);

  /// Uniform in the ball of this radius around the origin: not on its surface, and not in the cube.
  void ball(double radius, Vec& out);

 private:
  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace hypertape
