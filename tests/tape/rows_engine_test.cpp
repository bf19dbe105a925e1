#include "hypertape/tape/rows_engine.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tape/random_functions.hpp"

using namespace hypertape;

namespace {

constexpr Index n = 300;
constexpr double inf = std::numeric_limits<double>::infinity();

/// Rows that are infinite or not a number for some entries of y, some of them where a select does not take them.
struct Singular {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    using std::exp, std::log, std::sqrt;
    S sum = 0.0;
    for (Index i = 0; i < n; ++i) {
      sum += select(less(y[i], 0.0), exp(x[0]) * y[i] * y[i], y[i] * sqrt(y[i]));
      sum += x[0] * log(y[i] + 5.0) + 1.0 / (y[i] - 2.0);
    }
    return sum;
  }
};

struct Branches {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    S sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += y[i] > x[0] ? y[i] * y[i] : 2.0 * y[i];
    return sum;
  }
};

}  // namespace

TEST_CASE("random functions have the derivatives that CppAD's sweeps give them") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto difference = testing::difference_of(seed, Engine::rows, 1e-12);
    CHECK_MESSAGE(!difference, difference.value_or(""));
  }
}

TEST_CASE("what is not a number, or infinite, is so with rows as with sweeps, and nowhere else") {
  const TapeOptions rows{.record_y = Vec::Ones(n), .engine = Engine::rows},
      sweeps{.record_y = Vec::Ones(n), .engine = Engine::cppad};
  TapedProblem problem = make_bilevel({1, n}, Singular(), Singular(), rows),
               reference = make_bilevel({1, n}, Singular(), Singular(), sweeps);
  const Vec x{{0.5}};
  for (const double special : {-1.0, -5.0, -6.0, 2.0, 1e300}) {
    CAPTURE(special);
    Vec y = Vec::LinSpaced(n, 0.25, 1.75);
    y[7] = special;
    const Gradient a = problem.grad_f(x, y), b = reference.grad_f(x, y);
    CHECK((a.value == b.value || std::abs(a.value - b.value) < 1e-9 || (std::isnan(a.value) && std::isnan(b.value))));
    const Vec h = problem.curvature_at(x, y)(Vec::Ones(n)), wanted = reference.curvature_at(x, y)(Vec::Ones(n));
    for (Index i = 0; i < n; ++i) {
      CHECK(std::isfinite(a.y[i]) == std::isfinite(b.y[i]));
      CHECK(std::isnan(a.y[i]) == std::isnan(b.y[i]));
      CHECK(std::isfinite(h[i]) == std::isfinite(wanted[i]));
      if (i != 7) CHECK(std::isfinite(h[i]));
    }
  }
  Vec y = Vec::LinSpaced(n, 0.25, 1.75);
  y[7] = 2;
  CHECK(problem.f(x, y) == inf);
}

TEST_CASE("a comparison that changes in one row is noticed by every oracle") {
  const TapeOptions options{.record_x = Vec{{0}}, .record_y = Vec::Ones(n), .engine = Engine::rows};
  TapedProblem problem = make_bilevel({1, n}, Branches(), Branches(), options);
  const Vec x{{0.5}}, v = Vec::Ones(n), u{{1}};
  Vec y = Vec::Ones(n);
  CHECK(problem.grad_y_g(x, y) == Vec::Constant(n, 2));
  y[123] = 0.25;
  CHECK_THROWS_AS(problem.f(x, y), FrozenBranch);
  CHECK_THROWS_AS(problem.grad_f(x, y), FrozenBranch);
  CHECK_THROWS_AS(problem.grad_y_g(x, y), FrozenBranch);
  CHECK_THROWS_AS(problem.curvature_at(x, y), FrozenBranch);
  CHECK_THROWS_AS(problem.cross_product(x, y, v), FrozenBranch);
  CHECK_THROWS_AS(problem.adjoint_cross_product(x, y, u), FrozenBranch);
  CHECK_THROWS_AS(problem.hess_g(x, y, u, v), FrozenBranch);
  CHECK_THROWS_WITH(problem.g(x, y),
                    "g: the tape is not the function here: 1 comparison(s) of values of x or y would be decided "
                    "otherwise than at the recording point. Write select, max or min of hypertape instead of if, ?: "
                    "or std::max");
  y[123] = 1;
  CHECK(problem.grad_y_g(x, y) == Vec::Constant(n, 2));

  TapeOptions frozen = options;
  frozen.allow_frozen_branches = true;
  y[123] = 0.25;
  CHECK(make_bilevel({1, n}, Branches(), Branches(), frozen).grad_y_g(x, y)[123] == 0.5);  // as recorded
}

TEST_CASE("the engine is chosen by what was found, and told") {
  const auto rows = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += (y[i] - x[0]) * (y[i] - x[0]) + sin(y[i]);
    return sum;
  };
  const auto serial = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S value = y[0];
    for (Index i = 0; i < 5 * n; ++i) value = sin(value) + x[0];
    return value + 0.5 * y[1] * y[1];
  };
  const ProblemSize size = make_bilevel({1, n}, rows, serial).size();
  CHECK(size.f_engine.engine == Engine::rows);
  CHECK(size.f_engine.operations == 6 * n - 1);
  CHECK(size.f_engine.operations_in_rows == 6 * n - 1);
  CHECK(size.f_engine.bytes > 0);
  CHECK(size.f.bytes == size.f_engine.bytes);
  CHECK(size.g_engine.engine == Engine::runs);
  CHECK(make_bilevel({1, n}, rows, rows, {.engine = Engine::cppad}).size().f_engine.engine == Engine::cppad);
  CHECK(make_bilevel({1, 2}, serial, serial, {.engine = Engine::rows}).size().f_engine.engine == Engine::rows);
}

TEST_CASE("what depends on x alone is computed again when x changes, and only then noticed") {
  const auto f = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    using std::exp;
    S weights = 0.0, sum = 0.0;
    for (Index i = 0; i < n; ++i) weights += exp(x[i]);
    for (Index i = 0; i < n; ++i) sum += exp(x[i]) / weights * y[i] * y[i];
    return sum;
  };
  TapedProblem problem = make_bilevel({n, n}, f, f, {.engine = Engine::rows}),
               reference = make_bilevel({n, n}, f, f, {.engine = Engine::cppad});
  Random random(3);
  const Vec x = random.normal(n), other = random.normal(n);
  for (const Vec* point : {&x, &x, &other, &x}) {
    const Vec y = random.normal(n);
    CHECK((problem.grad_y_g(*point, y) - reference.grad_y_g(*point, y)).norm() < 1e-15);
    problem.cross_product(other, y, y);
    CHECK((problem.grad_y_g(*point, y) - reference.grad_y_g(*point, y)).norm() < 1e-15);
  }
}

namespace {

constexpr Index many = 60'000;

/// Neighbours, so that chunks of rows meet in few places; x in each.
struct Neighbours {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    S sum = 0.0;
    for (Index i = 0; i + 1 < y.size(); ++i) {
      const S t = y[i + 1] - y[i] * y[i];
      sum += x[i % 2] * (t * t) + (1.0 - y[i]) * (1.0 - y[i]);
    }
    return sum;
  }
};

/// All pairs, so that chunks meet everywhere, in few places.
struct Pairs {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    S sum = 0.0;
    for (Index i = 0; i < y.size(); ++i)
      for (Index j = 0; j < y.size(); ++j) sum += (y[i] * y[j] - x[0]) * (y[i] * y[j] - x[1] * static_cast<double>(j));
    return sum;
  }
};

/// Values that are kept, and read in any order, behind a function that is not linear.
struct Scattered {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    using std::exp, std::log;
    std::vector<S> kept;
    for (Index i = 0; i < y.size(); ++i) kept.push_back(y[i] * y[i] * exp(x[0]));
    S sum = 0.0;
    for (Index i = 0; i < y.size(); ++i) {
      const S& other = kept[static_cast<std::size_t>((i * 7919 + 13) % y.size())];
      sum += kept[static_cast<std::size_t>(i)] * other * other / (1.0 + x[1] * x[1] + other * other);
    }
    return log(1.0 + sum * sum);
  }
};

template <class F>
void check_threads(const F& f, Index size) {
  const Dims dims{2, size};
  TapedProblem one = make_bilevel(dims, f, f, {.engine = Engine::rows, .threads = 1});
  TapedProblem reference = make_bilevel(dims, f, f, {.engine = Engine::cppad});
  Random random(5);
  const Vec x{{0.5, -0.25}}, y = random.normal(size), v = random.normal(size), u{{1, -2}};
  testing::EngineComparison comparison(one, reference);
  CHECK(comparison.at(x, y, random) < 1e-12);
  INFO(comparison.worst());
  for (const int threads : {2, 3, 8}) {
    CAPTURE(threads);
    TapedProblem several = make_bilevel(dims, f, f, {.engine = Engine::rows, .threads = threads});
    CHECK(several.f(x, y) == one.f(x, y));
    const Gradient a = several.grad_f(x, y), b = one.grad_f(x, y);
    CHECK(a.value == b.value);
    CHECK(a.x == b.x);
    CHECK(a.y == b.y);
    CHECK(several.grad_y_g(x, y) == one.grad_y_g(x, y));
    CHECK(several.curvature_at(x, y)(v) == one.curvature_at(x, y)(v));
    CHECK(several.cross_product(x, y, v) == one.cross_product(x, y, v));
    CHECK(several.adjoint_cross_product(x, y, u) == one.adjoint_cross_product(x, y, u));
    CHECK(several.hess_g(x, y, u, v).y == one.hess_g(x, y, u, v).y);
  }
}

}  // namespace

TEST_CASE("results are the same to the last bit for any number of threads") {
  SUBCASE("rows of neighbours") { check_threads(Neighbours(), many); }
  SUBCASE("all pairs") { check_threads(Pairs(), 250); }
  SUBCASE("rows anywhere") { check_threads(Scattered(), many); }
  CHECK_THROWS_WITH(make_bilevel({2, 2}, Neighbours(), Neighbours(), {.threads = -1}),
                    "TapeOptions: threads = -1, must not be negative");
}
