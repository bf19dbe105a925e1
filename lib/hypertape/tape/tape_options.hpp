#pragma once

#include <cstddef>

#include "hypertape/core/types.hpp"

namespace hypertape {

/// The size of a tape: how many operations, and how many bytes with the Taylor coefficients that its products need. A
/// prediction is of the largest size, while the tape is recorded and optimised.
struct TapeSize {
  std::size_t operations = 0;
  std::size_t bytes = 0;
};

struct TapeOptions {
  /// A problem whose tapes would take more bytes than this is refused; 0 stands for half of the machine's memory.
  std::size_t max_bytes = 0;

  /// The point at which functions are recorded; empty stands for zeros. It matters to a function that compares values
  /// of x or y, or refuses some of them.
  Vec record_x{};
  Vec record_y{};

  /// A comparison of values of x or y (`if`, `?:`, std::max) is decided once, at the recording point. At a point where
  /// it would be decided otherwise the tape is not the user's function, and FrozenBranch is thrown; true ignores that.
  bool allow_frozen_branches = false;
};

/// Which arguments of a function a tape differentiates by: y alone, x then being a parameter, or x and y together.
enum class Independent { y, both };

}  // namespace hypertape
