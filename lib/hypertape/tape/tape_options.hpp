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

/// What runs a recorded function.
enum class Engine {
  automatic,  ///< rows if most operations are in rows, else runs
  rows,       ///< repeated rows in packs, the rest operation by operation
  runs,       ///< equal operations together
  cppad,      ///< sweeps of CppAD
};

/// What became of one function.
struct EngineSize {
  Engine engine = Engine::automatic;
  std::size_t operations = 0;          ///< that the result depends on
  std::size_t operations_in_rows = 0;  ///< of these
  std::size_t bytes = 0;               ///< kept; more is added when a derivative is asked for that was not before
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

  Engine engine = Engine::automatic;

  int threads = 0;  ///< for rows, where they pay; 0: one for each core, at most 16. Results do not depend on it
};

/// Which arguments of a function a tape differentiates by: y alone, x then being a parameter, or x and y together.
enum class Independent { y, both };

}  // namespace hypertape
