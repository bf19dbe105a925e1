#include "problems/registry.hpp"

#include <doctest/doctest.h>

#include <set>

#include "hypertape/core/require.hpp"

using namespace hypertape;
using namespace hypertape::problems;

TEST_CASE("every registered problem is complete") {
  std::set<std::string> names;
  for (const ProblemEntry& entry : registry()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.summary.empty());
    const Problem problem = make_problem(entry.name);
    CHECK(problem.name == entry.name);
    const Dims dims = problem.oracle->dims();
    CHECK_NOTHROW(require_vector("start", "x", problem.start.x, dims.x));
    CHECK_NOTHROW(require_vector("start", "y", problem.start.y, dims.y));
    CHECK(problem.constants.mu > 0);
    CHECK(problem.constants.l >= problem.constants.mu);
    CHECK(problem.plain.f(problem.start.x, problem.start.y) ==
          doctest::Approx(problem.oracle->f(problem.start.x, problem.start.y)).epsilon(1e-12));
    if (problem.optimum && problem.closed_form.phi)
      CHECK(problem.closed_form.phi(problem.optimum->x) == doctest::Approx(problem.optimum->phi).scale(1e-12));
  }
}

TEST_CASE("an unknown name is refused with the known ones, and so is an argument that does not belong") {
  CHECK_THROWS_WITH(make_problem("quadratik"), doctest::Contains("problem = quadratik, must be one of quadratic, "));
  CHECK_THROWS_WITH(make_problem("ridge", {.kappa = 3}),
                    "ridge: --kappa is for quadratic, quadratic_minimax and quartic only");
  CHECK_THROWS_WITH(make_problem("synthetic_minimax", {.instance = "a.json"}),
                    "synthetic_minimax: --instance is for quadratic and quadratic_minimax only");
  CHECK_THROWS_WITH(make_problem("quadratic", {.instance = "a.json", .kappa = 3}),
                    "quadratic: --instance and --kappa exclude each other");
  CHECK_THROWS_WITH(make_problem("quadratic", {.kappa = 0.5}), "quadratic: kappa = 0.5, must be at least 1");
}

TEST_CASE("seeds and kappa reach the generator") {
  const Vec a = make_problem("quadratic", {.seed = 1}).start.x, b = make_problem("quadratic", {.seed = 2}).start.x;
  CHECK(a != b);
  CHECK(make_problem("quadratic", {.kappa = 77}).constants.kappa() == doctest::Approx(77).epsilon(1e-9));
}
