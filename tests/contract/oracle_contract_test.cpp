// What every oracle owes its users, run on every shipped problem and on a hand-written one.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>

#include "contract/allocations.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/oracle/counting_oracle.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/registry.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using testing::relative;

namespace {

template <class Contract>
void for_every_oracle(const Contract& contract) {
  for (const auto& entry : problems::registry()) {
    CAPTURE(entry.name);
    problems::Problem problem = problems::make_problem(entry.name);
    contract(*problem.oracle);
    CountingOracle counting(*problem.oracle);
    contract(counting);
  }
  testing::HandWrittenOracle hand_written;
  contract(hand_written);
}

struct Draw {
  Vec x, y, u, v;
  Draw(BilevelOracle& o, Random& random)
      : x(random.normal(o.dims().x)),
        y(random.normal(o.dims().y)),
        u(random.normal(o.dims().x)),
        v(random.normal(o.dims().y)) {}
};

}  // namespace

TEST_CASE("answers depend on the arguments only, not on what was asked before") {
  for_every_oracle([](BilevelOracle& o) {
    Random random(1);
    const Draw a(o, random), b(o, random);
    const Gradient f = o.grad_f(a.x, a.y);
    const Vec g = o.grad_y_g(a.x, a.y), Cv = o.cross_product(a.x, a.y, a.v), Hv = o.curvature_at(a.x, a.y)(a.v);
    const double value = o.f(a.x, a.y);
    o.grad_f(b.x, a.y);
    o.grad_y_g(b.x, b.y);
    o.curvature_at(a.x, b.y)(b.v);
    o.cross_product(b.x, a.y, b.v);
    CHECK(o.f(a.x, a.y) == value);
    CHECK(o.grad_f(a.x, a.y).x == f.x);
    CHECK(o.grad_f(a.x, a.y).y == f.y);
    CHECK(o.grad_y_g(a.x, a.y) == g);
    CHECK(o.cross_product(a.x, a.y, a.v) == Cv);
    CHECK(o.curvature_at(a.x, a.y)(a.v) == Hv);
  });
}

TEST_CASE("the value that comes with a gradient is the value") {
  for_every_oracle([](BilevelOracle& o) {
    Random random(2);
    const Draw a(o, random);
    CHECK(o.grad_f(a.x, a.y).value == doctest::Approx(o.f(a.x, a.y)).epsilon(1e-14));
    if (o.has_second_order()) CHECK(o.grad_g(a.x, a.y).value == doctest::Approx(o.g(a.x, a.y)).epsilon(1e-14));
  });
}

TEST_CASE("products are linear and fit together") {
  for_every_oracle([](BilevelOracle& o) {
    Random random(3);
    const Draw a(o, random), b(o, random);
    LinearOperator& H = o.curvature_at(a.x, a.y);
    CHECK(H.dim() == o.dims().y);
    CHECK(relative(H(a.v + 2 * b.v), H(a.v) + 2 * H(b.v)) < 1e-12);
    CHECK(relative(o.cross_product(a.x, a.y, a.v + 2 * b.v),
                   o.cross_product(a.x, a.y, a.v) + 2 * o.cross_product(a.x, a.y, b.v)) < 1e-12);
    const std::array both{a.v, b.v};
    std::array<Vec, 2> products;
    H.apply(both, products);
    CHECK(products[0] == H(a.v));
    CHECK(products[1] == H(b.v));
    Vec diagonal;
    CHECK(H.diagonal(diagonal) == H.has_diagonal());
    for (Index i = 0; i < diagonal.size(); i += 1 + diagonal.size() / 20) {
      const Vec column = H(Vec::Unit(o.dims().y, i));
      CHECK(std::abs(diagonal[i] - column[i]) <= 1e-12 * column.norm());
    }
    if (!o.has_second_order()) return;
    const Vec no_x = Vec::Zero(o.dims().x), no_y = Vec::Zero(o.dims().y);
    const HessianProduct along_y = o.hess_g(a.x, a.y, no_x, a.v), along_x = o.hess_g(a.x, a.y, a.u, no_y);
    CHECK(relative(along_y.y, H(a.v)) < 1e-12);
    CHECK(relative(along_y.x, o.cross_product(a.x, a.y, a.v)) < 1e-12);
    CHECK(relative(along_x.y, o.adjoint_cross_product(a.x, a.y, a.u)) < 1e-12);
    CHECK(relative(o.grad_g(a.x, a.y).y, o.grad_y_g(a.x, a.y)) < 1e-12);
  });
}

namespace {

void check_allocations(BilevelOracle& o) {
  Random random(4);
  const Draw first(o, random), second(o, random);
  Vec gx, gy, g, Hv, Cv, Ctu;
  const std::array columns{first.v, second.v, first.v};
  std::array<Vec, 3> products;
  const auto all = [&](const Draw& a) {
    o.f(a.x, a.y);
    o.grad_f(a.x, a.y, gx, gy);
    o.grad_y_g(a.x, a.y, g);
    o.curvature_at(a.x, a.y).apply(a.v, Hv);
    o.curvature_at(a.x, a.y).diagonal(Hv);
    o.curvature_at(a.x, a.y).apply(columns, products);
    o.cross_product(a.x, a.y, a.v, Cv);
    o.g(a.x, a.y);
    o.grad_g(a.x, a.y, gx, gy);
    o.adjoint_cross_product(a.x, a.y, a.u, Ctu);
    o.hess_f(a.x, a.y, a.u, a.v, gx, gy);
    o.hess_g(a.x, a.y, a.u, a.v, gx, gy);
  };
  all(first);
  const long before = testing::allocations();
  all(second);
  all(first);
  CHECK(testing::allocations() == before);
  o.grad_y_g(first.x, first.y);
  CHECK(testing::allocations() > before);  // the counter counts
}

/// Rows with a weight in x, rows behind a nonlinear function, and a comparison.
struct SeveralSums {
  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    using std::exp, std::log;
    S sum = 0.0, norm = 0.0;
    for (Index i = 0; i + 1 < y.size(); ++i) sum += exp(x[i % x.size()]) * (y[i] - y[i + 1]) * (y[i] - y[i + 1]);
    for (Index i = 0; i < y.size(); ++i) norm += y[i] * y[i];
    if (norm < 0.0) sum += x[0];
    return sum / 7.0 + x[0] * log(1.0 + norm);
  }
};

}  // namespace

TEST_CASE("in-place primitives of taped problems allocate nothing after the first call") {
#if defined(__SANITIZE_ADDRESS__)
  MESSAGE("skipped: the address sanitizer has its own allocator");
#else
  for (const auto& entry : problems::registry()) {
    CAPTURE(entry.name);
    problems::Problem problem = problems::make_problem(entry.name);
    CountingOracle o(*problem.oracle);
    check_allocations(o);
  }
  for (const Engine engine : {Engine::rows, Engine::runs, Engine::cppad}) {
    CAPTURE(static_cast<int>(engine));
    TapedProblem problem = make_bilevel({3, 40}, SeveralSums(), SeveralSums(), {.engine = engine});
    check_allocations(problem);
  }
#endif
}
