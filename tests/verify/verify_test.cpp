#include "hypertape/verify/verify.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "hypertape/autodiff/select.hpp"
#include "hypertape/core/text.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/registry.hpp"
#include "support/hand_written_oracle.hpp"

using namespace hypertape;
using testing::Bug;
using testing::HandWrittenOracle;

namespace {

bool says(const Check& check, const std::string& words) { return check.message.find(words) != std::string::npos; }

std::set<std::string> failed_checks(const Report& report) {
  std::set<std::string> names;
  for (const Check& c : report.checks)
    if (!c.passed) names.insert(c.name);
  return names;
}

}  // namespace

TEST_CASE("every planted bug is found, and the check that fails names it") {
  struct Planted {
    Bug bug;
    std::string check;
    std::string words;
  };
  const Planted planted[] = {
      {Bug::coefficient_in_grad_y_g, "grad_y g", "a term is missing or has a wrong coefficient"},
      {Bug::factor_in_grad_y_f, "grad_y f", "is 2 times the derivative"},
      {Bug::missing_term_in_grad_x_f, "grad_x f", "worst in the entry of x[0]"},
      {Bug::missing_term_in_curvature, "d2g/dy2 v", "a term is missing"},
      {Bug::transposed_cross_product, "d2g/dxdy v", "transposed"},
      {Bug::sign_of_cross_product, "d2g/dxdy v", "wrong sign"},
      {Bug::sign_of_grad_x_f, "grad_x f", "wrong sign"},
      {Bug::frozen_branch_in_grad_y_g, "grad_y g", "a frozen branch"},
      {Bug::frozen_branch_in_curvature, "d2g/dy2 v", "a frozen branch"},
      {Bug::asymmetric_curvature, "symmetry of d2g/dy2", "<w, H v> differs"},
      {Bug::not_convex, "strong convexity", "not positive"},
  };
  for (const auto& [bug, name, words] : planted)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      HandWrittenOracle oracle(bug);
      const Report report = verify(oracle, oracle.plain(), {.seed = seed});
      CAPTURE(to_table(report));
      CHECK_FALSE(report.passed);
      CHECK_FALSE(report.check(name).passed);
      CHECK(says(report.check(name), words));
    }
}

TEST_CASE("a frozen branch is also reported as such by its own check, other bugs are not") {
  for (const Bug bug : {Bug::frozen_branch_in_grad_y_g, Bug::frozen_branch_in_curvature}) {
    HandWrittenOracle oracle(bug);
    CHECK(failed_checks(verify(oracle)).count("branches") == 1);
  }
  for (const Bug bug : {Bug::none, Bug::coefficient_in_grad_y_g, Bug::factor_in_grad_y_f, Bug::transposed_cross_product,
                        Bug::missing_term_in_curvature, Bug::sign_of_cross_product}) {
    HandWrittenOracle oracle(bug);
    CHECK(failed_checks(verify(oracle)).count("branches") == 0);
  }
}

TEST_CASE("the Taylor rate alone tells a wrong derivative: one order is lost") {
  HandWrittenOracle right, wrong_gradient(Bug::coefficient_in_grad_y_g), wrong_product(Bug::missing_term_in_curvature);
  CHECK(verify(right).check("grad_y g").observed_order == doctest::Approx(2).epsilon(0.02));
  CHECK(verify(right).check("d2g/dy2 v").observed_order == doctest::Approx(3).epsilon(0.02));
  CHECK(verify(wrong_gradient).check("grad_y g").observed_order == doctest::Approx(1).epsilon(0.02));
  CHECK(verify(wrong_product).check("d2g/dy2 v").observed_order == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("a wrong product spoils the hypergradient, and that is seen too") {
  for (const Bug bug : {Bug::sign_of_cross_product, Bug::missing_term_in_grad_x_f, Bug::transposed_cross_product}) {
    HandWrittenOracle oracle(bug);
    CHECK_FALSE(verify(oracle).check("hypergradient").passed);
  }
  HandWrittenOracle not_convex(Bug::not_convex);
  const Check check = verify(not_convex).check("hypergradient");
  CHECK(says(check, "lower level could not be solved to 1e-12: indefinite"));
}

TEST_CASE("a lower level that cannot be solved is not checked, with the reason, and accuses nobody") {
  const auto f = [](const auto& x, const auto& y) { return x[0] * y[0]; };
  const auto unbounded = [](const auto&, const auto& y) {
    using std::exp;
    return exp(-y[0]);  // falls for ever
  };
  TapedProblem nowhere = make_bilevel({1, 1}, f, unbounded);
  const Report report = verify(nowhere);
  CAPTURE(to_table(report));
  CHECK(report.passed);
  CHECK(report.unchecked() == "hypergradient");
  CHECK(says(report.check("hypergradient"),
             "not checked at 12 of 12 points: the lower level could not be solved to 1e-12: iteration_limit"));

  const auto bounded_for_positive_x = [](const auto& x, const auto& y) {
    using std::exp;
    const auto slope = max(x[0], 0.0);
    return exp(-y[0]) + slope * slope * slope * y[0];
  };
  TapedProblem somewhere = make_bilevel({1, 1}, f, bounded_for_positive_x);
  const Report other = verify(somewhere);
  CAPTURE(to_table(other));
  CHECK(other.passed);
  CHECK(other.unchecked().empty());
  const Check& check = other.check("hypergradient");
  CHECK(check.points > 0);
  CHECK(says(check, text("not checked at ", 12 - check.points, " of 12 points")));
}

TEST_CASE("a correct oracle is never accused, over 1,000 random points") {
  HandWrittenOracle oracle;
  const Report report = verify(oracle, oracle.plain(), {.seed = 11, .points = 1000});
  CAPTURE(to_table(report));
  CHECK(report.passed);
  for (const Check& c : report.checks) CHECK(c.points == 1000);
}

TEST_CASE("every shipped problem passes, for several seeds") {
  for (const auto& entry : problems::registry())
    for (const std::uint64_t seed : {1, 2, 3}) {
      problems::Problem problem = problems::make_problem(entry.name, {.seed = seed});
      const Report report = verify(*problem.oracle, problem.plain,
                                   {.problem = entry.name,
                                    .seed = seed,
                                    .points = 8,
                                    .more_points = problem.branches,
                                    .hypergradient = seed == 1});  // the longest of all checks
      CAPTURE(to_table(report));
      CHECK(report.passed);
    }
}

TEST_CASE("lower levels that are solved as far as rounding allows are no fault of the problem") {
  for (const char* name : {"hypercleaning", "hyperparameter_logistic"}) {
    problems::Problem problem = problems::make_problem(name, {.seed = 1024});
    const Report report = verify(*problem.oracle, problem.plain, {.problem = name, .seed = 1024, .points = 15});
    CAPTURE(to_table(report));
    CHECK(report.passed);
    CHECK(report.check("hypergradient").points == 15);
  }
}

TEST_CASE("a branch frozen by taping is reported whether the oracle refuses it or not") {
  const auto f = [](const auto& x, const auto& y) { return x.dot(y); };
  const auto g = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S s = y.squaredNorm() - x.dot(y);
    if (y[0] > 0.0) s += y[0] * y[0] * y[0];
    return s;
  };
  const auto with_select = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    return y.squaredNorm() - x.dot(y) + select(greater(y[0], 0.0), y[0] * y[0] * y[0], 0.0);
  };
  TapedProblem refusing = make_bilevel({2, 2}, f, g);
  Report report = verify(refusing);
  CHECK_FALSE(report.passed);
  CHECK(says(report.check("branches"), "g: the tape is not the function here"));

  TapedProblem silent = make_bilevel({2, 2}, f, g, {.allow_frozen_branches = true});
  report = verify(silent);
  CHECK(failed_checks(report).count("branches") == 1);
  CHECK(says(report.check("value of g"), "a branch frozen when it was recorded"));

  TapedProblem right = make_bilevel({2, 2}, f, with_select);
  CHECK(verify(right).passed);
}

TEST_CASE("an oracle that gives up where a diagnosis looks is reported all the same") {
  // A wrong product, and a branch that freezes beyond a threshold which only some directions reach.
  class Throwing final : public BilevelOracle {
   public:
    Dims dims() const override { return {2, 2}; }

   private:
    double do_f(const Vec& x, const Vec& y) override { return x.dot(y); }
    double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
      gx = y;
      gy = x;
      return x.dot(y);
    }
    void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override {
      if (x[0] > 0.4) throw FrozenBranch("beyond");
      out = 2 * y - x;
    }
    LinearOperator& do_curvature_at(const Vec&, const Vec&) override { return twice_; }
    void do_cross_product(const Vec&, const Vec&, const Vec& v, Vec& out) override { out = Vec{{-v[0], -v[1] + v[0]}}; }
    class Twice final : public LinearOperator {
     public:
      Index dim() const override { return 2; }

     private:
      void do_apply(const Vec& v, Vec& out) override { out = 2 * v; }
    } twice_;
  } oracle;
  const PlainFunctions plain{[](const Vec& x, const Vec& y) { return x.dot(y); },
                             [](const Vec& x, const Vec& y) { return y.squaredNorm() - x.dot(y); }};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Report report;
    CHECK_NOTHROW(report = verify(oracle, plain, {.seed = seed, .points = 4, .scales = {0.3}}));
    CHECK_FALSE(report.passed);
  }
}

TEST_CASE("functions with a large offset or tiny derivatives are judged by their noise") {
  const auto f = [](const auto& x, const auto& y) { return 1e9 + x[0] * y[0]; };
  const auto g = [](const auto& x, const auto& y) { return -1e7 + 1e-3 * (y[0] * y[0] - x[0] * y[0]); };
  TapedProblem problem = make_bilevel({1, 1}, f, g);
  const Report report = verify(problem, {.points = 200});
  CAPTURE(to_table(report));
  CHECK(report.passed);
}

TEST_CASE("misuse is refused with the field and its value") {
  HandWrittenOracle oracle;
  CHECK_THROWS_WITH(verify(oracle, {.points = -1}), "verify: points = -1, must not be negative");
  CHECK_THROWS_WITH(verify(oracle, {.points = 0}),
                    "verify: points = 0 and more_points is empty, there must be a point");
  CHECK_THROWS_WITH(verify(oracle, {.scales = {1, 0}}), "verify: scale = 0, must be positive");
  CHECK_THROWS_WITH(verify(oracle, {.directions = 0}), "verify: directions = 0, must be positive");
  CHECK_THROWS_WITH(verify(oracle, {.centre = {Vec::Ones(2), {}}}), "verify: centre.x has 2 entries, expected 3");
  CHECK_THROWS_WITH(verify(oracle, PlainFunctions{}), "verify: PlainFunctions needs both f and g");
  const auto undefined = [](const auto& x, const auto& y) { return log(-x[0] * x[0]) + y[0] * y[0]; };
  TapedProblem nowhere = make_bilevel({1, 1}, undefined, undefined);
  CHECK_THROWS_WITH_AS(verify(nowhere), doctest::Contains("not finite at 100 random points"), std::invalid_argument);
}

TEST_CASE("the same seed gives the same report") {
  HandWrittenOracle oracle;
  CHECK(to_json({verify(oracle, {.seed = 4})}) == to_json({verify(oracle, {.seed = 4})}));
  CHECK(to_json({verify(oracle, {.seed = 4})}) != to_json({verify(oracle, {.seed = 5})}));
}
