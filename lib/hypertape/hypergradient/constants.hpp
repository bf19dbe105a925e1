#pragma once

#include <cstdint>

#include "hypertape/hypergradient/lower_options.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {

/// What error bounds and step lengths are made of.
struct LowerConstants {
  double mu = 0;     ///< d2g/dy2 >= mu
  double l = 0;      ///< d2g/dy2 <= l
  double cross = 0;  ///< |d2g/dxdy| <= cross
  double c_y = 0;    ///< the hypergradient is c_y-Lipschitz in y, maths.md (17)
};

/// Which constants are wanted: those of the lower level alone, or those of error bounds as well.
enum class Wanted { curvature, error_bound };

/// The constants that `given` holds, and estimates in place of the zeros: at this point l and mu by Lanczos (the Ritz
/// value 1.1 times, and half of it), and 50 steps from it towards y*(x) |d2g/dxdy| by power iteration (by random
/// products if the oracle has no adjoint) and c_y to leading order by power iteration on differences. Estimates are
/// local and may be too small elsewhere. Cost: up to 30 HV for l and mu; 50 Gc(g), 10 JV for cross, 9 Gc(f), 28 HV, 8
/// JV for c_y.
LowerConstants lower_constants(BilevelOracle& oracle, const Point& at, const LowerOptions& given, Wanted wanted,
                               std::uint64_t seed);

}  // namespace hypertape
