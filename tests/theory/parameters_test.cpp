#include "hypertape/theory/parameters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

using namespace hypertape::theory;
using doctest::Approx;

namespace {

/// Relative to the value alone: doctest's own comparison takes everything below its scale of 1 for equal to 0.
Approx about(double value, double relative = 1e-12) { return Approx(value).epsilon(relative).scale(0); }

const PhiConstants unit{.L = 1, .rho = 1, .C_y = 1};
const Smoothness kappa_100{.l = 1, .mu = 0.01, .rho = 1, .nu = 1, .M = 1};

/// epsilon^1.5 / sqrt(rho), the unit of the decrease of an epoch.
double decrease_unit(const PhiConstants& phi, double epsilon) { return epsilon * std::sqrt(epsilon / phi.rho); }

/// The worst start for accelerated gradient descent on diag(mu, l) that the test finds: |z_T| from |z_0| = 1.
double agd_error(double mu, double l, int steps) {
  const auto [alpha, beta] = agd_parameters({.l = l, .mu = mu});
  double worst = 0;
  for (const double lambda : {mu, 0.5 * (mu + l), l}) {
    double z = 1, ahead = 1;
    for (int t = 0; t < steps; ++t) {
      const double next = ahead - alpha * lambda * ahead;
      ahead = next + beta * (next - z);
      z = next;
    }
    worst = std::max(worst, std::abs(z));
  }
  return worst;
}

}  // namespace

TEST_CASE("theorem 3.4 as printed and corrected") {
  const PhiConstants phi{.L = 3, .rho = 5, .C_y = 1};
  const double theta = 4 * std::pow(5 * 1e-4 / 144, 0.25);  // 0.1727, 1 / theta = 5.79
  const auto printed = rahgd_parameters(phi, 1e-4, Constants::printed);
  CHECK(printed.eta == about(1.0 / 12));
  CHECK(printed.B == about(std::sqrt(2e-5)));
  CHECK(printed.theta == about(theta));
  CHECK(printed.theta == about(0.1726680042740901));
  CHECK(printed.K == 6);
  CHECK(printed.sigma == about(1e-8));

  const auto corrected = rahgd_parameters(phi, 1e-4);
  CHECK(corrected.eta == printed.eta);
  CHECK(corrected.B == printed.B);
  CHECK(corrected.K == 5);
  CHECK(corrected.theta == about(0.2));
  CHECK(corrected.sigma == about(1e-5));

  CHECK(rahgd_parameters(bilevel(kappa_100), 1e-2).eta == about(2.4265e-7, 1e-4));
}

TEST_CASE("1 / theta that is an integer up to rounding is that integer") {
  for (const int K : {1, 2, 3, 7, 10, 49, 1000}) {
    const double epsilon = std::pow(0.5 / K, 4);  // theta = 2 epsilon^{1/4} = 1 / K
    CHECK(rahgd_parameters(unit, epsilon).K == K);
    CHECK(rahgd_parameters(unit, epsilon, Constants::printed).K == K);
  }
}

TEST_CASE("theta stays below 1 when corrected, and reaches 2 as printed") {
  CHECK(rahgd_parameters(unit, 1, Constants::printed).theta == about(2));
  for (const double epsilon : {1.0, 0.5, 1.0 / 16}) {  // L^2 / (16 rho) = 1 / 16
    CHECK(rahgd_parameters(unit, epsilon).theta == 1);
    CHECK(rahgd_parameters(unit, epsilon).K == 1);
  }
  CHECK(rahgd_parameters(unit, 1.0 / 257).K == 2);
  CHECK_THROWS_WITH(rahgd_parameters(unit, 1.5), "theory: epsilon = 1.5, must satisfy 0 < epsilon <= L^2 / rho = 1");
}

TEST_CASE("decrease of an epoch: 7/8 and not 1") {
  const double epsilon = std::pow(2.0, -12);  // theta = 1/4, K = 4 without rounding
  auto p = rahgd_parameters(unit, epsilon);
  REQUIRE(p.K == 4);
  p.sigma = 0;
  CHECK(epoch_decrease(unit, p) == about(0.875 * decrease_unit(unit, epsilon)));  // 6 - 0.625 - 4.5
  // Every term with sigma: 6 - (2 + 1/2)^2 5/32 - 4.5 (1 + eta sigma / 3 B)^3 - (1/2)^2 / 32 at sigma = epsilon / 2.
  p.sigma = epsilon / 2;
  const double moved = 1 + p.eta * p.sigma / (3 * p.B);
  CHECK(epoch_decrease(unit, p) ==
        about((6 - 0.9765625 - 4.5 * moved * moved * moved - 0.0078125) * decrease_unit(unit, epsilon)));
  // The proof's other case, large gradients, never gives less: B^2 / (4 eta) - sigma B - 5 eta sigma^2 K / 8.
  for (double sigma = 0; sigma < 10; sigma += 0.01)
    for (const int K : {2, 3, 10}) {
      const RahgdParameters q{.eta = 0.25, .theta = 1, .B = 1, .K = K, .sigma = sigma};
      CHECK(epoch_decrease({.L = 1, .rho = 1e-9, .C_y = 1}, q) < 1 - sigma - 5 * 0.25 * sigma * sigma * K / 8);
    }
}

TEST_CASE("floor keeps the decrease, ceil destroys it") {
  for (const double epsilon : {1e-2, 1e-3}) {  // theta = 0.632 and 0.356
    CAPTURE(epsilon);
    const double one = decrease_unit(unit, epsilon);
    const double printed = epoch_decrease(unit, rahgd_parameters(unit, epsilon, Constants::printed)) / one;
    CHECK(printed == about(epsilon == 1e-2 ? -0.5563 : 0.4554, 1e-3));
    CHECK(epoch_decrease(unit, rahgd_parameters(unit, epsilon)) >= 0.80 * one);
  }
  const PhiConstants phi{.L = 7, .rho = 0.3, .C_y = 1};
  for (double epsilon = 49 / 0.3; epsilon > 1e-9; epsilon *= 0.97) {
    CAPTURE(epsilon);
    auto p = rahgd_parameters(phi, epsilon);
    const double one = decrease_unit(phi, epsilon);
    CHECK(p.theta * p.K == about(1));
    CHECK(epoch_decrease(phi, p) >= 0.80 * one);
    p.sigma = 0;
    CHECK(epoch_decrease(phi, p) >= 0.875 * one);
  }
}

TEST_CASE("one step to an epoch is gradient descent, with its own decrease and bound") {
  const RahgdParameters p{.eta = 0.125, .theta = 1, .B = 3, .K = 1, .sigma = 0.5};
  CHECK(epoch_decrease(unit, p) == about(63 - 1.5));
  CHECK(gradient_bound(unit, p) == about(24.5));
}

TEST_CASE("gradient at the output: 83 epsilon printed, 81.4 corrected, more after rounding") {
  const double epsilon = std::pow(2.0, -12);
  CHECK(gradient_bound(unit, rahgd_parameters(unit, epsilon, Constants::printed)) ==
        about((32 * (std::sqrt(2) + 1) + 4 + epsilon) * epsilon));
  CHECK(gradient_bound(unit, rahgd_parameters(unit, epsilon, Constants::printed)) < 83 * epsilon);
  CHECK(gradient_bound(unit, rahgd_parameters(unit, epsilon)) < 81.4 * epsilon);
  CHECK(gradient_bound(unit, rahgd_parameters(unit, epsilon)) > 81.3 * epsilon);
  const PhiConstants phi{.L = 7, .rho = 0.3, .C_y = 1};
  for (double e = 49 / 0.3; e > 1e-9; e *= 0.9) {
    CAPTURE(e);
    const auto p = rahgd_parameters(phi, e);
    const double c = 1 / (p.K * 2 * std::pow(0.3 * e / 49, 0.25));
    const double expected = p.K == 1 ? 16 * c * c + 0.1 : 32 * (std::sqrt(2) + 1) * c * c + 4 + 0.1;
    CHECK(gradient_bound(phi, p) == about(expected * e));
    CHECK(gradient_bound(phi, p) < 178 * e);
  }
}

TEST_CASE("theorem 4.1 as printed") {
  const PhiConstants phi{.L = 3, .rho = 5, .C_y = 1};
  auto p = prahgd_parameters(phi, 1e-3, {.dimension = 7, .zeta = 0.2, .gap = 11}, Constants::printed);
  CHECK(p.eta == about(1.0 / 12));
  CHECK(p.theta == about(0.5 * std::pow(5e-3 / 144, 0.25)));
  CHECK(p.chi == about(std::log(35000)));
  CHECK(p.B == about(4.4854031182376806e-07));
  CHECK(p.K == 546);                           // 545.2
  CHECK(p.r == about(1.857343613886864e-14));  // L B^2 / (4 C), C = sqrt(66)
  CHECK(p.sigma == about(6.042777511025905e-23));

  p = prahgd_parameters(phi, 1e-3, {.dimension = 7, .zeta = 0.2, .gap = 1e-12}, Constants::printed);
  CHECK(p.r == about(1.5765245013406203e-12));  // theta B / (20 K)
  CHECK(p.sigma == about(5.129146126249702e-21));

  const auto setting = PrahgdSetting{.dimension = 1, .zeta = 0.9, .gap = 1e-40};
  CHECK(prahgd_parameters({.L = 1, .rho = 1e18, .C_y = 1}, 1e-18, setting, Constants::printed).sigma == about(1e-36));
}

TEST_CASE("theorem 4.1 corrected: all inequalities of the proof hold") {
  const PhiConstants phis[] = {unit, {.L = 60, .rho = 90.5, .C_y = 20}, bilevel(kappa_100)};
  for (const auto& phi : phis)
    for (const double relative : {1.0, 1e-2, 1e-6})
      for (const hypertape::Index d : {1, 3, 1000000})
        for (const double zeta : {0.9, 0.1, 1e-6})
          for (const double gap : {1e-9, 1.0, 1e3}) {
            const double epsilon = relative * phi.L * phi.L / phi.rho;
            CAPTURE(phi.L);
            CAPTURE(epsilon);
            CAPTURE(d);
            CAPTURE(zeta);
            CAPTURE(gap);
            const auto p = prahgd_parameters(phi, epsilon, {.dimension = d, .zeta = zeta, .gap = gap});
            const double one = 1 + 1e-9, L = phi.L, rho = phi.rho, root_d = std::sqrt(static_cast<double>(d));
            const double eta = p.eta, theta = p.theta, B = p.B, K = p.K, r = p.r, sigma = p.sigma;
            const double C = std::sqrt(2 * L * gap), r0 = zeta * r / root_d;

            // The fixed point.
            CHECK(p.chi == about(std::log(20 * B * root_d / (theta * zeta * r)), 1e-13));
            CHECK(B == about(std::sqrt(epsilon / rho) / (320 * p.chi * p.chi)));
            CHECK(p.chi > 7);
            // Escape from saddles: theta^2 is what the curvature -sqrt(epsilon rho) is worth, the remainder stays below
            // half of the growth, and K steps grow beyond 5 B, where K - 1 do not.
            CHECK(theta * theta == about(eta * std::sqrt(epsilon * rho)));
            CHECK(20 * rho * B * eta * K * (2 / theta + K) <= 0.5);
            CHECK(theta * r0 / 4 * std::pow(1 + theta / 2, K) >= 5 * B / one);
            CHECK(theta * r0 / 4 * std::pow(1 + theta / 2, K - 1) < 5 * B * one);
            CHECK(sigma <= rho * B * r0 * theta / 2 * one);
            CHECK(r <= B);
            // The perturbation: all four bounds of its radius, and what it may undo of an epoch's decrease.
            CHECK(r <= std::min({L * B * B / (4 * C), B / std::sqrt(2), theta * B / (20 * K),
                                 std::sqrt(theta * B * B / (2 * K))}) *
                           one);
            CHECK(C * r + L * r * r / 2 <= B * B / (8 * eta));
            CHECK(5 * B * r / (4 * eta) + sigma * r / 4 + L * r * r / 2 <= theta * B * B / (8 * eta * K));
            const double decrease = epoch_decrease(phi, p);
            CHECK(decrease - theta * B * B / (8 * eta * K) >= 0.9 * theta * B * B / (4 * eta * K));
            CHECK(B * B / (4 * eta) - sigma * B - 5 * eta * sigma * sigma * K / 8 >= 0.99 * B * B / (4 * eta));
            // The output.
            CHECK(gradient_bound(phi, p) <= epsilon);
            CHECK(3 * rho * B <= 0.011 * std::sqrt(epsilon * rho));
            CHECK(sigma <= epsilon / 10);

            // As printed the remainder is not below half of the growth; the 1/2 of theta is counted twice.
            if (root_d * root_d > 3 * zeta * epsilon) {
              const auto q =
                  prahgd_parameters(phi, epsilon, {.dimension = d, .zeta = zeta, .gap = gap}, Constants::printed);
              CHECK(20 * rho * q.B * q.eta * q.K * (2 / q.theta + q.K) > 1.1);
            }
          }
}

TEST_CASE("theorem 4.1 on the W-shaped minimax problem: parameters that nobody can use") {
  // l = 20, mu = 10, rho = 2, epsilon = 0.01, d = 3, zeta = 0.1, start far from the saddle: Phi(x_0) = 0.032.
  const auto phi = minimax({.l = 20, .mu = 10, .rho = 2});
  const PrahgdSetting setting{.dimension = 3, .zeta = 0.1, .gap = 0.032 + 0.016 / 3};
  const auto printed = prahgd_parameters(phi, 0.01, setting, Constants::printed);
  const auto corrected = prahgd_parameters(phi, 0.01, setting);
  CHECK(corrected.eta == about(0.0042, 0.01));
  CHECK(corrected.theta == about(0.06296, 1e-4));
  CHECK(printed.theta == about(corrected.theta / 2));

  // With the corrected theta, chi = log(d / (zeta epsilon)) and the largest r that also has r <= B^2:
  CHECK(printed.chi == about(8.006, 1e-4));
  CHECK(static_cast<int>(2 * printed.chi / corrected.theta) == 254);
  CHECK(printed.B == about(5.69e-7, 1e-3));
  const double r = printed.B * printed.B;
  CHECK(r == about(3.24e-13, 1e-3));
  CHECK(r < phi.L * r / (4 * std::sqrt(2 * phi.L * setting.gap)));
  CHECK(printed.sigma / (printed.r * printed.theta) * r * corrected.theta == about(3.04e-20, 1e-2));
  // That chi is too small for the proof, which needs this many:
  CHECK(std::log(20 * printed.B * std::sqrt(3.0) / (corrected.theta * 0.1 * r)) == about(22.99, 1e-3));

  // The solution of the equations; epoch and perturbation are more out of reach still.
  CHECK(corrected.chi == about(23.27284123536126));
  CHECK(corrected.K == 751);
  CHECK(corrected.B == about(6.064621792003058e-08, 1e-11));
  CHECK(corrected.r == about(2.6065118058024618e-14, 1e-11));
  CHECK(corrected.sigma == about(2.6003744448853697e-22, 1e-11));
}

TEST_CASE("step and momentum of accelerated gradient descent") {
  const auto p = agd_parameters({.l = 18, .mu = 2});
  CHECK(p.alpha == about(1.0 / 18));
  CHECK(p.beta == about(0.5));
  CHECK(agd_parameters({.l = 2, .mu = 2}).beta == 0);
}

TEST_CASE("accuracy of y and v") {
  const Smoothness s{.l = 5, .mu = 1};
  const PhiConstants phi{.L = 100, .rho = 1, .C_y = 10};
  CHECK(inner_accuracy(s, phi, 0.2, Constants::printed).y == about(1e-3));
  CHECK(inner_accuracy(s, phi, 0.2).y == about(1e-2));
  CHECK(inner_accuracy(s, phi, 0.2).v == about(0.02));
}

TEST_CASE("steps are the fewest that the rates allow") {
  for (const double kappa : {1.0, 1.5, 4.0, 30.0})
    for (double distance = 0.011; distance < 1e6; distance *= 1.07) {
      CAPTURE(kappa);
      CAPTURE(distance);
      const double accuracy = 0.01, root = std::sqrt(kappa);
      const auto agd_rate = [&](int T) { return std::sqrt(1 + kappa) * std::exp(-T / (2 * root)) * distance; };
      const auto cg_rate = [&](int T) { return 2 * root * std::exp(-2 * T / (root + 1)) * distance; };
      const int T = agd_steps(kappa, distance, accuracy), N = cg_steps(kappa, distance, accuracy);
      CHECK(agd_rate(T) <= accuracy * (1 + 1e-12));
      CHECK((T == 1 || agd_rate(T - 1) > accuracy));
      CHECK(cg_rate(N) <= accuracy * (1 + 1e-12));
      CHECK((N == 1 || cg_rate(N - 1) > accuracy));
    }
  CHECK(agd_steps(100, 1e-9, 1) == 1);  // a logarithm below 0
  CHECK(agd_steps(100, 0, 1) == 1);
  CHECK(cg_steps(100, 1e-9, 1) == 1);
}

TEST_CASE("accelerated gradient descent meets the accuracy in these steps, and not in a fifth of them") {
  for (const double kappa : {2.0, 10.0, 100.0, 1000.0}) {
    CAPTURE(kappa);
    const int T = agd_steps(kappa, 1, 1e-6);
    CHECK(agd_error(1 / kappa, 1, T) <= 1e-6);
    CHECK(agd_error(1 / kappa, 1, T / 5) > 1e-6);
  }
}

TEST_CASE("T and T' at kappa = 100, epsilon = 0.01") {
  const auto phi = bilevel(kappa_100);
  const auto setting = [&](Constants constants) {
    const auto p = rahgd_parameters(phi, 0.01, constants);
    return InnerSetting{.smoothness = kappa_100, .phi = phi, .B = p.B, .sigma = p.sigma, .y_bound = 3, .v_norm = 7};
  };
  const auto printed = setting(Constants::printed);          // sigma = 1e-4
  CHECK(agd_steps(printed, -1, Constants::printed) == 544);  // 543.1
  CHECK(agd_steps(printed, 0, Constants::printed) == 340);   // 339.3
  CHECK(agd_steps(printed, 1, Constants::printed) == 340);
  CHECK(cg_steps(printed, 0, 0, Constants::printed) == 97);   // 96.6
  CHECK(cg_steps(printed, 5, 0, Constants::printed) == 97);   // of v_{0,-1}, where the start is another
  CHECK(cg_steps(printed, 0, 1, Constants::printed) == 101);  // 100.1

  const auto corrected = setting(Constants::corrected);  // sigma = 1e-3, C_y for L
  CHECK(agd_steps(corrected, -1) == 405);                // 404.7
  CHECK(agd_steps(corrected, 0) == 201);                 // 200.96
  CHECK(agd_steps(corrected, 1) == 201);
  CHECK(cg_steps(corrected, 0, 0) == 84);  // 83.98
  CHECK(cg_steps(corrected, 1, 0) == 88);  // 87.4
  CHECK(cg_steps(corrected, 1, 1) == 88);
}

TEST_CASE("misuse is named") {
  CHECK_THROWS_WITH(rahgd_parameters({.L = 1, .rho = 0, .C_y = 1}, 0.1),
                    "theory: rho = 0, must be finite and positive");
  CHECK_THROWS_WITH(rahgd_parameters(unit, 0), "theory: epsilon = 0, must satisfy 0 < epsilon <= L^2 / rho = 1");
  CHECK_THROWS_WITH(rahgd_parameters(unit, 1e-40), "theory: K = 5e+09, must be at most 2147483647");
  CHECK_THROWS_WITH(prahgd_parameters(unit, 0.1, {.dimension = 0}), "theory: dimension = 0, must be at least 1");
  CHECK_THROWS_WITH(prahgd_parameters(unit, 0.1, {.zeta = 1}), "theory: zeta = 1, must satisfy 0 < zeta < 1");
  CHECK_THROWS_WITH(prahgd_parameters(unit, 0.1, {.gap = 0}), "theory: gap = 0, must be finite and positive");
  CHECK_THROWS_WITH(prahgd_parameters({.L = 9, .rho = 1, .C_y = 1}, 80, {}, Constants::printed),
                    "theory: chi = log(d / (zeta epsilon)) = -2.07944, must be positive");
  CHECK_THROWS_WITH(agd_steps(0.5, 1, 1), "theory: kappa = 0.5, must be finite and at least 1");
  CHECK_THROWS_WITH(agd_steps(2, -1, 1), "theory: distance = -1, must be finite and not negative");
  CHECK_THROWS_WITH(cg_steps(2, 1, 0), "theory: accuracy = 0, must be finite and positive");
  CHECK_THROWS_WITH(inner_accuracy(kappa_100, {.L = 1, .rho = 1, .C_y = 0}, 1),
                    "theory: C_y = 0, must be finite and positive");
  const InnerSetting setting{.smoothness = kappa_100, .phi = unit, .B = 1, .sigma = 1};
  CHECK_THROWS_WITH(agd_steps(setting, -2), "agd_steps: k = -2, must be at least -1");
  CHECK_THROWS_WITH(cg_steps(setting, -1, 0), "cg_steps: t = -1, must not be negative");
  CHECK_THROWS_WITH(cg_steps(setting, 0, -1), "cg_steps: k = -1, must not be negative");
}
