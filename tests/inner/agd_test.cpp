#include "hypertape/inner/agd.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "support/dense_operator.hpp"
#include "support/relative.hpp"

namespace hypertape {
namespace {

using testing::relative;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

double momentum(double kappa) { return (std::sqrt(kappa) - 1) / (std::sqrt(kappa) + 1); }

/// h(z) = (z - minimum)' A (z - minimum) / 2, eigenvalues of A spread geometrically over [1 / kappa, 1].
struct Bowl {
  double kappa;
  Mat A;
  Vec minimum;

  explicit Bowl(double condition, Index dim = 60, std::uint64_t seed = 1)
      : kappa(condition),
        A(problems::generate_quadratic({.dims = {1, dim}, .kappa = condition, .seed = seed}).A),
        minimum(Random(seed + 100).normal(dim)) {}

  GradientMap gradient() const {
    return [this](const Vec& z, Vec& out) { out = A * (z - minimum); };
  }
  Vec gradient_at(const Vec& z) const { return A * (z - minimum); }
  Vec eigenvector(bool smallest) const { return problems::symmetric_eigenvectors(A).col(smallest ? 0 : A.rows() - 1); }
  double distance(const Vec& z) const { return (z - minimum).norm(); }
};

/// A smooth, strongly convex function that is not quadratic: sum sqrt(1 + z_i^2) + i z_i^2 / 2 - z_i.
void nonlinear_gradient(const Vec& z, Vec& out) {
  out.resize(z.size());
  for (Index i = 0; i < z.size(); ++i)
    out[i] = z[i] / std::sqrt(1 + z[i] * z[i]) + static_cast<double>(i + 1) * z[i] - 1;
}

/// The method as it is printed: points z_0 .. z_T, and the extrapolated ones w_0 .. w_T.
struct Printed {
  std::vector<Vec> z, w;
};

Printed nesterov(const GradientMap& gradient, const Vec& start, double alpha, double beta, int T) {
  Printed out{{start}, {start}};
  Vec g;
  for (int t = 0; t < T; ++t) {
    gradient(out.w.back(), g);
    const Vec next = out.w.back() - alpha * g;
    out.w.push_back(next + beta * (next - out.z.back()));
    out.z.push_back(next);
  }
  return out;
}

/// (1 + kappa) (1 - 1/sqrt(kappa))^T, which bounds |z_T - z*|^2 / |z_0 - z*|^2.
double accelerated_bound(double kappa, int T) { return (1 + kappa) * std::pow(1 - 1 / std::sqrt(kappa), T); }

}  // namespace

TEST_CASE("a fixed number of steps is the iteration as printed") {
  const Vec start = Random(3).normal(6);
  for (const double beta : {0.0, 0.3, 0.9})
    for (const int T : {1, 2, 3, 10, 50}) {
      CAPTURE(beta);
      CAPTURE(T);
      int calls = 0;
      const GradientMap gradient = [&](const Vec& at, Vec& out) {
        ++calls;
        nonlinear_gradient(at, out);
      };
      Vec z = start;
      const AgdResult result = agd(gradient, z, {.step = 0.12, .momentum = beta, .max_iterations = T});
      CHECK(calls == T);
      CHECK(result.iterations == T);
      CHECK(result.status == Status::iteration_limit);
      CHECK(result.message.empty());
      const Printed printed = nesterov(nonlinear_gradient, start, 0.12, beta, T);
      CHECK(relative(z, printed.z.back()) < 1e-14);
      Vec last;  // the gradient was last computed where the last step began
      nonlinear_gradient(printed.w[static_cast<std::size_t>(T) - 1], last);
      CHECK(result.gradient_norm == doctest::Approx(last.norm()).epsilon(1e-13));
    }
}

TEST_CASE("one step is a gradient step, whatever the momentum") {
  const Bowl bowl(10, 5);
  const Vec start = Random(4).normal(5);
  Vec z = start;
  const AgdResult result = agd(bowl.gradient(), z, {.step = 0.7, .momentum = 0.9, .max_iterations = 1});
  CHECK(relative(z, start - 0.7 * bowl.gradient_at(start)) < 1e-15);
  CHECK(result.gradient_norm == bowl.gradient_at(start).norm());
}

TEST_CASE("no momentum is gradient descent, and gd takes none") {
  const Bowl bowl(30, 8);
  const Vec start = Random(5).normal(8);
  Vec by_hand = start, by_agd = start, by_gd = start;
  for (int t = 0; t < 25; ++t) by_hand -= 0.9 * bowl.gradient_at(by_hand);
  agd(bowl.gradient(), by_agd, {.step = 0.9, .max_iterations = 25});
  const AgdResult result = gd(bowl.gradient(), by_gd, {.step = 0.9, .momentum = 0.8, .max_iterations = 25});
  CHECK(relative(by_agd, by_hand) < 1e-14);
  CHECK(by_gd == by_agd);
  CHECK(result.iterations == 25);
  AgdWorkspace workspace;
  Vec again = start;
  gd(bowl.gradient(), again, {.step = 0.9, .momentum = 0.8, .max_iterations = 25}, workspace);
  CHECK(again == by_gd);
}

TEST_CASE("condition number 1: no momentum, and one step is exact") {
  const Bowl bowl(1, 7);
  CHECK(momentum(1) == 0);
  Vec z = Vec::Zero(7);
  const AgdResult result =
      agd(bowl.gradient(), z, {.step = 1, .momentum = momentum(1), .max_iterations = 10, .tolerance = 1e-12});
  CHECK(result.status == Status::converged);
  CHECK(result.iterations == 2);  // a gradient to step along, and one that is zero
  CHECK(bowl.distance(z) < 1e-13);
}

TEST_CASE("a tolerance ends at the first extrapolated point with a small gradient, where all belongs together") {
  const Bowl bowl(200, 20);
  const Vec start = Random(6).normal(20);
  for (const double tolerance : {1e-1, 1e-4, 1e-9}) {
    CAPTURE(tolerance);
    AgdWorkspace workspace;
    Vec z = start;
    const AgdResult result =
        agd(bowl.gradient(), z, {.step = 1, .momentum = momentum(200), .max_iterations = 10000, .tolerance = tolerance},
            workspace);
    REQUIRE(result.status == Status::converged);
    CHECK(result.message.empty());
    CHECK(result.gradient_norm <= tolerance);
    CHECK(result.gradient_norm == bowl.gradient_at(z).norm());
    CHECK(workspace.gradient == bowl.gradient_at(z));

    const Printed printed = nesterov(bowl.gradient(), start, 1, momentum(200), result.iterations);
    const auto last = static_cast<std::size_t>(result.iterations) - 1;
    CHECK((z - printed.w[last]).norm() < 1e-14);
    CHECK((z - printed.z[last]).norm() > 1e-3 * tolerance);  // the iterate beside it is another point
    for (std::size_t t = 0; t < last; ++t) CHECK(bowl.gradient_at(printed.w[t]).norm() > tolerance);
  }
}

TEST_CASE("a start that is good enough is returned as it is; without a tolerance only the count stops") {
  const Bowl bowl(10, 4);
  Vec z = bowl.minimum;
  AgdResult result = agd(bowl.gradient(), z, {.step = 1, .momentum = 0.5, .max_iterations = 9, .tolerance = 1e-8});
  CHECK(result.status == Status::converged);
  CHECK(result.iterations == 1);
  CHECK(z == bowl.minimum);
  result = agd(bowl.gradient(), z, {.step = 1, .momentum = 0.5, .max_iterations = 9});
  CHECK(result.status == Status::iteration_limit);
  CHECK(result.iterations == 9);
  CHECK(result.gradient_norm == 0);
  CHECK(z == bowl.minimum);
}

TEST_CASE("after a count, the norm returned bounds the gradient at z for steps up to 2/l, and not beyond") {
  const Bowl bowl(50, 15);
  const Vec random_start = Random(7).normal(15), stiff_start = bowl.minimum + bowl.eigenvector(false);
  const auto solve = [&](Vec& z, double alpha, double beta, int T) {
    return agd(bowl.gradient(), z, {.step = alpha, .momentum = beta, .max_iterations = T}).gradient_norm;
  };
  for (const double alpha : {0.3, 1.0, 1.9, 2.0})
    for (const double beta : {0.0, 0.6})
      for (const int T : {1, 2, 5, 30})
        for (const Vec& start : {random_start, stiff_start}) {
          CAPTURE(alpha);
          CAPTURE(beta);
          CAPTURE(T);
          Vec z = start;
          const double bound = solve(z, alpha, beta, T);
          CHECK(bowl.gradient_at(z).norm() <= bound * (1 + 1e-12));
        }
  Vec z = stiff_start;
  const double no_bound = solve(z, 2.5, 0, 1);
  CHECK(bowl.gradient_at(z).norm() > 1.4 * no_bound);
}

TEST_CASE("the lemma's rate holds for agd, and plain descent misses it") {
  struct Case {
    double kappa;
    int misses;  // a T at which descent along the smallest eigenvector is above the bound
  };
  for (const Case& at : {Case{10, 20}, Case{100, 70}, Case{1e3, 300}, Case{1e4, 1200}}) {
    const double kappa = at.kappa;
    CAPTURE(kappa);
    const Bowl bowl(kappa);
    const Vec slow = bowl.minimum + bowl.eigenvector(true);
    const std::vector<Vec> starts{slow, bowl.minimum + bowl.eigenvector(false), Vec::Zero(60), Random(8).normal(60)};
    for (const int T : {1, 2, 5, 20, at.misses, 2 * at.misses}) {
      CAPTURE(T);
      for (const Vec& start : starts) {
        Vec z = start;
        agd(bowl.gradient(), z, {.step = 1, .momentum = momentum(kappa), .max_iterations = T});
        const double bound = accelerated_bound(kappa, T) * std::pow(bowl.distance(start), 2);
        CHECK(std::pow(bowl.distance(z), 2) <= bound);
      }
    }
    Vec z = slow;
    gd(bowl.gradient(), z, {.step = 1, .max_iterations = at.misses});
    CHECK(std::pow(bowl.distance(z), 2) > 1.5 * accelerated_bound(kappa, at.misses));
    // So does momentum that is made for another problem.
    z = slow;
    agd(bowl.gradient(), z, {.step = 1, .momentum = momentum(kappa / 10), .max_iterations = 4 * at.misses});
    CHECK(std::pow(bowl.distance(z), 2) > accelerated_bound(kappa, 4 * at.misses));
  }
}

TEST_CASE("conjugate gradients meet their rate in the plain norm, and descent misses it") {
  struct Case {
    double kappa;
    int misses;
  };
  for (const Case& at : {Case{10, 10}, Case{100, 30}, Case{1e3, 100}, Case{1e4, 350}}) {
    const double kappa = at.kappa;
    CAPTURE(kappa);
    const Bowl bowl(kappa);
    testing::DenseOperator A(bowl.A);
    const Vec b = bowl.A * bowl.minimum;
    const auto bound = [&](int T, const Vec& start) {
      return 2 * std::sqrt(kappa) * std::pow(momentum(kappa), T) * bowl.distance(start);
    };
    const Vec slow = bowl.minimum + bowl.eigenvector(true);
    for (const int T : {1, 2, 5, 10, 20, 40, at.misses})
      for (const Vec& start : {Vec(Vec::Zero(60)), Vec(Random(9).normal(60)), slow}) {
        CAPTURE(T);
        Vec q = start;
        conjugate_gradient(A, b, q, {.max_iterations = T});
        CHECK(bowl.distance(q) <= bound(T, start) + 1e-11);  // as far as rounding lets it
      }
    Vec q = slow;
    gd(bowl.gradient(), q, {.step = 1, .max_iterations = at.misses});
    CHECK(bowl.distance(q) > 1.5 * bound(at.misses, slow));
  }
}

TEST_CASE("a gradient that is not finite is a status, and z stays at the last finite iterate") {
  const Bowl bowl(20, 5);
  const Vec start = Random(10).normal(5);
  const AgdOptions options{.step = 1, .momentum = 0.4, .max_iterations = 20};
  for (const double bad : {nan, infinity, -infinity})
    for (const int when : {1, 2, 6}) {
      CAPTURE(bad);
      CAPTURE(when);
      int calls = 0;
      const GradientMap gradient = [&](const Vec& at, Vec& out) {
        out = bowl.gradient_at(at);
        if (++calls == when) out[3] = bad;
      };
      Vec z = start;
      const AgdResult result = agd(gradient, z, options);
      CHECK(result.status == Status::not_finite);
      CHECK(result.iterations == when);
      CHECK(calls == when);
      const Printed printed = nesterov(bowl.gradient(), start, 1, 0.4, when - 1);
      CHECK(relative(z, printed.z.back()) < 1e-14);
      CHECK(result.message.find("at step " + std::to_string(when) + ", step length 1") != std::string::npos);
      CHECK(std::isfinite(result.gradient_norm));
    }
}

TEST_CASE("entries that are finite with a norm that is not are not finite either") {
  Vec z = Vec::Zero(2);
  const AgdResult result =
      agd([](const Vec&, Vec& out) { out = Vec::Constant(2, 1e200); }, z, {.step = 1, .max_iterations = 5});
  CHECK(result.status == Status::not_finite);
  CHECK(z == Vec::Zero(2));
}

TEST_CASE("a step that is far too long diverges, and says so with numbers") {
  const Bowl bowl(10, 5);
  for (const double beta : {0.0, 0.5}) {
    Vec z = Random(11).normal(5);
    const double first = bowl.gradient_at(z).norm();
    const AgdResult result = agd(bowl.gradient(), z, {.step = 10, .momentum = beta, .max_iterations = 1000});
    CHECK(result.status == Status::diverged);
    CHECK(result.iterations < 20);
    CHECK(result.gradient_norm > 1e10 * first);
    CHECK(std::isfinite(result.gradient_norm));
    CHECK(z.allFinite());
    CHECK(result.message.find("agd: |gradient| grew from ") == 0);
    CHECK(result.message.find("in " + std::to_string(result.iterations) + " steps of length 10, which is too long") !=
          std::string::npos);
  }
  // From a gradient of zero there is nothing to grow from; growth is measured against 1 then.
  Vec z = bowl.minimum;
  CHECK(agd(bowl.gradient(), z, {.step = 10, .max_iterations = 100}).status == Status::iteration_limit);
}

TEST_CASE("a workspace that was used for another size is of no consequence") {
  const Bowl small(10, 3), large(10, 9);
  AgdWorkspace workspace;
  Vec z = Vec::Zero(9), fresh = Vec::Zero(3), reused = Vec::Zero(3);
  const AgdOptions options{.step = 1, .momentum = 0.5, .max_iterations = 12};
  agd(large.gradient(), z, options, workspace);
  agd(small.gradient(), fresh, options);
  agd(small.gradient(), reused, options, workspace);
  CHECK(reused == fresh);
}

TEST_CASE("misuse is refused, and z left as it was") {
  const Bowl bowl(10, 3);
  Vec z = Vec::Ones(3);
  const auto solve = [&](const AgdOptions& options) { agd(bowl.gradient(), z, options); };
  CHECK_THROWS_WITH_AS(solve({}), "agd: step = 0, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(solve({.step = -0.5}), "agd: step = -0.5, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(solve({.step = nan}), "agd: step = nan, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(solve({.step = 1, .momentum = -0.1}), "agd: momentum = -0.1, must satisfy 0 <= momentum < 1",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(solve({.step = 1, .momentum = 1}), "agd: momentum = 1, must satisfy 0 <= momentum < 1",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(solve({.step = 1, .max_iterations = 0}), "agd: max_iterations = 0, must be at least 1",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(solve({.step = 1, .tolerance = -1e-3}), "agd: tolerance = -0.001, must not be negative",
                       std::invalid_argument);
  CHECK_THROWS_AS(solve({.step = 1, .tolerance = nan}), std::invalid_argument);
  CHECK(z == Vec::Ones(3));
  CHECK_NOTHROW(gd(bowl.gradient(), z, {.step = 1, .momentum = 7, .max_iterations = 1}));  // gd does not look at it
}

}  // namespace hypertape
