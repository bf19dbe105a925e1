// RAHGD with the parameters of its theorem, corrected: what the theory promises for every epoch and for the output.

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/outer/rahgd.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "hypertape/theory/parameters.hpp"
#include "problems/spectrum.hpp"

namespace hypertape {
namespace {

constexpr Index dim = 6;
constexpr double reach = 1.3;  // |x_i| <= reach throughout

/// Phi(x) = sum_i c_i (x_i^4 / 4 - x_i^2 / 2), seen through a lower level of condition 10 that moves y to x.
double phi(const Vec& x) {
  double sum = 0;
  for (Index i = 0; i < dim; ++i) sum += (1 + 0.1 * static_cast<double>(i)) * (std::pow(x[i], 4) / 4 - x[i] * x[i] / 2);
  return sum;
}

Vec grad_phi(const Vec& x) {
  Vec out(dim);
  for (Index i = 0; i < dim; ++i) out[i] = (1 + 0.1 * static_cast<double>(i)) * (std::pow(x[i], 3) - x[i]);
  return out;
}

TapedProblem problem() {
  Random random(4);
  const Mat A =
      problems::with_spectrum(problems::random_orthogonal(dim, random), problems::geometric_spectrum(dim, 10));
  return make_bilevel(
      {dim, dim},
      [](const auto&, const auto& y) {
        auto sum = 0.0 * y[0];
        for (Index i = 0; i < dim; ++i)
          sum += (1 + 0.1 * static_cast<double>(i)) * (0.25 * y[i] * y[i] * y[i] * y[i] - 0.5 * y[i] * y[i]);
        return sum;
      },
      [A](const auto& x, const auto& y) { return 0.5 * (y - x).dot(A * (y - x)); });
}

/// Of Phi where |x_i| <= reach; u = grad f(y) there, so C_y = L.
theory::PhiConstants constants() {
  const double L = 1.5 * (3 * reach * reach - 1);
  return {L, 1.5 * 6 * reach, L};
}

RahgdOptions options(const theory::RahgdParameters& p, double epsilon) {
  return {.stop = {.tolerance = epsilon},
          .lower = {.mu = 0.1, .l = 1, .cross = 1, .c_y = constants().L},
          .outer = {.eta = p.eta,
                    .theta = p.theta,
                    .B = p.B,
                    .K = p.K,
                    .strict_paper = true,
                    .ctol = 1e-300}};  // so that sigma = epsilon / 10
}

}  // namespace

TEST_CASE("epochs that end with a restart lower Phi by the corrected amount, and the output is stationary") {
  for (const double epsilon : {1e-2, 1e-3, 1e-4}) {
    CAPTURE(epsilon);
    const theory::RahgdParameters p = theory::rahgd_parameters(constants(), epsilon);
    REQUIRE(p.sigma == doctest::Approx(epsilon / 10));
    const double promised = theory::epoch_decrease(constants(), p);
    CHECK(promised >= 0.8 * std::pow(epsilon, 1.5) / std::sqrt(constants().rho));

    TapedProblem oracle = problem();
    const Vec start = 0.9 * Random(2).normal(dim).cwiseMin(1).cwiseMax(-1);
    double before = phi(start), least = std::numeric_limits<double>::infinity();
    int restarts = 0, longest = 0, length = 0;
    const Observer observer = [&](const Iterate& i) {
      REQUIRE(i.x.lpNorm<Eigen::Infinity>() < reach);
      REQUIRE((i.u - grad_phi(i.point)).norm() <= p.sigma);
      longest = std::max(longest, ++length);
      if (i.restarts == restarts) return true;
      restarts = i.restarts;
      length = 0;
      const double now = phi(i.x);
      least = std::min(least, before - now);
      before = now;
      return true;
    };
    const Result result = rahgd(oracle, options(p, epsilon), {start, start}, observer);
    CHECK(result.status == Status::converged);
    CHECK(restarts > 10);
    CHECK(longest <= p.K);
    CHECK(least >= promised);
    const double norm = grad_phi(result.average).norm();
    CHECK(norm <= theory::gradient_bound(constants(), p));
    CHECK(norm <= 83 * epsilon);
    CHECK(norm > epsilon / 1000);  // K steps end the run long before the gradient vanishes
  }
}

TEST_CASE("hypergradients that are not as accurate as the theorem asks are noticed") {
  // The same run with y and v left where they are: the errors exceed sigma, so the condition above has teeth.
  const double epsilon = 1e-3;
  const theory::RahgdParameters p = theory::rahgd_parameters(constants(), epsilon);
  TapedProblem oracle = problem();
  RahgdOptions sloppy = options(p, epsilon);
  sloppy.lower.steps = 1;
  sloppy.lower.products = 1;
  sloppy.stop.max_iterations = 50;
  const Vec start = Vec::Constant(dim, 0.5);
  double worst = 0;
  rahgd(oracle, sloppy, {start, Vec::Zero(dim)}, [&](const Iterate& i) {
    worst = std::max(worst, (i.u - grad_phi(i.point)).norm());
    return true;
  });
  CHECK(worst > p.sigma);
}

}  // namespace hypertape
