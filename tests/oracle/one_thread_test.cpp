#include "hypertape/oracle/one_thread.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "hypertape/oracle/counting_oracle.hpp"

using namespace hypertape;

namespace {

constexpr const char* busy = "this oracle is in use by another thread: one oracle serves one thread at a time";

/// Holds the thread that comes by until it is opened.
struct Gate {
  std::latch arrived{1}, opened{1};
  void pass() {
    arrived.count_down();
    opened.wait();
  }
};

/// f = x y, g = y^2 - x y. Values of f and products d2g/dy2 v wait at the gate, if there is one.
class Gated final : public BilevelOracle {
 public:
  Dims dims() const override { return {1, 1}; }
  bool has_second_order() const override { return true; }
  Gate* gate = nullptr;

 private:
  struct Curvature final : LinearOperator {
    Gate* gate = nullptr;
    Index dim() const override { return 1; }
    void do_apply(const Vec& v, Vec& out) override {
      if (gate != nullptr) gate->pass();
      out = 2 * v;
    }
  };

  double do_f(const Vec& x, const Vec& y) override {
    if (gate != nullptr) gate->pass();
    return x[0] * y[0];
  }
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
    gx = y;
    gy = x;
    return f(x, y);  // an oracle may use its own public functions
  }
  void do_grad_y_g(const Vec& x, const Vec& y, Vec& out) override {
    if (y[0] < 0) throw std::runtime_error("y is negative");
    out = 2 * y - x;
  }
  LinearOperator& do_curvature_at(const Vec&, const Vec&) override {
    curvature_.gate = gate;
    return curvature_;
  }
  void do_cross_product(const Vec&, const Vec&, const Vec& v, Vec& out) override { out = -v; }
  double do_g(const Vec& x, const Vec& y) override { return y[0] * (y[0] - x[0]); }
  double do_grad_g(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
    gx = -y;
    gy = 2 * y - x;
    return do_g(x, y);
  }
  void do_adjoint_cross_product(const Vec&, const Vec&, const Vec& u, Vec& out) override { out = -u; }
  void do_hess_f(const Vec&, const Vec&, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override {
    out_x = q;
    out_y = p;
  }
  void do_hess_g(const Vec&, const Vec&, const Vec& p, const Vec& q, Vec& out_x, Vec& out_y) override {
    out_x = -q;
    out_y = 2 * q - p;
  }

  Curvature curvature_;
};

const Vec x{{3}}, y{{5}};

void check_refuses(BilevelOracle& oracle) {
  CHECK_THROWS_WITH_AS(oracle.f(x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.grad_f(x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.grad_y_g(x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.curvature_at(x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.cross_product(x, y, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.g(x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.grad_g(x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.adjoint_cross_product(x, y, x), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.hess_f(x, y, x, y), busy, std::logic_error);
  CHECK_THROWS_WITH_AS(oracle.hess_g(x, y, x, y), busy, std::logic_error);
}

/// What `check` does while another thread is inside `call`.
void during(Gate& gate, const std::function<void()>& call, const std::function<void()>& check) {
  std::thread other(call);
  gate.arrived.wait();
  check();
  gate.opened.count_down();
  other.join();
}

}  // namespace

TEST_CASE("a call while another thread is inside is refused, by every entrance and by the operator") {
  Gated oracle;
  LinearOperator& H = oracle.curvature_at(x, y);
  CountingOracle counting(oracle), counting_that(static_cast<BilevelOracle&>(counting));
  Gate gate;
  oracle.gate = &gate;
  double value = 0;
  SUBCASE("inside the oracle") {
    during(
        gate, [&] { value = oracle.grad_f(x, y).value; },
        [&] {
          check_refuses(oracle);
          check_refuses(counting);  // two solvers on one oracle, each with its own counting
          check_refuses(counting_that);
          CHECK_THROWS_WITH_AS(H(y), busy, std::logic_error);
        });
    CHECK(value == 15);
  }
  SUBCASE("inside through a counting oracle") {
    during(
        gate, [&] { value = counting_that.f(x, y); },
        [&] {
          check_refuses(oracle);
          check_refuses(counting);
        });
    CHECK(value == 15);
  }
  SUBCASE("inside the operator") {
    LinearOperator& gated = counting.curvature_at(x, y);
    during(
        gate, [&] { value = gated(y)[0]; },
        [&] {
          check_refuses(oracle);
          check_refuses(counting);
          CHECK_THROWS_WITH_AS(H(y), busy, std::logic_error);
        });
    CHECK(value == 10);
  }
  // Afterwards everything is as before, and nothing that was refused was counted.
  CHECK(counting.counts().total() <= 1);
  oracle.gate = nullptr;
  CHECK(oracle.grad_f(x, y).value == 15);
  CHECK(counting.curvature_at(x, y)(y)[0] == 10);
}

TEST_CASE("one thread after the other is fine, after an exception too") {
  Gated oracle;
  const Vec negative{{-1}};
  CHECK_THROWS_AS(oracle.grad_y_g(x, negative), std::runtime_error);
  CHECK_THROWS_AS(oracle.f(x, Vec{{1, 2}}), std::invalid_argument);
  LinearOperator& H = oracle.curvature_at(x, y);
  double value = 0, product = 0;
  std::thread([&] {
    value = oracle.grad_y_g(x, y)[0];
    product = H(y)[0];
    try {
      oracle.grad_y_g(x, negative);
    } catch (const std::runtime_error&) {
      value += 1;
    }
  }).join();
  CHECK(value == 8);
  CHECK(product == 10);
  CHECK(oracle.grad_y_g(x, y)[0] == 7);
}

TEST_CASE("a copy is used on its own; what was moved from is refused, until it is assigned to") {
  Gate gate;
  Gated oracle;
  oracle.curvature_at(x, y);
  Gated copy = oracle;
  oracle.gate = &gate;
  during(
      gate, [&] { oracle.f(x, y); },
      [&] {
        CHECK(copy.f(x, y) == 15);
        CHECK(copy.curvature_at(x, y)(y)[0] == 10);
        Gated another = oracle;
        another = oracle;
        another.gate = nullptr;
        CHECK(another.f(x, y) == 15);
        check_refuses(oracle);
      });

  const char* const moved = "this oracle was moved from: use the one that it was moved to";
  static_assert(std::is_nothrow_move_constructible_v<Gated> && std::is_nothrow_move_assignable_v<Gated>);
  Gated to = std::move(copy);
  CHECK(to.f(x, y) == 15);
  CHECK_THROWS_WITH_AS(copy.f(x, y), moved, std::logic_error);
  CHECK_THROWS_WITH_AS(CountingOracle(copy).curvature_at(x, y), moved, std::logic_error);
  Gated copy_of_moved = copy;
  CHECK_THROWS_WITH_AS(copy_of_moved.f(x, y), moved, std::logic_error);
  copy = to;
  CHECK(copy.f(x, y) == 15);
  copy_of_moved = std::move(to);
  CHECK(copy_of_moved.f(x, y) == 15);
  CHECK_THROWS_WITH_AS(to.f(x, y), moved, std::logic_error);
}
