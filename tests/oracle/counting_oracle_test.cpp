#include "hypertape/oracle/counting_oracle.hpp"

#include <doctest/doctest.h>

#include "hypertape/autodiff/taped_problem.hpp"
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
