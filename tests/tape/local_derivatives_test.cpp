#include "hypertape/tape/local_derivatives.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace hypertape;

TEST_CASE("partial derivatives of every operation are what differences say") {
  const double step = 1e-4;
  for (int k = static_cast<int>(Op::add); k <= static_cast<int>(Op::detach); ++k) {
    const Op op = static_cast<Op>(k);
    CAPTURE(k);
    const double a = op == Op::acosh ? 1.7 : 0.6, b = 0.8;
    const auto value = [&](double da, double db) { return evaluate(op, {a + da * step, b + db * step, 0, 0}); };
    const LocalDerivatives d = local_derivatives(op, a, b, value(0, 0));
    if (op == Op::detach) {
      CHECK(d.a == 0);
      continue;
    }
    const double tolerance = 1e-6;
    CHECK(std::abs(d.a - (value(1, 0) - value(-1, 0)) / (2 * step)) < tolerance);
    CHECK(std::abs(d.aa - (value(1, 0) - 2 * value(0, 0) + value(-1, 0)) / (step * step)) < tolerance);
    if (arity(op) < 2) continue;
    CHECK(std::abs(d.b - (value(0, 1) - value(0, -1)) / (2 * step)) < tolerance);
    CHECK(std::abs(d.bb - (value(0, 1) - 2 * value(0, 0) + value(0, -1)) / (step * step)) < tolerance);
    CHECK(std::abs(d.ab - (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * step * step)) < tolerance);
  }
}

TEST_CASE("powers of zero have the derivatives that are finite") {
  CHECK(local_derivatives(Op::pow, 0, 2, 0).a == 0);
  CHECK(local_derivatives(Op::pow, 0, 2, 0).aa == 2);
  CHECK(local_derivatives(Op::pow, 0, 1, 0).a == 1);
  CHECK(local_derivatives(Op::pow, -2, 3, -8).a == 12);
  CHECK(local_derivatives(Op::pow, -2, 3, -8).aa == -12);
}
