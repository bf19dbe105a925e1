#include "hypertape/theory/constants.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape::theory {

namespace {

void require_not_negative(const char* where, const char* name, double value) {
  require(value >= 0 && std::isfinite(value), where, ": ", name, " = ", value, ", must be finite and not negative");
}

}  // namespace

void Smoothness::check() const {
  require(l > 0 && std::isfinite(l), "smoothness: l = ", l, ", must be finite and positive");
  require(mu > 0 && mu <= l, "smoothness: mu = ", mu, ", must satisfy 0 < mu <= l = ", l);
  require_not_negative("smoothness", "rho", rho);
  require_not_negative("smoothness", "nu", nu);
  require_not_negative("smoothness", "M", M);
}

PhiConstants bilevel(const Smoothness& smoothness) {
  smoothness.check();
  const auto [l, mu, rho, nu, M] = smoothness;
  const double mu2 = mu * mu, mu3 = mu2 * mu, a = 1 + l / mu;
  const double L = l + (2 * l * l + rho * M) / mu + (l * l * l + 2 * rho * l * M) / mu2 + rho * l * l * M / mu3;
  const double once = rho + (2 * l * rho + M * nu) / mu + (2 * M * l * nu + rho * l * l) / mu2 + M * l * l * nu / mu3;
  const double twice = 2 * l * rho / mu + (4 * M * rho * rho + 2 * l * l * rho) / mu2 + 2 * M * l * rho * rho / mu3;
  const double thrice = M * rho * rho / mu2 + rho * l / mu;
  return {.L = L, .rho = once * a + twice * a * a + thrice * a * a * a, .C_y = L / a};
}

PhiConstants minimax(const Smoothness& smoothness) {
  smoothness.check();
  const double l = smoothness.l, kappa = smoothness.kappa();
  return {.L = (kappa + 1) * l, .rho = 4 * std::sqrt(2) * kappa * kappa * kappa * smoothness.rho, .C_y = l};
}

double hypergradient_error(double C_y, double cross_norm, double mu, double lower_gradient_norm, double cg_residual) {
  require(mu > 0 && std::isfinite(mu), "hypergradient_error: mu = ", mu, ", must be finite and positive");
  require_not_negative("hypergradient_error", "C_y", C_y);
  require_not_negative("hypergradient_error", "cross_norm", cross_norm);
  require_not_negative("hypergradient_error", "lower_gradient_norm", lower_gradient_norm);
  require_not_negative("hypergradient_error", "cg_residual", cg_residual);
  return C_y * lower_gradient_norm / mu + cross_norm * cg_residual / mu;
}

}  // namespace hypertape::theory
