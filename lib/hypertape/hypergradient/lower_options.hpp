#pragma once

#include "hypertape/core/options.hpp"

namespace hypertape {

/// How the lower level, and the linear system that comes with it, are solved. Zero means that a value is found out.
struct LowerOptions {
  double mu = 0;     ///< strong convexity of g in y; 0: estimated at the start
  double l = 0;      ///< smoothness of g in y; 0: estimated at the start
  double alpha = 0;  ///< step for y, 0 < alpha < 2/l; 0: 1/l
  double beta = -1;  ///< momentum for y, 0 <= beta < 1; negative: (sqrt(kappa) - 1)/(sqrt(kappa) + 1)
  int steps = 0;     ///< T or D: steps for y from one hypergradient to the next; 0: until certified
  int products = 0;  ///< T' or N: conjugate gradient steps for v; 0: until certified
  int most = 10000;  ///< no more steps than this where the certificate decides
  double cross = 0;  ///< norm of d2g/dxdy; 0: estimated at the start
  double c_y = 0;    ///< Lipschitz constant of the hypergradient in y, maths.md (17); 0: estimated at the start

  void describe(OptionList& list);
};

}  // namespace hypertape
