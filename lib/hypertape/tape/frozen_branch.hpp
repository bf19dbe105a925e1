#pragma once

#include <cstddef>
#include <string>

#include "hypertape/core/text.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {

[[noreturn]] inline void throw_frozen_branch(const std::string& function, std::size_t changes) {
  throw FrozenBranch(text(function, ": the tape is not the function here: ", changes,
                          " comparison(s) of values of x or y would be decided otherwise than at the recording point. "
                          "Write select, max or min of hypertape instead of if, ?: or std::max"));
}

}  // namespace hypertape
