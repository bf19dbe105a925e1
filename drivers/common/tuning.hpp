#pragma once

#include "drivers/common/plan.hpp"

namespace hypertape::drivers {

/// Tunes every chosen solver on its grid, several settings at the same time, and writes what won as a config file;
/// lines of other solvers that stand there remain.
SolverSettings tune(Shared& all);

}  // namespace hypertape::drivers
