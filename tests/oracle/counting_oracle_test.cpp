#include "hypertape/oracle/counting_oracle.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hypertape/autodiff/row_problem.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "support/hand_written_oracle.hpp"

using namespace hypertape;

namespace {

TapedProblem small_problem() {
  return make_bilevel(
      {2, 2}, [](const auto& x, const auto& y) { return x.dot(y) + x[0] * x[0]; },
      [](const auto& x, const auto& y) { return y.dot(y) - x.dot(y) * x[1]; });
}

}  // namespace

TEST_CASE("each kind of call is counted where it belongs, and nothing else is") {
  TapedProblem problem = small_problem();
  CountingOracle oracle(problem);
  const Vec z = Vec::Ones(2);

  oracle.f(z, z);
  oracle.g(z, z);
  LinearOperator& H = oracle.curvature_at(z, z);
  CHECK(oracle.counts() == OracleCounts{});
  oracle.grad_f(z, z);
  CHECK(oracle.counts() == OracleCounts{.f = 1});
  oracle.grad_y_g(z, z);
  oracle.grad_g(z, z);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2});
  H(z);
  H(z);
  H(z);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .hv = 3});
  oracle.cross_product(z, z, z);
  oracle.adjoint_cross_product(z, z, z);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .jv = 2, .hv = 3});
  oracle.hess_f(z, z, z, z);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .jv = 2, .hv = 4});
  oracle.hess_g(z, z, z, z);
  CHECK(oracle.counts() == OracleCounts{.f = 1, .g = 2, .jv = 3, .hv = 5});
  CHECK(oracle.counts().total() == 11);
  oracle.reset_counts();
  CHECK(oracle.counts().total() == 0);
}

namespace {

/// One whose curvature knows its diagonal.
RowProblem problem_with_diagonal() {
  const auto quartic = [](const auto& a, const auto& b, const auto&) { return a[0] * a[0] * a[0] * a[0] * b[0]; };
  const Objective g{sum_rows(1, {.y = entries(), .x = entries()}, quartic)};
  return {{2, 2}, g, g};
}

}  // namespace

TEST_CASE("a diagonal counts as one product, is made within the budget, and costs nothing where there is none") {
  RowProblem problem = problem_with_diagonal();
  CountingOracle reached(problem);
  CountingOracle oracle(static_cast<BilevelOracle&>(reached));
  const Vec x{{1, 2}}, y{{-1, 3}}, expected{{12, 216}};
  LinearOperator& H = oracle.curvature_at(x, y);
  CHECK(H.has_diagonal());
  CHECK(oracle.counts() == OracleCounts{});
  Vec diagonal;
  CHECK(H.diagonal(diagonal));
  CHECK(diagonal == expected);
  CHECK(oracle.counts() == OracleCounts{.hv = 1});
  CHECK(reached.counts() == OracleCounts{.hv = 1});
  oracle.limit({.calls = 2});
  CHECK(H.diagonal(diagonal));
  CHECK_THROWS_WITH_AS(H.diagonal(diagonal), "2 oracle calls, all that are allowed", BudgetSpent);
  CHECK(reached.counts() == OracleCounts{.hv = 2});

  TapedProblem taped = small_problem();
  testing::HandWrittenOracle hand_written;
  for (BilevelOracle* without : {static_cast<BilevelOracle*>(&taped), static_cast<BilevelOracle*>(&hand_written)}) {
    CountingOracle counting(*without);
    const Vec at_x = Vec::Ones(without->dims().x), at_y = Vec::Ones(without->dims().y), kept{{4, 5}};
    Vec out = kept;
    CHECK_FALSE(without->curvature_at(at_x, at_y).has_diagonal());
    CHECK_FALSE(counting.curvature_at(at_x, at_y).has_diagonal());
    CHECK_FALSE(counting.curvature_at(at_x, at_y).diagonal(out));
    CHECK(out == kept);
    CHECK(counting.counts() == OracleCounts{});
  }
}

TEST_CASE("a product with several columns counts one for each, and is made only if all are left") {
  TapedProblem problem = small_problem();
  CountingOracle reached(problem);
  CountingOracle oracle(static_cast<BilevelOracle&>(reached));
  const Vec x{{0.5, -1}}, y{{2, 3}};
  const std::vector<Vec> v{Vec{{1, -4}}, Vec{{2, 5}}, Vec{{3, 6}}};
  std::vector<Vec> out(3), expected(3);
  problem.curvature_at(x, y).apply(v, expected);
  LinearOperator& H = oracle.curvature_at(x, y);
  H.apply(v, out);
  CHECK(out == expected);
  CHECK(oracle.counts() == OracleCounts{.hv = 3});
  CHECK(reached.counts() == OracleCounts{.hv = 3});
  oracle.limit({.calls = 5});
  CHECK_THROWS_WITH_AS(H.apply(v, out), "3 oracle calls, 3 more would be beyond 5", BudgetSpent);
  CHECK(reached.counts() == OracleCounts{.hv = 3});
  H.apply({v.data(), 2}, {out.data(), 2});
  CHECK(reached.counts() == OracleCounts{.hv = 5});
  H.apply(std::span<const Vec>(), std::span<Vec>());
  CHECK(oracle.counts() == OracleCounts{.hv = 5});
}

TEST_CASE("a refused call is not counted") {
  testing::HandWrittenOracle hand_written;
  CountingOracle oracle(hand_written);
  CHECK_THROWS(oracle.grad_f(Vec::Ones(2), Vec::Ones(3)));
  CHECK_THROWS(oracle.curvature_at(Vec::Ones(3), Vec::Ones(3))(Vec::Ones(1)));
  CHECK(oracle.counts().total() == 0);
}

TEST_CASE("answers are those of the oracle behind it") {
  TapedProblem problem = small_problem();
  CountingOracle oracle(problem);
  const Vec x{{0.5, -1}}, y{{2, 3}}, v{{1, -2}}, u{{0.25, 4}};
  CHECK(oracle.dims() == problem.dims());
  CHECK(oracle.has_second_order());
  CHECK(oracle.f(x, y) == problem.f(x, y));
  CHECK(oracle.g(x, y) == problem.g(x, y));
  CHECK(oracle.grad_f(x, y).x == problem.grad_f(x, y).x);
  CHECK(oracle.grad_f(x, y).y == problem.grad_f(x, y).y);
  CHECK(oracle.grad_g(x, y).x == problem.grad_g(x, y).x);
  CHECK(oracle.grad_y_g(x, y) == problem.grad_y_g(x, y));
  CHECK(oracle.curvature_at(x, y)(v) == problem.curvature_at(x, y)(v));
  CHECK(oracle.cross_product(x, y, v) == problem.cross_product(x, y, v));
  CHECK(oracle.adjoint_cross_product(x, y, u) == problem.adjoint_cross_product(x, y, u));
  CHECK(oracle.hess_f(x, y, u, v).x == problem.hess_f(x, y, u, v).x);
  CHECK(oracle.hess_g(x, y, u, v).y == problem.hess_g(x, y, u, v).y);
}

namespace {

/// The kinds of call that cost one, by name.
struct Kind {
  std::string name;
  std::function<void(BilevelOracle&)> call;
};

const Vec z = Vec::Ones(2);

const std::vector<Kind> kinds{
    {"grad_f", [](BilevelOracle& o) { o.grad_f(z, z); }},
    {"grad_y_g", [](BilevelOracle& o) { o.grad_y_g(z, z); }},
    {"curvature product", [](BilevelOracle& o) { o.curvature_at(z, z)(z); }},
    {"cross_product", [](BilevelOracle& o) { o.cross_product(z, z, z); }},
    {"grad_g", [](BilevelOracle& o) { o.grad_g(z, z); }},
    {"adjoint_cross_product", [](BilevelOracle& o) { o.adjoint_cross_product(z, z, z); }},
    {"hess_f", [](BilevelOracle& o) { o.hess_f(z, z, z, z); }},
};

/// A budget in front, and behind it a count of the calls that get through.
struct Limited {
  TapedProblem problem = small_problem();
  CountingOracle reached{problem};
  CountingOracle oracle{static_cast<BilevelOracle&>(reached)};
};

/// How a call ended: nothing if it was made.
std::optional<Status> spent(const std::function<void()>& call) {
  try {
    call();
  } catch (const BudgetSpent& end) {
    return end.status;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("exactly as many calls are made as the budget allows") {
  for (const Kind& kind : kinds)
    for (const std::int64_t calls : {0, 1, 5}) {
      CAPTURE(kind.name);
      CAPTURE(calls);
      Limited limited;
      CountingOracle& oracle = limited.oracle;
      oracle.limit({.calls = calls});
      for (std::int64_t k = 0; k < calls; ++k) CHECK_FALSE(spent([&] { kind.call(oracle); }));
      for (int k = 0; k < 3; ++k) {
        CHECK(spent([&] { kind.call(oracle); }) == Status::call_limit);
        CHECK(limited.reached.counts().total() == calls);
        CHECK(oracle.counts() == limited.reached.counts());
      }
    }
}

TEST_CASE("the budget is that of all kinds together, calls made before it included") {
  Limited limited;
  CountingOracle &oracle = limited.oracle, &reached = limited.reached;
  for (const Kind& kind : kinds) kind.call(oracle);
  CHECK(oracle.counts().total() == 7);
  oracle.limit({.calls = 9});
  oracle.grad_f(z, z);
  oracle.cross_product(z, z, z);
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    CHECK(spent([&] { kind.call(oracle); }) == Status::call_limit);
  }
  CHECK(reached.counts().total() == 9);
  CHECK_THROWS_WITH_AS(oracle.grad_f(z, z), "9 oracle calls, all that are allowed", BudgetSpent);

  // What costs nothing is still there.
  CHECK(oracle.f(z, z) == limited.problem.f(z, z));
  CHECK(oracle.g(z, z) == limited.problem.g(z, z));
  CHECK_NOTHROW(oracle.curvature_at(z, z));

  oracle.limit({});
  CHECK_NOTHROW(oracle.grad_f(z, z));
  oracle.limit({.calls = 1});
  CHECK(spent([&] { oracle.grad_f(z, z); }) == Status::call_limit);
  oracle.reset_counts();
  CHECK_NOTHROW(oracle.grad_f(z, z));
  CHECK(spent([&] { oracle.grad_f(z, z); }) == Status::call_limit);
}

TEST_CASE("a product with the Hessian of g costs two calls, and is made only if both are left") {
  Limited limited;
  CountingOracle &oracle = limited.oracle, &reached = limited.reached;
  oracle.limit({.calls = 4});
  oracle.hess_g(z, z, z, z);
  oracle.hess_g(z, z, z, z);
  CHECK(spent([&] { oracle.hess_g(z, z, z, z); }) == Status::call_limit);
  CHECK(reached.counts() == OracleCounts{.jv = 2, .hv = 2});

  oracle.reset_counts();
  oracle.limit({.calls = 3});
  oracle.hess_g(z, z, z, z);
  CHECK(spent([&] { oracle.hess_g(z, z, z, z); }) == Status::call_limit);
  CHECK(reached.counts() == OracleCounts{.jv = 3, .hv = 3});
  CHECK(oracle.counts() == OracleCounts{.jv = 1, .hv = 1});
}

TEST_CASE("a budget of time") {
  Limited limited;
  CountingOracle &oracle = limited.oracle, &reached = limited.reached;
  const auto wait_until_after = [&](double seconds) {
    while (!(oracle.seconds() > seconds)) {
    }
  };
  oracle.limit({.seconds = 0});
  wait_until_after(0);
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    CHECK(spent([&] { kind.call(oracle); }) == Status::time_limit);
  }
  CHECK(reached.counts().total() == 0);
  CHECK(oracle.counts().total() == 0);
  CHECK_THROWS_WITH_AS(oracle.grad_f(z, z), doctest::Contains(" s, allowed are 0"), BudgetSpent);

  // It runs from where it is given, so that a new one begins anew.
  wait_until_after(oracle.seconds() + 1e-2);
  const auto begin = std::chrono::steady_clock::now();
  oracle.limit({.seconds = 1e9});
  const double seconds = oracle.seconds();
  CHECK(seconds <= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  CHECK_FALSE(spent([&] { oracle.grad_f(z, z); }));

  // Spent in both ways: the calls are named, which is the same on every machine.
  oracle.limit({.calls = 0, .seconds = 0});
  wait_until_after(0);
  CHECK(spent([&] { oracle.grad_f(z, z); }) == Status::call_limit);
}

TEST_CASE("a negative budget is refused") {
  testing::HandWrittenOracle hand_written;
  CountingOracle oracle(hand_written);
  CHECK_THROWS_WITH_AS(oracle.limit({.calls = -1}), "budget: calls = -1, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(oracle.limit({.seconds = -0.5}), "budget: seconds = -0.5, must not be negative",
                       std::invalid_argument);
  CHECK_THROWS_AS(oracle.limit({.seconds = std::numeric_limits<double>::quiet_NaN()}), std::invalid_argument);
  CHECK_NOTHROW(oracle.grad_f(Vec::Ones(3), Vec::Ones(3)));  // a refused budget is not in force
}

static_assert(!std::is_copy_constructible_v<CountingOracle> && !std::is_copy_assignable_v<CountingOracle>);
