#include "hypertape/tape/taped_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "hypertape/autodiff/select.hpp"

using namespace hypertape;

namespace {

const auto half_square = [](const auto&, const auto& y) { return 0.5 * y.squaredNorm(); };

/// A functor with data of its own.
struct Weighted {
  Vec weights;
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    S sum = 0.0;
    for (Index i = 0; i < y.size(); ++i) sum += weights[i] * (y[i] - x[0]) * (y[i] - x[0]);
    return sum;
  }
};

}  // namespace

TEST_CASE("lambdas and functors with data give exact derivatives away from the recording point") {
  TapedProblem problem = make_bilevel({1, 3}, half_square, Weighted{Vec{{1, 2, 3}}});
  const Vec x{{2}}, y{{1, -1, 5}}, v{{1, 1, -1}};
  CHECK(problem.f(x, y) == 13.5);
  CHECK(problem.grad_f(x, y).value == 13.5);
  CHECK(problem.grad_f(x, y).x == Vec{{0}});
  CHECK(problem.grad_f(x, y).y == y);
  CHECK(problem.g(x, y) == 1 + 18 + 27);
  CHECK(problem.grad_y_g(x, y) == Vec{{-2, -12, 18}});
  CHECK(problem.grad_g(x, y).x == Vec{{-4}});
  CHECK(problem.grad_g(x, y).y == Vec{{-2, -12, 18}});
  CHECK(problem.curvature_at(x, y)(v) == Vec{{2, 4, -6}});
  CHECK(problem.cross_product(x, y, v) == Vec{{-2 - 4 + 6}});
  CHECK(problem.adjoint_cross_product(x, y, Vec{{10}}) == Vec{{-20, -40, -60}});
  CHECK(problem.hess_f(x, y, Vec{{1}}, v).y == v);
  CHECK(problem.hess_g(x, y, Vec{{1}}, v).x == Vec{{12 - 2 - 4 + 6}});
  CHECK(problem.hess_g(x, y, Vec{{1}}, v).y == Vec{{2 - 2, 4 - 4, -6 - 6}});
}

TEST_CASE("minimax takes one function, and its lower level is the negative") {
  const auto f = [](const auto& x, const auto& y) { return x[0] * y[0] - y[0] * y[0]; };
  TapedProblem problem = make_minimax({1, 1}, f);
  const Vec x{{3}}, y{{2}};
  CHECK(problem.f(x, y) == 2);
  CHECK(problem.g(x, y) == -2);
  CHECK(problem.grad_y_g(x, y)[0] == 1);
  CHECK(problem.curvature_at(x, y)(Vec{{1}})[0] == 2);
  CHECK(problem.plain().g(x, y) == -2);
}

TEST_CASE("a curvature stays what it was while the oracle goes on to other points") {
  TapedProblem problem =
      make_bilevel({1, 1}, half_square, [](const auto& x, const auto& y) { return y[0] * y[0] * y[0] * exp(x[0]); });
  const Vec x{{0}}, y{{2}}, v{{1}};
  LinearOperator& H = problem.curvature_at(x, y);
  CHECK(H(v)[0] == 12);
  problem.grad_y_g(Vec{{1}}, Vec{{7}});
  problem.cross_product(Vec{{-1}}, Vec{{5}}, v);
  problem.hess_g(Vec{{-1}}, Vec{{5}}, v, v);
  CHECK(H(v)[0] == 12);
  CHECK(problem.curvature_at(x, Vec{{3}})(v)[0] == 18);
}

TEST_CASE("a problem can be moved, and its curvature with it") {
  TapedProblem first = make_bilevel({1, 1}, half_square, Weighted{Vec{{2}}});
  LinearOperator& H = first.curvature_at(Vec{{1}}, Vec{{1}});
  TapedProblem second = std::move(first);
  CHECK(H(Vec{{1}})[0] == 4);
  CHECK(second.grad_y_g(Vec{{1}}, Vec{{3}})[0] == 8);
  second = make_bilevel({1, 1}, half_square, Weighted{Vec{{3}}});
  CHECK(second.grad_y_g(Vec{{1}}, Vec{{3}})[0] == 12);

  const char* const message = "this oracle was moved from: use the one that it was moved to";
  CHECK_THROWS_WITH_AS(first.dims(), message, std::logic_error);
  CHECK_THROWS_WITH_AS(first.plain(), message, std::logic_error);
  CHECK_THROWS_WITH_AS(first.size(), message, std::logic_error);
  CHECK_THROWS_WITH_AS(first.curvature_at(Vec{{1}}, Vec{{1}}), message, std::logic_error);
  first = std::move(second);
  CHECK(first.grad_y_g(Vec{{1}}, Vec{{3}})[0] == 12);
}

TEST_CASE("a function that cannot be a lower or upper level is refused at the door") {
  const auto constant = [](const auto&, const auto&) { return 1.0; };
  const auto of_x_only = [](const auto& x, const auto&) { return x[0] * x[0]; };
  CHECK_THROWS_WITH_AS(make_bilevel({1, 1}, constant, half_square),
                       "f: does not depend on x or y (it returned a constant); expected a function of x and y",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bilevel({1, 1}, half_square, constant),
                       "g: does not depend on y (it returned a constant); expected a function of y for every x",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bilevel({1, 1}, half_square, of_x_only),
                       "g: does not depend on y (it returned a constant); expected a function of y for every x",
                       std::invalid_argument);
  CHECK_NOTHROW(make_bilevel({1, 1}, of_x_only, half_square));
  CHECK_THROWS_WITH_AS(make_bilevel({0, 1}, half_square, half_square), "dims.x = 0, must be positive",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bilevel({1, -2}, half_square, half_square), "dims.y = -2, must be positive",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(predict_bilevel({-1, 1}, half_square, half_square), "dims.x = -1, must be positive",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(predict_bilevel({1, 0}, half_square, half_square), "dims.y = 0, must be positive",
                       std::invalid_argument);
}

TEST_CASE("reading outside a vector is refused, whatever the accessor") {
  const auto index = [](const auto&, const auto& y) { return y[3] * y[0]; };
  const auto call = [](const auto& x, const auto& y) { return x(2) * y[0]; };
  const auto negative = [](const auto&, const auto& y) { return y[-1] * y[0]; };
  const auto head = [](const auto&, const auto& y) { return y.head(4).sum(); };
  const auto tail = [](const auto&, const auto& y) { return y.tail(4).sum(); };
  const auto segment = [](const auto&, const auto& y) { return y.segment(1, 3).sum(); };
  const Dims dims{2, 3};
  CHECK_THROWS_WITH_AS(make_bilevel(dims, half_square, index), "g: reads y[3], but y has 3 entries",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bilevel(dims, call, half_square), "f: reads x[2], but x has 2 entries",
                       std::invalid_argument);
  CHECK_THROWS_WITH(make_bilevel(dims, half_square, negative), "g: reads y[-1], but y has 3 entries");
  CHECK_THROWS_WITH(make_bilevel(dims, half_square, head), "g: reads entries 0 to 3 of y, which has 3 entries");
  CHECK_THROWS_WITH(make_bilevel(dims, half_square, tail), "g: reads entries -1 to 2 of y, which has 3 entries");
  CHECK_THROWS_WITH(make_bilevel(dims, half_square, segment), "g: reads entries 1 to 3 of y, which has 3 entries");
  // A recording that was given up leaves the next one unharmed.
  CHECK_NOTHROW(make_bilevel(dims, half_square, half_square));
}

TEST_CASE("an exception of the user's function passes through and spoils nothing") {
  const auto throws = []<class S>(const VecT<S>&, const VecT<S>& y) -> S {
    if (y.size() == 2) throw std::runtime_error("no data");
    return y[0] * y[0];
  };
  CHECK_THROWS_WITH_AS(make_bilevel({1, 2}, half_square, throws), "no data", std::runtime_error);
  CHECK(make_bilevel({1, 1}, half_square, throws).grad_y_g(Vec{{0}}, Vec{{3}})[0] == 6);
}

TEST_CASE("a frozen branch is refused where it would be wrong, and only there") {
  const auto branch = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    if (y[0] > x[0]) return 2.0 * y[0] * y[0];
    return y[0] * y[0];
  };
  const auto with_max = []<class S>(const VecT<S>&, const VecT<S>& y) -> S {
    return y[0] * y[0] + std::max(y[0], S(1.0));
  };
  TapedProblem problem = make_bilevel({1, 1}, half_square, branch);  // recorded at zero: y <= x
  CHECK(problem.grad_y_g(Vec{{5}}, Vec{{3}})[0] == 6);
  CHECK_THROWS_AS(problem.grad_y_g(Vec{{1}}, Vec{{3}}), FrozenBranch);
  CHECK_THROWS_AS(problem.curvature_at(Vec{{1}}, Vec{{3}}), FrozenBranch);
  CHECK_THROWS_AS(problem.cross_product(Vec{{1}}, Vec{{3}}, Vec{{1}}), FrozenBranch);
  CHECK(problem.grad_y_g(Vec{{5}}, Vec{{3}})[0] == 6);
  CHECK_THROWS_AS(make_bilevel({1, 1}, half_square, with_max).grad_y_g(Vec{{0}}, Vec{{2}}), FrozenBranch);

  TapedProblem frozen = make_bilevel({1, 1}, half_square, branch, {.allow_frozen_branches = true});
  CHECK(frozen.grad_y_g(Vec{{1}}, Vec{{3}})[0] == 6);  // as recorded: wrong there, and asked for
}

TEST_CASE("the recording point is checked and used") {
  const auto refuses_zero = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    if (!(x[0] > 0.0)) throw std::domain_error("x must be positive");
    return log(x[0]) * y[0] * y[0];
  };
  CHECK_THROWS_AS(make_bilevel({1, 1}, half_square, refuses_zero), std::domain_error);
  TapedProblem problem = make_bilevel({1, 1}, half_square, refuses_zero, {.record_x = Vec{{1}}});
  CHECK(problem.grad_y_g(Vec{{std::exp(1.0)}}, Vec{{2}})[0] == doctest::Approx(4).epsilon(1e-15));
  CHECK_THROWS_WITH(make_bilevel({1, 1}, half_square, half_square, {.record_x = Vec{{1, 2}}}),
                    "TapeOptions: record_x has 2 entries, expected 1");
}

TEST_CASE("sizes are told before and after recording, and a limit stops the recording") {
  constexpr Index n = 50;
  const auto pairs = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S sum = 0.0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) sum += (y[i] * y[j] - x[i]) * (y[i] * y[j] - x[i]);
    return sum;
  };
  const ProblemSize predicted = predict_bilevel({n, n}, pairs, pairs);
  TapedProblem problem = make_bilevel({n, n}, pairs, pairs);
  const ProblemSize actual = problem.size();
  CHECK(predicted.f.operations >= static_cast<std::size_t>(4 * n * n));
  CHECK(actual.f.operations > static_cast<std::size_t>(n * n));
  CHECK(actual.f.operations <= predicted.f.operations + 2);
  CHECK(actual.g_y.operations <= predicted.g_y.operations + 2);
  CHECK(actual.bytes() > 0);
  CHECK(actual.bytes() <= predicted.bytes());

  CHECK(predicted.bytes() == predicted.f.bytes + 2 * predicted.g_y.bytes + predicted.g.bytes);
  CHECK_NOTHROW(make_bilevel({n, n}, pairs, pairs, {.max_bytes = predicted.bytes()}));
  try {
    make_bilevel({n, n}, pairs, pairs, {.max_bytes = predicted.bytes() - 1});
    FAIL("a recording over the limit was made");
  } catch (const std::invalid_argument& refused) {
    const std::string message = refused.what();
    CAPTURE(message);
    CHECK(message.find("taping f and g would take " + std::to_string(predicted.f.operations)) == 0);
    CHECK(message.find("TapeOptions::max_bytes") != std::string::npos);
    CHECK(message.find("row terms") != std::string::npos);
  }
}
