#pragma once

#include "hypertape/lower/lower_options.hpp"
#include "hypertape/outer/run.hpp"

namespace hypertape {

struct ImcnOptions {
  StopRule stop{};
  LowerOptions lower{.steps = 3,
                     .products = 2};  ///< K_y steps for y, K_c for each inverse; most, c_y are not among them
  std::optional<double> M{};  ///< Lipschitz constant of Hess Phi, M > 0 (theory: 4 sqrt(2) kappa^3 rho); near the start
  std::optional<double> L{};  ///< Lipschitz constant of grad Phi, L > 0; near the start
  int J = 50;                 ///< steps on the cubic model
  std::optional<double> mu_s{};  ///< their length; 1/(20 L), as in theory
  double sigma = 0;              ///< size of the noise in the gradient of the model
  double model_rtol = 1e-3;      ///< steps on the model end where its gradient is at most model_rtol |g|
  bool chebyshev = false;        ///< inverses by Chebyshev's iteration on [mu, l], not by conjugate gradients
  std::uint64_t seed = 1;

  void describe(OptionList& list);
};

/// Inexact minimax cubic Newton for g = -f: each step minimises g's + s'Hs/2 + M|s|^3/6, g = grad_x f and
/// H = f_xx - f_xy f_yy^{-1} f_yx by products (maths.md (24)): a Cauchy step where |g| >= L^2/M, else J gradient steps.
/// Ends where the model promises less than sqrt(tolerance^3/M)/128. Needs has_second_order. Cost of one iteration:
/// K_y Gc(g), 1 Gc(f), and up to J times (1 + K_c) HV and 2 JV.
Result imcn(BilevelOracle& oracle, const ImcnOptions& options, const Point& start, const Observer& observer = {});

}  // namespace hypertape
