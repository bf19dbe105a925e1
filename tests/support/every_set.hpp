#pragma once

#include <doctest/doctest.h>

#include "hypertape/simd/instruction_set.hpp"

namespace hypertape::testing {

/// Called at the start of a test case: the rest of it is run once for each instruction set of this machine.
inline InstructionSet every_set() {
  InstructionSet chosen = InstructionSet::baseline;
  for (const InstructionSet set : instruction_sets()) SUBCASE(to_string(set)) chosen = set;
  return chosen;
}

}  // namespace hypertape::testing
