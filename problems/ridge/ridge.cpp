#include "problems/ridge/ridge.hpp"

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/dense.hpp"

namespace hypertape::problems {
namespace {

Mat curvature(const Ridge& r, const Vec& x) {
  Mat H = r.X.transpose() * r.X / static_cast<double>(r.t.size());
  H.diagonal() += x.array().exp().matrix();
  return H;
}

Vec solution(const Ridge& r, const Vec& x) {
  return Cholesky(curvature(r, x)).solve(r.X.transpose() * r.t / static_cast<double>(r.t.size()));
}

}  // namespace

GeneratedRidge generate_ridge(const RidgeSpec& spec) {
  require(spec.rows > 0, "ridge: rows = ", spec.rows, ", must be positive");
  require(spec.features > 0, "ridge: features = ", spec.features, ", must be positive");
  Random random(spec.seed);
  GeneratedRidge out;
  Ridge& r = out.data;
  r.X = random.normal(spec.rows, spec.features);
  r.V = random.normal(spec.rows, spec.features);
  r.t = r.X * random.normal(spec.features) + 0.5 * random.normal(spec.rows);
  out.optimum = random.normal(spec.features) - Vec::Ones(spec.features);
  r.s = r.V * solution(r, out.optimum);
  return out;
}

Problem make_ridge(const GeneratedRidge& instance) {
  const Ridge& r = instance.data;
  const Index features = r.X.cols();
  auto taped = std::make_unique<TapedProblem>(make_bilevel(
      {features, features}, [r](const auto& x, const auto& y) { return r.f(x, y); },
      [r](const auto& x, const auto& y) { return r.g(x, y); }));

  const auto y_star = [r](const Vec& x) { return solution(r, x); };
  const double rows = static_cast<double>(r.s.size());
  const auto phi = [r, rows](const Vec& x) { return (r.V * solution(r, x) - r.s).squaredNorm() / (2 * rows); };
  const auto grad_phi = [r, rows](const Vec& x) -> Vec {
    const Vec y = solution(r, x);
    const Vec v = Cholesky(curvature(r, x)).solve(r.V.transpose() * (r.V * y - r.s) / rows);
    return -(x.array().exp() * y.array() * v.array()).matrix();
  };

  Problem problem;
  problem.name = "ridge";
  problem.plain = taped->plain();
  problem.oracle = std::move(taped);
  problem.start = {Vec::Zero(features), Vec::Zero(features)};
  const Vec eigenvalues = symmetric_eigenvalues(curvature(r, problem.start.x));
  problem.constants = {eigenvalues.minCoeff(), eigenvalues.maxCoeff()};
  problem.optimum = {instance.optimum, 0};
  problem.closed_form = {y_star, phi, grad_phi, {}};
  return problem;
}

}  // namespace hypertape::problems
