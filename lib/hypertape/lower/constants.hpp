#pragma once

#include <cstdint>

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/oracle/bilevel_oracle.hpp"

namespace hypertape {

/// What error bounds and step lengths are made of. Gains say how much of an error e of y or v, in the energy norm
/// |e|^2 = e' d2g/dy2 e, reaches the hypergradient, maths.md (16), (17).
struct LowerConstants {
  double mu = 0;      ///< d2g/dy2 >= mu
  double l = 0;       ///< d2g/dy2 <= l
  double gain_y = 0;  ///< of y: at most c_y / sqrt(mu)
  double gain_v = 0;  ///< of v: the norm of d2g/dxdy (d2g/dy2)^(-1/2), at most |d2g/dxdy| / sqrt(mu)
};

/// l and mu at this point: those that are given, and otherwise by Lanczos the Ritz value 1.1 times, and half of it.
/// Cost: 30 HV, or 10 if mu is given; none if both are.
LowerConstants curvature_constants(BilevelOracle& oracle, const Point& at, const LowerOptions& given,
                                   std::uint64_t seed);

/// Adds the gains at this point, which is to be near y*(x), to known l and mu: from cross and c_y where they are given,
/// otherwise by power iteration with conjugate gradients, whose Gauss-Radau bounds are on the safe side. If the oracle
/// has no adjoint products, |d2g/dxdy| is found by random ones. All of it is local, and may be too small elsewhere.
/// Cost: up to 11 JV and 6 solves for gain_v (10 JV without adjoint products); 11 Gc(f), 10 JV, 15 HV and 7 solves for
/// gain_y; a solve is at most 60 HV.
void measure_gains(BilevelOracle& oracle, const Point& at, const LowerOptions& given, std::uint64_t seed,
                   LowerConstants& constants);

}  // namespace hypertape
