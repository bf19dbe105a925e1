#include "hypertape/outer/minimize.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/inner/newton.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/registry.hpp"
#include "support/forwarding_oracle.hpp"
#include "support/ridge_weight.hpp"

using namespace hypertape;
using testing::ridge_weight;
using testing::true_gradient;

TEST_CASE("every shipped problem is solved without a setting, and what is said of the end is true") {
  for (const auto& entry : problems::registry()) {
    CAPTURE(entry.name);
    problems::Problem problem = problems::make_problem(entry.name);
    const Result result = minimize(*problem.oracle, problem.start, {.max_calls = 50'000});
    CAPTURE(result.message);
    CHECK(result.gradient.norm() == result.gradient_norm);
    const bool ended = result.status == Status::converged || result.status == Status::flat;
    // Weights that run off to zero make that lower level singular: how far one gets is a matter of the last digits.
    if (entry.name != "hyperparameter_logistic") CHECK(ended);
    if (ended) CHECK(true_gradient(*problem.oracle, result.x, result.y) <= 1e-6);
  }
}

TEST_CASE("ill-conditioned lower levels cost little more than others") {
  for (const double kappa : {10.0, 1e3, 1e5}) {
    CAPTURE(kappa);
    problems::Problem problem = problems::make_problem("quadratic", {.kappa = kappa});
    const Result result = minimize(*problem.oracle, problem.start, {.tolerance = 0, .rtol = 1e-6});
    CHECK(result.status == Status::converged);
    CHECK(problem.closed_form.grad_phi(result.x).norm() <= 2e-6 * problem.closed_form.grad_phi(problem.start.x).norm());
    CHECK(result.counts.total() < 1000);
  }
}

TEST_CASE("scales of x, y, f and g hardly matter") {
  const auto q = problems::generate_quadratic({.dims = {4, 8}, .kappa = 30});
  std::int64_t calls = 0;
  for (const Vec& scale : {Vec{{1, 1, 1, 1}}, Vec{{1, 1, 0x1p14, 1}}, Vec{{1, 1, 0x1p-14, 1}}, Vec{{1e3, 1e-3, 1, 1e4}},
                           Vec{{1e-4, 1e4, 1e2, 1e-4}}}) {
    const double sx = scale[0], sy = scale[1], sf = scale[2], sg = scale[3];
    CAPTURE(sx);
    CAPTURE(sf);
    auto problem = make_bilevel(
        {4, 8},
        [=](const auto& x, const auto& y) {
          return sf * (0.5 * (y / sy - q.d).squaredNorm() + 0.5 * (x / sx).dot(q.D * (x / sx)));
        },
        [=](const auto& x, const auto& y) {
          return sg * (0.5 * (y / sy).dot(q.A * (y / sy)) - (y / sy).dot(q.C * (x / sx) + q.b));
        });
    const Result result = minimize(problem, {sx * q.x0, Vec::Zero(8)}, {.tolerance = 0, .rtol = 1e-6});
    CHECK(result.status == Status::converged);
    if (calls == 0) calls = result.counts.total();
    if (sx == 1) CHECK(result.counts.total() == calls);  // f alone, by powers of four: not one bit differs
    CHECK(result.counts.total() < 3 * calls);
  }
}

TEST_CASE("random weights of a ridge: at a minimum, or flat, never converged elsewhere") {
  Random random(7);
  int at_minimum = 0, runs = 0;
  while (runs < 30) {
    Mat A(5, 3);
    for (Index j = 0; j < 3; ++j) A.col(j) = random.normal(5);
    const Vec b = random.normal(5), wanted = 0.5 * random.normal(3);
    auto problem = ridge_weight(A, b, wanted);
    const auto slope = [&](double x) {
      Vec y = Vec::Zero(3);
      newton(problem, Vec::Constant(1, x), y);
      const Gradient f = problem.grad_f(Vec::Constant(1, x), y);
      Vec v = Vec::Zero(3);
      conjugate_gradient(problem.curvature_at(Vec::Constant(1, x), y), f.y, v, {.tolerance = 1e-15});
      return -problem.cross_product(Vec::Constant(1, x), y, v)[0];
    };
    if (!(slope(-3) < -1e-3 && slope(3) > 1e-3)) continue;  // a minimum between
    for (const double start : {-4.0, 0.0, 4.0}) {
      const Result result = minimize(problem, {.x = Vec::Constant(1, start)}, {.max_calls = 20'000});
      CAPTURE(start);
      CAPTURE(result.message);
      const double x = result.x[0];
      const bool minimum = slope(x - 0.1) < -1e-5 && slope(x + 0.1) > 1e-5;
      CHECK((result.status == Status::converged || result.status == Status::flat));
      if (result.status == Status::converged) CHECK(minimum);
      at_minimum += minimum ? 1 : 0;
      ++runs;
    }
  }
  CHECK(at_minimum >= runs - 3);  // a start may lie where Phi falls towards infinity
}

TEST_CASE("a stationary start is perturbed: a saddle is left, a minimum is come back to") {
  const auto g = [](const auto& x, const auto& y) { return 0.5 * (y - x).squaredNorm(); };
  auto saddle = make_bilevel(
      {2, 2},
      [](const auto&, const auto& y) {
        return 0.5 * y[0] * y[0] - 0.5 * y[1] * y[1] + 0.25 * y[1] * y[1] * y[1] * y[1];
      },
      g);
  const Result left = minimize(saddle, {.x = Vec::Zero(2)});
  CHECK(left.status == Status::converged);
  CHECK(std::abs(std::abs(left.x[1]) - 1) < 1e-5);
  CHECK(left.restarts == 1);
  auto bowl = make_bilevel(
      {2, 2}, [](const auto&, const auto& y) { return 0.5 * y.squaredNorm(); }, g);
  const Result back = minimize(bowl, {.x = Vec::Zero(2)});
  CHECK(back.status == Status::converged);
  CHECK(back.x.norm() < 2e-6);
  CHECK(back.counts.total() < 60);
}

TEST_CASE("where the lower level ends, steps are shortened") {
  // g is defined for x > 0 alone, and the first steps from 0.05 would lead beyond.
  auto problem = make_bilevel(
      {1, 1}, [](const auto& x, const auto& y) { return (y[0] + 3.0) * (y[0] + 3.0) + 0.1 * x[0] * x[0]; },
      [](const auto& x, const auto& y) {
        using std::log;
        return 0.5 * (y[0] - log(x[0])) * (y[0] - log(x[0]));
      });
  const Result result = minimize(problem, {.x = Vec::Constant(1, 2.0)});
  CHECK(result.status == Status::converged);
  CHECK(result.x[0] > 0);
  CHECK(true_gradient(problem, result.x, result.y) <= 1e-6);
}

TEST_CASE("a function without a minimum is flat, and the message has the numbers") {
  auto problem = make_bilevel(
      {1, 1},
      [](const auto&, const auto& y) {
        using std::exp;
        return exp(-y[0]);
      },
      [](const auto& x, const auto& y) { return 0.5 * (y[0] - x[0]) * (y[0] - x[0]); });
  const Result result = minimize(problem, {.x = Vec::Zero(1)});
  CHECK(result.status == Status::flat);
  CHECK(result.message.find("|x - start| = ") != std::string::npos);
  CHECK(result.message.find("Phi fell from 1 to ") != std::string::npos);
}

TEST_CASE("with directions that lead nowhere epochs of RAHGD lead to the end") {
  struct Proposal {
    const char* what;
    Vec (*propose)(const Vec& x, const Vec& u, Random& random);
  };
  const Proposal proposals[] = {
      {"uphill", [](const Vec&, const Vec& u, Random&) -> Vec { return u; }},
      {"nearly across",
       [](const Vec& x, const Vec& u, Random& random) -> Vec {
         const Vec r = random.direction(x.size());
         return (r - (r.dot(u) / u.squaredNorm() + 1e-3 / u.norm()) * u).eval();
       }},
      {"anywhere, too long",
       [](const Vec& x, const Vec&, Random& random) -> Vec { return (100 * random.direction(x.size())).eval(); }},
  };
  for (const char* name : {"quadratic", "quadratic_minimax", "strict_saddle", "synthetic_minimax"})
    for (const Proposal& proposal : proposals) {
      CAPTURE(name);
      CAPTURE(proposal.what);
      problems::Problem problem = problems::make_problem(name);
      Random random(5);
      const Result result =
          minimize(*problem.oracle,
                   {.stop = {.max_calls = 40'000},
                    .direction = [&](const Vec& x, const Vec& u) { return proposal.propose(x, u, random); }},
                   problem.start);
      CAPTURE(result.message);
      CHECK(result.status == Status::converged);
      CHECK(result.restarts > 0);
      CHECK(problem.closed_form.grad_phi(result.x).norm() <= 1e-6);
    }
  problems::Problem problem = problems::make_problem("quadratic");
  CHECK_THROWS_AS(minimize(*problem.oracle, {.direction = [](const Vec&, const Vec&) { return Vec::Zero(1).eval(); }},
                           problem.start),
                  std::logic_error);
}

TEST_CASE("a Phi that is another one at every look ends the run, and the message says so") {
  class Rising final : public testing::ForwardingOracle {
   public:
    using ForwardingOracle::ForwardingOracle;

   private:
    void after(testing::Call call, double* value, Vec*) override {
      if (call == testing::Call::grad_f && value != nullptr) *value += 0.1 * ++looks_;
    }
    int looks_ = 0;
  };
  problems::Problem problem = problems::make_problem("quadratic");
  Rising rising(*problem.oracle);
  const Result result = minimize(rising, problem.start, {.max_calls = 50'000});
  CHECK(result.status == Status::stagnated);
  CHECK(result.message.find("is not determined") != std::string::npos);
  CHECK(result.counts.total() < 5'000);
}

TEST_CASE("rtol is of the first gradient as it is, not as it looked at first") {
  for (const auto& entry : problems::registry()) {
    CAPTURE(entry.name);
    problems::Problem problem = problems::make_problem(entry.name);
    const double first = true_gradient(*problem.oracle, problem.start.x, problem.start.y);
    const Result result = minimize(*problem.oracle, problem.start, {.tolerance = 0, .rtol = 1e-2});
    CHECK((result.status == Status::converged || result.status == Status::flat));
    CHECK(result.gradient_norm <= 1.01e-2 * first);
  }
}

TEST_CASE("relative tolerances, an empty y and misuse") {
  problems::Problem problem = problems::make_problem("quadratic");
  const Result loose = minimize(*problem.oracle, {.x = problem.start.x}, {.tolerance = 0, .rtol = 1e-2});
  CHECK(loose.status == Status::converged);
  CHECK(loose.gradient_norm <= 1.5e-2 * problem.closed_form.grad_phi(problem.start.x).norm());
  CHECK(loose.gradient_norm > 1e-6);
  CHECK_THROWS_WITH_AS(minimize(*problem.oracle, problem.start, {.rtol = 2}),
                       "auto: rtol = 2, must satisfy 0 <= rtol < 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(minimize(*problem.oracle, {.memory = -1}, problem.start),
                       "auto: memory = -1, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(minimize(*problem.oracle, {.directions = -1}, problem.start),
                       "auto: directions = -1, must not be negative", std::invalid_argument);
}

TEST_CASE("it works with the smallest memories, which cost calls and nothing else") {
  problems::Problem problem = problems::make_problem("ridge");
  const Result usual = minimize(*problem.oracle, problem.start);
  const Result little =
      minimize(*problem.oracle, {.stop = {.max_calls = 100'000}, .memory = 2, .directions = 1}, problem.start);
  CHECK(usual.status == Status::converged);
  CHECK(little.status == Status::converged);
  CHECK(usual.counts.total() < little.counts.total());
}
