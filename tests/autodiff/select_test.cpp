#include "hypertape/autodiff/select.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "hypertape/tape/taped_problem.hpp"

using namespace hypertape;

TEST_CASE("comparisons and their helpers agree with plain C++ on doubles") {
  for (const double a : {-1.0, 0.0, 0.5, 2.0})
    for (const double b : {-1.0, 0.0, 0.5, 2.0}) {
      CAPTURE(a);
      CAPTURE(b);
      CHECK(select(less(a, b), 1.0, 2.0) == (a < b ? 1 : 2));
      CHECK(select(less_equal(a, b), 1.0, 2.0) == (a <= b ? 1 : 2));
      CHECK(select(equal(a, b), 1.0, 2.0) == (a == b ? 1 : 2));
      CHECK(select(greater_equal(a, b), 1.0, 2.0) == (a >= b ? 1 : 2));
      CHECK(select(greater(a, b), 1.0, 2.0) == (a > b ? 1 : 2));
      CHECK(max(a, b) == std::max(a, b));
      CHECK(min(a, b) == std::min(a, b));
      CHECK(clamp(a, -0.5, 1.5) == std::clamp(a, -0.5, 1.5));
    }
}

TEST_CASE("a tape follows every comparison on both sides of it, wherever it was recorded") {
  // One term for each helper, with a different derivative on each side.
  const auto f = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    const S& t = y[0];
    S s = select(less(t, 1.0), t, 3.0 * t) + select(less_equal(t, x[0]), t * t, 5.0 * t);
    s += select(greater(t, 0.5), 7.0 * t, -t) + select(greater_equal(t, -1.0), t * t * t, t);
    s += select(equal(t, 2.0), t, 11.0 * t);
    return s + 13.0 * hypertape::max(t, 0.25) + 17.0 * hypertape::min(t, 0.0) + 19.0 * hypertape::clamp(t, -2.0, 3.0);
  };
  const auto derivative = [](double x, double t) {
    double d = t < 1 ? 1 : 3;
    d += t <= x ? 2 * t : 5;
    d += t > 0.5 ? 7 : -1;
    d += t >= -1 ? 3 * t * t : 1;
    d += t == 2 ? 1 : 11;
    return d + (t > 0.25 ? 13 : 0) + (t < 0 ? 17 : 0) + (t > -2 && t < 3 ? 19 : 0);
  };
  for (const double recorded : {-3.0, 0.0, 2.0, 10.0}) {
    const TapeOptions options{.record_x = Vec{{1.5}}, .record_y = Vec{{recorded}}};
    TapedProblem problem = make_bilevel({1, 1}, f, f, options);
    for (const double t : {-4.0, -1.5, -0.5, 0.1, 0.3, 0.7, 1.2, 1.7, 2.0, 2.5, 4.0}) {
      CAPTURE(recorded);
      CAPTURE(t);
      const Vec x{{1.5}}, y{{t}};
      CHECK(problem.f(x, y) == doctest::Approx(problem.plain().f(x, y)).epsilon(1e-15));
      CHECK(problem.grad_y_g(x, y)[0] == doctest::Approx(derivative(1.5, t)).epsilon(1e-14));
    }
  }
}

TEST_CASE("an alternative that is not finite and not selected harms nothing") {
  const auto f = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    return select(greater(y[0], 0.0), sqrt(y[0]) + log(y[0]), y[0] * y[0]) + x[0] * y[0];
  };
  TapedProblem problem = make_bilevel({1, 1}, f, f);
  const Vec x{{3.0}}, v{{1.0}};
  for (const double t : {-2.0, 0.0}) {
    const Vec y{{t}};
    CHECK(problem.f(x, y) == t * t + 3 * t);
    CHECK(problem.grad_y_g(x, y)[0] == 2 * t + 3);
    CHECK(problem.curvature_at(x, y)(v)[0] == 2);
    CHECK(problem.cross_product(x, y, v)[0] == 1);
  }
  const Vec y{{4.0}};
  CHECK(problem.grad_y_g(x, y)[0] == doctest::Approx(0.25 + 0.25 + 3).epsilon(1e-15));
  CHECK(problem.curvature_at(x, y)(v)[0] == doctest::Approx(-1.0 / 32 - 1.0 / 16).epsilon(1e-15));
}

TEST_CASE("a select whose condition is constant keeps the derivatives of what it takes") {
  const auto f = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    const S constant = 0.0 * y[0] + 1.0;  // CppAD finds out that it is one
    return select(less(S(0.5), 1.0), y[0] * y[0], x[0]) + select(greater(constant, 2.0), x[0], y[0]);
  };
  for (const Engine engine : {Engine::cppad, Engine::rows}) {
    TapedProblem problem = make_bilevel({1, 1}, f, f, {.engine = engine});
    CHECK(problem.grad_f(Vec{{3}}, Vec{{2}}).value == 6);
    CHECK(problem.grad_f(Vec{{3}}, Vec{{2}}).y[0] == 5);
  }
}
