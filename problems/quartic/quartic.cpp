#include "problems/quartic/quartic.hpp"

#include "hypertape/core/require.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/spectrum.hpp"

namespace hypertape::problems {

Problem make_quartic(const QuarticSpec& spec) {
  const Index n = spec.dim;
  require(n > 0, "quartic: dim = ", n, ", must be positive");
  require(spec.kappa >= 1, "quartic: kappa = ", spec.kappa, ", must be at least 1");
  require(spec.spread >= 1, "quartic: spread = ", spec.spread, ", must be at least 1");
  Random random(spec.seed);
  const Quartic q{with_spectrum(random_orthogonal(n, random), geometric_spectrum(n, spec.kappa)),
                  geometric_spectrum(n, spec.spread)};

  auto taped = std::make_unique<TapedProblem>(
      spec.minimax ? make_minimax({n, n}, [q](const auto& x, const auto& y) { return q.F(x) - q.distance(x, y); })
                   : make_bilevel(
                         {n, n}, [q](const auto&, const auto& y) { return q.F(y); },
                         [q](const auto& x, const auto& y) { return q.distance(x, y); }));
  Problem problem;
  problem.name = spec.minimax ? "quartic_minimax" : "quartic";
  problem.plain = taped->plain();
  problem.oracle = std::move(taped);
  problem.minimax = spec.minimax;
  problem.start = {random.normal(n), Vec::Zero(n)};
  problem.constants = {1 / spec.kappa, 1};
  problem.optimum = {Vec::Zero(n), 0};
  problem.closed_form = {
      [](const Vec& x) { return x; },
      [c = q.c](const Vec& x) { return 0.25 * (c.array() * x.array().square().square()).sum(); },
      [c = q.c](const Vec& x) -> Vec { return c.array() * x.array().cube(); },
      [c = q.c](const Vec& x) -> Mat { return (3 * c.array() * x.array().square()).matrix().asDiagonal(); }};
  return problem;
}

}  // namespace hypertape::problems
