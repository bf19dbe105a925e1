#pragma once

namespace hypertape {

/// What a solver of the lower level does after a round of steps, or after one that it tried.
enum class LowerDecision {
  accept,   ///< y is as accurate as was asked for, or as the arithmetic allows; or: as far as this step goes
  refine,   ///< more steps of the same kind; or: this one can be longer
  shorten,  ///< steps were too long: back to where they began, with shorter ones
  measure,  ///< no progress in a time in which good steps make some: what is known of g is found out anew
  give_up,  ///< nothing left to try
};

}  // namespace hypertape
