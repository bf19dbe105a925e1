#include "hypertape/outer/imcn.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "problems/synthetic_minimax/synthetic_minimax.hpp"

namespace hypertape {
namespace {

ImcnOptions options() {
  return {.stop = {.tolerance = 0, .max_iterations = 1},
          .lower = {.mu = 10, .l = 20, .steps = 60, .products = 2},
          .M = 2,
          .L = 0.2,
          .mu_s = 1};
}

}  // namespace

TEST_CASE("where the gradient is large, the step is the Cauchy step of the cubic model") {
  auto problem = problems::make_synthetic_minimax();
  const Point start{Vec{{2.0, -1.0, 0.9}}, Vec::Zero(2)};
  const Vec g = problem.closed_form.grad_phi(start.x);
  const Mat H = problem.closed_form.hess_phi(start.x);
  const double norm = g.norm(), M = 2;
  REQUIRE(norm >= 0.2 * 0.2 / M);
  const Result result = imcn(*problem.oracle, options(), start);
  // Along -g the model is -R |g| + R^2 g'Hg / (2 |g|^2) + M R^3 / 6: its minimum, by a search that knows no formula.
  const auto model = [&](double R) { return -R * norm + R * R * g.dot(H * g) / (2 * norm * norm) + M * R * R * R / 6; };
  double low = 0, high = 10;
  while (high - low > 1e-9) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (model(a) < model(b) ? high : low) = model(a) < model(b) ? b : a;
  }
  const Vec expected = start.x - low / norm * g;
  CHECK((result.last - expected).norm() < 1e-6);
  CHECK(result.counts.jv == 2);  // one product with the Hessian of Phi
}

TEST_CASE("inverses by Chebyshev's iteration agree with conjugate gradients") {
  auto problem = problems::make_synthetic_minimax();
  const Point start{Vec{{0.01, -0.01, 0.05}}, Vec::Zero(2)};
  ImcnOptions by_cg = options(), by_chebyshev = options();
  by_chebyshev.chebyshev = true;
  by_chebyshev.lower.products = 30;
  const Result a = imcn(*problem.oracle, by_cg, start), b = imcn(*problem.oracle, by_chebyshev, start);
  CHECK((a.last - b.last).norm() < 1e-10);
  by_chebyshev.lower.products = 1;  // too few: the difference shows that the iteration is used
  CHECK((a.last - imcn(*problem.oracle, by_chebyshev, start).last).norm() > 1e-8);
}

TEST_CASE("noise in the gradient leaves the saddle, and the model tells when to stop") {
  auto problem = problems::make_synthetic_minimax();
  const Point saddle{Vec::Zero(3), Vec::Zero(2)};
  ImcnOptions still = options();
  still.stop = {.tolerance = 1e-6};
  const Result stays = imcn(*problem.oracle, still, saddle);
  CHECK(stays.status == Status::converged);
  CHECK(stays.phi > -1e-9);

  ImcnOptions noisy = still;
  noisy.sigma = 1e-6;
  const Result leaves = imcn(*problem.oracle, noisy, saddle);
  CHECK(leaves.status == Status::converged);
  CHECK(problem.closed_form.phi(leaves.last) - problem.optimum->phi < 1e-6);
}

TEST_CASE("misuse is refused") {
  auto problem = problems::make_synthetic_minimax();
  const auto refused = [&](const ImcnOptions& bad, const char* message) {
    CHECK_THROWS_WITH_AS(imcn(*problem.oracle, bad, problem.start), message, std::invalid_argument);
  };
  ImcnOptions bad = options();
  bad.M = 0;
  refused(bad, "imcn: M = 0, must be positive, or auto");
  bad = options();
  bad.lower.steps = 0;
  refused(bad, "imcn: steps = 0, must be positive, or auto");
}

}  // namespace hypertape
