#pragma once

#include <iosfwd>
#include <string>

#include "hypertape/outer/solver.hpp"

namespace hypertape::drivers {

/// An observer that does what `inner` does, if there is one, and on a terminal shows how far the run is: one line,
/// rewritten at most 5 times a second of the run, first after a fifth of one. The time left is what the nearest budget
/// allows; a run that converges takes less. `out` is referred to, and must be the standard error stream or go to the
/// same terminal, whose width the line keeps to. Writes nothing if it is not a terminal.
Observer with_progress(Observer inner, const std::string& solver, const StopRule& budget, std::ostream& out,
                       bool terminal);

/// Takes the line away: the run is over, or something else is to be written.
void clear_progress(std::ostream& out, bool terminal);

}  // namespace hypertape::drivers
