#include "problems/strict_saddle/strict_saddle.hpp"

#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/spectrum.hpp"

namespace hypertape::problems {

Problem make_strict_saddle(const StrictSaddleSpec& spec, SaddleStart start) {
  require(spec.dim >= 2, "strict_saddle: dim = ", spec.dim, ", must be at least 2");
  require(spec.gap > 0 && spec.gap < 0.4, "strict_saddle: gap = ", spec.gap, ", must satisfy 0 < gap < 0.4");
  require(spec.kappa >= 1, "strict_saddle: kappa = ", spec.kappa, ", must be at least 1");
  Random random(spec.seed);
  const Index n = spec.dim;
  Vec eigenvalues(n);
  eigenvalues[0] = 1;
  eigenvalues[1] = 1 - spec.gap;
  for (Index i = 2; i < n; ++i) eigenvalues[i] = 0.6 * static_cast<double>(n - i) / static_cast<double>(n - 2);
  const Mat V = random_orthogonal(n, random);
  StrictSaddle s;
  s.M = with_spectrum(V, eigenvalues);
  s.A = with_spectrum(random_orthogonal(n, random), geometric_spectrum(n, spec.kappa));

  auto taped = std::make_unique<TapedProblem>(make_bilevel(
      {n, n}, [s](const auto& x, const auto& y) { return s.f(x, y); },
      [s](const auto& x, const auto& y) { return s.g(x, y); }));
  Problem problem;
  problem.name = "strict_saddle";
  problem.plain = taped->plain();
  problem.oracle = std::move(taped);
  const Vec x = V.col(1) * (start == SaddleStart::saddle ? std::sqrt(eigenvalues[1]) : 0.3);
  problem.start = {x, x};
  problem.constants = {1 / spec.kappa, 1};
  problem.optimum = {V.col(0), (eigenvalues.squaredNorm() - 1) / 4};
  problem.closed_form = {
      [](const Vec& at) { return at; }, [s](const Vec& at) { return (at * at.transpose() - s.M).squaredNorm() / 4; },
      [s](const Vec& at) -> Vec { return at.squaredNorm() * at - s.M * at; },
      [s, n](const Vec& at) -> Mat { return at.squaredNorm() * Mat::Identity(n, n) + 2 * at * at.transpose() - s.M; }};
  return problem;
}

}  // namespace hypertape::problems
