#include "hypertape/oracle/bilevel_oracle.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "support/hand_written_oracle.hpp"

using namespace hypertape;
using testing::HandWrittenOracle;

TEST_CASE("every entrance refuses points and directions of the wrong size or not finite, and names them") {
  HandWrittenOracle oracle;
  const Vec ok = Vec::Ones(3), small = Vec::Ones(2);
  Vec nan = ok;
  nan[2] = std::numeric_limits<double>::quiet_NaN();
  Vec a, b;

  struct Entrance {
    const char* name;
    std::function<void(const Vec& x, const Vec& y)> call;
  };
  const Entrance entrances[] = {
      {"f", [&](const Vec& x, const Vec& y) { oracle.f(x, y); }},
      {"grad_f", [&](const Vec& x, const Vec& y) { oracle.grad_f(x, y, a, b); }},
      {"grad_y_g", [&](const Vec& x, const Vec& y) { oracle.grad_y_g(x, y, a); }},
      {"curvature_at", [&](const Vec& x, const Vec& y) { oracle.curvature_at(x, y); }},
      {"cross_product", [&](const Vec& x, const Vec& y) { oracle.cross_product(x, y, ok, a); }},
      {"g", [&](const Vec& x, const Vec& y) { oracle.g(x, y); }},
      {"grad_g", [&](const Vec& x, const Vec& y) { oracle.grad_g(x, y, a, b); }},
      {"adjoint_cross_product", [&](const Vec& x, const Vec& y) { oracle.adjoint_cross_product(x, y, ok, a); }},
      {"hess_f", [&](const Vec& x, const Vec& y) { oracle.hess_f(x, y, ok, ok, a, b); }},
      {"hess_g", [&](const Vec& x, const Vec& y) { oracle.hess_g(x, y, ok, ok, a, b); }},
  };
  for (const auto& [name, call] : entrances) {
    const std::string where(name);
    CAPTURE(where);
    CHECK_THROWS_WITH_AS(call(small, ok), (where + ": x has 2 entries, expected 3").c_str(), std::invalid_argument);
    CHECK_THROWS_WITH_AS(call(ok, small), (where + ": y has 2 entries, expected 3").c_str(), std::invalid_argument);
    CHECK_THROWS_WITH_AS(call(nan, ok), (where + ": x[2] = nan, must be finite").c_str(), std::invalid_argument);
    CHECK_THROWS_WITH_AS(call(ok, nan), (where + ": y[2] = nan, must be finite").c_str(), std::invalid_argument);
  }
  CHECK_THROWS_WITH(oracle.cross_product(ok, ok, small), "cross_product: v has 2 entries, expected 3");
  CHECK_THROWS_WITH(oracle.adjoint_cross_product(ok, ok, small), "adjoint_cross_product: u has 2 entries, expected 3");
  CHECK_THROWS_WITH(oracle.hess_f(ok, ok, small, ok), "hess_f: p has 2 entries, expected 3");
  CHECK_THROWS_WITH(oracle.hess_g(ok, ok, ok, nan), "hess_g: q[2] = nan, must be finite");
  LinearOperator& H = oracle.curvature_at(ok, ok);
  CHECK_THROWS_WITH(H(small), "linear operator: v has 2 entries, expected 3");
  Vec v = ok;
  CHECK_THROWS_WITH(H.apply(v, v), "linear operator: v and out are the same vector, must be two");
}

TEST_CASE("an oracle without second order says so, by answer and by exception") {
  HandWrittenOracle oracle;
  const Vec z = Vec::Ones(3);
  CHECK_FALSE(oracle.has_second_order());
  CHECK_THROWS_AS(oracle.g(z, z), std::logic_error);
  CHECK_THROWS_AS(oracle.grad_g(z, z), std::logic_error);
  CHECK_THROWS_AS(oracle.adjoint_cross_product(z, z, z), std::logic_error);
  CHECK_THROWS_AS(oracle.hess_f(z, z, z, z), std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.hess_g(z, z, z, z), "this oracle does not provide Hess g (has_second_order() is false)",
                       std::logic_error);
}

TEST_CASE("outputs are given their size") {
  HandWrittenOracle oracle;
  const Vec z = Vec::Ones(3);
  Vec a(17), b;
  oracle.grad_f(z, z, a, b);
  CHECK(a.size() == 3);
  CHECK(b.size() == 3);
  oracle.curvature_at(z, z).apply(z, a = Vec(5));
  CHECK(a.size() == 3);
}
