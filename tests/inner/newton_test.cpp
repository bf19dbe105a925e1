#include "hypertape/inner/newton.hpp"

#include <doctest/doctest.h>

#include "hypertape/core/random.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/registry.hpp"
#include "problems/ridge/ridge.hpp"
#include "support/forwarding_oracle.hpp"
#include "support/hand_written_oracle.hpp"

using namespace hypertape;

TEST_CASE("y* of problems with a closed form is found to 1e-12, from far away") {
  problems::Problem problem;
  SUBCASE("quadratic, kappa = 10^6") { problem = make_quadratic(problems::generate_quadratic({.kappa = 1e6})); }
  SUBCASE("ridge") { problem = make_ridge(problems::generate_ridge({})); }
  Random random(5);
  for (int k = 0; k < 5; ++k) {
    const Vec x = random.normal(problem.oracle->dims().x);
    Vec y = 100 * random.normal(problem.oracle->dims().y);
    const auto result = newton(*problem.oracle, x, y);
    CHECK(result.status == Status::converged);
    // The closed form itself is only as good as the condition number allows.
    const Vec exact = problem.closed_form.y_star(x);
    CHECK((y - exact).norm() <= 1e-12 * exact.norm() + 1e-15 * problem.constants.kappa() * exact.norm());
  }
}

TEST_CASE("a steep lower level needs damping and gets it") {
  // Pure Newton on sqrt(1 + y^2) diverges from |y| > 1.
  TapedProblem problem = make_bilevel(
      {1, 1}, [](const auto&, const auto& y) { return y[0]; },
      [](const auto& x, const auto& y) { return sqrt(1.0 + (y[0] - x[0]) * (y[0] - x[0])); });
  Vec y{{3.0}};
  const auto result = newton(problem, Vec{{0.5}}, y);
  CHECK(result.status == Status::converged);
  CHECK(y[0] == doctest::Approx(0.5).epsilon(1e-12));
}

TEST_CASE("rounding is known when it is met: as good as the arithmetic allows is converged, and said with numbers") {
  for (const char* name : {"quadratic", "ridge", "hypercleaning", "hyperparameter_logistic"}) {
    CAPTURE(name);
    auto problem = problems::make_problem(name, {.seed = 1024});
    Random random(1024);
    const Vec x = random.normal(problem.oracle->dims().x);
    Vec y = random.normal(problem.oracle->dims().y);
    const auto result = newton(*problem.oracle, x, y, {.tolerance = 1e-300});
    CHECK(result.status == Status::converged);
    CHECK(result.message.find("is rounding, which alone makes") != std::string::npos);
    CHECK(result.gradient_norm < 1e-12);
  }
}

TEST_CASE("a gradient that no step lowers, and rounding does not explain, is stagnation") {
  class WrongSign final : public testing::ForwardingOracle {
    using ForwardingOracle::ForwardingOracle;
    void after(testing::Call call, double*, Vec* out) override {
      if (call == testing::Call::grad_y_g) *out = -*out;
    }
  };
  testing::HandWrittenOracle right;
  WrongSign wrong(right);
  Vec y = Vec::Ones(3);
  const auto result = newton(wrong, Vec::Zero(3), y);
  CHECK(result.status == Status::stagnated);
  CHECK(result.message.find("newton: no step lowers |grad_y g| = ") == 0);
  CHECK(result.message.find(", of which rounding makes ") != std::string::npos);
}

TEST_CASE("trouble is a status with numbers") {
  testing::HandWrittenOracle oracle(testing::Bug::not_convex);
  Vec y{{0.1, 0.1, 0.1}};
  const auto result = newton(oracle, Vec::Zero(3), y);
  CHECK(result.status == Status::indefinite);
  CHECK(result.message.find("p'Ap/p'p") != std::string::npos);

  testing::HandWrittenOracle good;
  y = Vec::Constant(3, 1e3);
  const auto stopped = newton(good, Vec::Ones(3), y, {.max_iterations = 1});
  CHECK(stopped.status == Status::iteration_limit);
  CHECK(stopped.iterations == 1);
  CHECK_THROWS_WITH(newton(good, Vec::Ones(3), y, {.tolerance = 0}), "newton: tolerance = 0, must be positive");
}
