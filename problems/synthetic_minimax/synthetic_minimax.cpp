#include "problems/synthetic_minimax/synthetic_minimax.hpp"

#include "hypertape/core/require.hpp"
#include "hypertape/tape/taped_problem.hpp"

namespace hypertape::problems {
namespace {

/// First and second derivative of w_shape.
struct Slope {
  double first, second;
};

Slope w_slope(double signed_t, double eps, double L) {
  const double root = std::sqrt(eps), t = std::abs(signed_t), sign = signed_t < 0 ? -1 : 1;
  if (t <= root) return {sign * (-2 * root * t + t * t), -2 * root + 2 * t};
  if (t <= L * root) return {sign * -eps, 0};
  const double r = t - (L + 1) * root;
  return {sign * (2 * root * r + r * r), 2 * root + 2 * r};
}

}  // namespace

Problem make_synthetic_minimax(const SyntheticMinimax& spec, MinimaxStart start) {
  const double eps = spec.eps, L = spec.L;
  require(eps > 0, "synthetic_minimax: eps = ", eps, ", must be positive");
  require(L >= 1, "synthetic_minimax: L = ", L, ", must be at least 1");
  auto taped = std::make_unique<TapedProblem>(
      make_minimax({3, 2}, [spec](const auto& x, const auto& y) { return spec.f(x, y); }));

  Problem problem;
  problem.name = "synthetic_minimax";
  problem.plain = taped->plain();
  problem.oracle = std::move(taped);
  problem.minimax = true;
  problem.start.x = start == MinimaxStart::near_saddle ? Vec{{1e-3, 1e-3, 1e-16}} : Vec{{0, 0, 1}};
  problem.start.y = Vec::Zero(2);
  problem.constants = {10, 20};
  const double root = std::sqrt(eps);
  problem.optimum = {Vec{{0, 0, (L + 1) * root}}, -(L + 1.0 / 3) * eps * root};
  problem.closed_form = {[](const Vec& x) -> Vec {
                           return Vec{{x[0] / 20, x[1] / 10}};
                         },
                         [eps, L](const Vec& x) { return w_shape(x[2], eps, L) + x[0] * x[0] / 40 + x[1] * x[1] / 20; },
                         [eps, L](const Vec& x) -> Vec {
                           return Vec{{x[0] / 20, x[1] / 10, w_slope(x[2], eps, L).first}};
                         },
                         [eps, L](const Vec& x) -> Mat {
                           return Vec{{0.05, 0.1, w_slope(x[2], eps, L).second}}.asDiagonal();
                         }};
  for (const double t : {-(L + 2), -0.5 * (L + 1), -0.5, 0.5, 0.5 * (L + 1), L + 2})
    problem.branches.push_back({Vec{{0.3, -0.2, t * root}}, Vec{{0.1, 0.2}}});
  return problem;
}

}  // namespace hypertape::problems
