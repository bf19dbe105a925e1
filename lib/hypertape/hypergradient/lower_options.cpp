#include "hypertape/hypergradient/lower_options.hpp"

namespace hypertape {

void LowerOptions::describe(OptionList& list) {
  list.add("mu", &mu, "strong convexity of g in y (0: the problem's, or estimated)");
  list.add("l", &l, "smoothness of g in y (0: the problem's, or estimated)");
  list.add("alpha", &alpha, "step for y (0: 1/l)");
  list.add("beta", &beta, "momentum for y (negative: from mu and l)");
  list.add("steps", &steps, "T, D: steps for y (0: until certified)");
  list.add("products", &products, "T', N: conjugate gradient steps for v (0: until certified)");
  list.add("most", &most, "no more steps than this where the certificate decides");
  list.add("cross", &cross, "norm of d2g/dxdy (0: estimated)");
  list.add("c_y", &c_y, "Lipschitz constant of the hypergradient in y (0: estimated)");
}

}  // namespace hypertape
