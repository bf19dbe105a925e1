#include "hypertape/theory/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hypertape/core/require.hpp"

namespace hypertape::theory {

namespace {

constexpr double rounding = 1e-12;  // so that 1 / theta = 3.9999999999999996 counts as 4

void require_positive(const char* name, double value) {
  require(value > 0 && std::isfinite(value), "theory: ", name, " = ", value, ", must be finite and positive");
}

/// A number of steps, at least 1.
int count(const char* name, double value) {
  constexpr int limit = std::numeric_limits<int>::max();
  require(value <= limit, "theory: ", name, " = ", value, ", must be at most ", limit);
  return static_cast<int>(std::max(1.0, value));
}

void check(const PhiConstants& phi, double epsilon) {
  require_positive("L", phi.L);
  require_positive("rho", phi.rho);
  const double limit = phi.L * phi.L / phi.rho;
  require(epsilon > 0 && epsilon <= limit, "theory: epsilon = ", epsilon,
          ", must satisfy 0 < epsilon <= L^2 / rho = ", limit);
}

/// (rho epsilon eta^2)^{1/4}
double theta_unit(const PhiConstants& phi, double epsilon, double eta) {
  return std::pow(phi.rho * epsilon * eta * eta, 0.25);
}

}  // namespace

RahgdParameters rahgd_parameters(const PhiConstants& phi, double epsilon, Constants constants) {
  check(phi, epsilon);
  RahgdParameters p;
  p.eta = 1 / (4 * phi.L);
  p.B = std::sqrt(epsilon / phi.rho);
  p.theta = 4 * theta_unit(phi, epsilon, p.eta);
  if (constants == Constants::printed) {
    p.K = count("K", std::ceil((1 - rounding) / p.theta));
    p.sigma = epsilon * epsilon;
  } else {
    p.K = count("K", std::floor((1 + rounding) / p.theta));
    p.theta = 1.0 / p.K;
    p.sigma = epsilon / 10;
  }
  return p;
}

PrahgdParameters prahgd_parameters(const PhiConstants& phi, double epsilon, const PrahgdSetting& setting,
                                   Constants constants) {
  check(phi, epsilon);
  const double zeta = setting.zeta, root_d = std::sqrt(static_cast<double>(setting.dimension));
  require(setting.dimension >= 1, "theory: dimension = ", setting.dimension, ", must be at least 1");
  require(zeta > 0 && zeta < 1, "theory: zeta = ", zeta, ", must satisfy 0 < zeta < 1");
  require_positive("gap", setting.gap);

  const bool printed = constants == Constants::printed;
  const double C = std::sqrt(2 * phi.L * setting.gap);
  PrahgdParameters p;
  p.eta = 1 / (4 * phi.L);
  p.theta = (printed ? 0.5 : 1) * theta_unit(phi, epsilon, p.eta);

  const auto derive_from = [&](double chi) {
    p.chi = chi;
    p.B = std::sqrt(epsilon / phi.rho) / ((printed ? 288 : 320) * chi * chi);
    p.K = count("K", std::ceil(printed ? 2 * chi / p.theta : chi / std::log1p(p.theta / 2)));
    p.r = std::min(phi.L * p.B * p.B / (4 * C), p.theta * p.B / (20.0 * p.K));  // the other two terms are larger
  };
  if (printed) {
    const double chi = std::log(root_d * root_d / (zeta * epsilon));
    require(chi > 0, "theory: chi = log(d / (zeta epsilon)) = ", chi, ", must be positive");
    derive_from(chi);
  } else {
    // The right-hand side grows with chi, but only like 2 log chi, and is above 7 at chi = 1 (theta <= 1/2 and
    // r <= theta B / (20 K) there). So these iterates climb, and stop at the smallest solution.
    double next = 1;
    while (next > p.chi * (1 + 1e-15)) {
      derive_from(next);
      next = std::log(20 * p.B * root_d / (p.theta * zeta * p.r));
    }
  }
  p.sigma = phi.rho * p.B * zeta * p.r * p.theta / (2 * root_d);
  if (printed) p.sigma = std::min(p.sigma, epsilon * epsilon);
  return p;
}

double epoch_decrease(const PhiConstants& phi, const RahgdParameters& p) {
  const double s = p.sigma, BB = p.B * p.B;
  if (p.K == 1) return 7 * BB / (8 * p.eta) - s * p.B;  // a plain gradient step, longer than B
  const double curved = 2 * phi.rho * BB + s, moved = 3 * p.B + p.eta * s, weight = p.eta * p.K / p.theta;
  return 3 * p.theta * BB / (8 * p.eta * p.K) - 5 * weight / 2 * curved * curved - phi.rho / 6 * moved * moved * moved -
         weight / 2 * s * s;
}

double gradient_bound(const PhiConstants& phi, const RahgdParameters& p) {
  if (p.K == 1) return p.B / p.eta + p.sigma;  // the output is the point of the last gradient, and eta |u| <= B
  return 2 * std::sqrt(2) * p.B / (p.eta * p.K * p.K) + 2 * p.theta * p.B / (p.eta * p.K) + 4 * phi.rho * p.B * p.B +
         p.sigma;
}

AgdParameters agd_parameters(const Smoothness& smoothness) {
  smoothness.check();
  const double root = std::sqrt(smoothness.kappa());
  return {.alpha = 1 / smoothness.l, .beta = (root - 1) / (root + 1)};
}

InnerAccuracy inner_accuracy(const Smoothness& smoothness, const PhiConstants& phi, double sigma, Constants constants) {
  smoothness.check();
  require_positive("sigma", sigma);
  const double lipschitz = constants == Constants::printed ? phi.L : phi.C_y;
  require_positive(constants == Constants::printed ? "L" : "C_y", lipschitz);
  return {.y = sigma / (2 * lipschitz), .v = sigma / (2 * smoothness.l)};
}

namespace {

void check_steps(double kappa, double distance, double accuracy) {
  require(kappa >= 1 && std::isfinite(kappa), "theory: kappa = ", kappa, ", must be finite and at least 1");
  require(distance >= 0 && std::isfinite(distance), "theory: distance = ", distance,
          ", must be finite and not negative");
  require_positive("accuracy", accuracy);
}

}  // namespace

int agd_steps(double kappa, double distance, double accuracy) {
  check_steps(kappa, distance, accuracy);
  return count("T", std::ceil(2 * std::sqrt(kappa) * std::log(std::sqrt(kappa + 1) * distance / accuracy)));
}

int cg_steps(double kappa, double distance, double accuracy) {
  check_steps(kappa, distance, accuracy);
  const double root = std::sqrt(kappa);
  return count("T'", std::ceil((root + 1) / 2 * std::log(2 * root * distance / accuracy)));
}

int agd_steps(const InnerSetting& s, int k, Constants constants) {
  require(k >= -1, "agd_steps: k = ", k, ", must be at least -1");
  const double accuracy = inner_accuracy(s.smoothness, s.phi, s.sigma, constants).y, kappa = s.smoothness.kappa();
  return agd_steps(kappa, k == -1 ? s.y_bound : accuracy + 2 * kappa * s.B, accuracy);
}

int cg_steps(const InnerSetting& s, int t, int k, Constants constants) {
  require(t >= 0, "cg_steps: t = ", t, ", must not be negative");
  require(k >= 0, "cg_steps: k = ", k, ", must not be negative");
  const double accuracy = inner_accuracy(s.smoothness, s.phi, s.sigma, constants).v;
  const double v_bound = s.smoothness.M / s.smoothness.mu;
  const bool from_start = k == 0 && (t == 0 || constants == Constants::printed);
  return cg_steps(s.smoothness.kappa(), from_start ? s.v_norm + v_bound : accuracy + 2 * v_bound, accuracy);
}

}  // namespace hypertape::theory
