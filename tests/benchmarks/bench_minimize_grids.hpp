#pragma once

#include <string>
#include <vector>

#include "bench_minimize.hpp"
#include "hypertape/outer/registry.hpp"

namespace hypertape::benchmarks {

/// What a grid may depend on, measured apart and not counted, at points along a run of `auto`: the largest of l, of
/// |d2g/dxdy|, of c_y and of the Lipschitz constant L of grad Phi, the smallest of mu and of L, and mu at the start.
struct Scale {
  double mu_start = 0, mu = 0, l = 0, cross = 0, c_y = 0;
  double L_least = 0, L_most = 0;
};
Scale measure(Truth& truth, const std::vector<Point>& points);

/// Settings among which the solver is tuned, in the spirit of the drivers' grids: steps for x around 1/L, momentum and
/// restarts, steps for y and products for v from a few to many, and certified solves in their place. A perturbed solver
/// goes on from `base`, the best settings of the one it perturbs.
std::vector<Settings> grid(const std::string& solver, const Scale& scale, const Settings& base);

/// The solver that a perturbed one perturbs, otherwise empty.
std::string perturbs(const std::string& solver);

}  // namespace hypertape::benchmarks
