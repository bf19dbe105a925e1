#pragma once

#include <iosfwd>

#include "hypertape/outer/solver.hpp"

namespace hypertape {

/// Which error made a run `converged`: "bound" if a bound of it was small enough, "estimate" if only its estimate was,
/// "rule" if the method ended by a rule of its own (strict_paper, imcn), and "" if the run has not converged.
const char* converged_by(const Result& result);

/// Three lines for people, the last one not ended: what happened and why; Phi, |u| and what is known of its error;
/// calls by kind, iterations, seconds. Numbers look the same whatever the locale and the flags of `out`.
std::ostream& operator<<(std::ostream& out, const Result& result);

}  // namespace hypertape
