#include "hypertape/tape/runs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "hypertape/autodiff/tape_slot.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/tape/cppad_tape.hpp"
#include "hypertape/tape/function.hpp"
#include "support/every_operation.hpp"
#include "support/every_set.hpp"

using namespace hypertape;
using testing::every_set;
using testing::Everything;

namespace {

/// A graph without repeated structure: every operation takes anything before it, more often what is recent.
struct RandomGraph {
  struct Node {
    int kind, a, b;
  };
  int operations;
  std::vector<Node> nodes;

  RandomGraph(int inputs, int count, std::uint64_t seed) : operations(count) {
    Random random(seed);
    for (int k = 0; k < count; ++k) {
      const auto any = [&] {
        const int all = inputs + k, window = random.below(2) ? all : std::min(all, 30);
        return all - 1 - static_cast<int>(random.below(static_cast<std::uint64_t>(window)));
      };
      nodes.push_back({static_cast<int>(random.below(10)), any(), any()});
    }
  }

  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    using std::cos, std::exp, std::sin, std::tanh;
    std::vector<S> values;
    for (Index i = 0; i < x.size(); ++i) values.push_back(x[i]);
    for (Index i = 0; i < y.size(); ++i) values.push_back(y[i]);
    for (const Node& node : nodes) {
      const S a = values[static_cast<std::size_t>(node.a)], b = values[static_cast<std::size_t>(node.b)];
      switch (node.kind) {
        case 0:
        case 1:
          values.push_back(0.7 * a + 0.3 * b);
          break;
        case 2:
          values.push_back(a - 0.5 * (a * b));
          break;
        case 3:
          values.push_back(0.5 * (a * b) - b);
          break;
        case 4:
        case 5:
          values.push_back(0.5 * a * b);
          break;
        case 6:
          values.push_back(sin(a + b));
          break;
        case 7:
          values.push_back(tanh(a) - cos(b));
          break;
        case 8:
          values.push_back(select(less(a, b), a, 0.5 * b));
          break;
        default:
          values.push_back(a / (1.0 + b * b));
      }
    }
    S sum = 0.0;
    for (std::size_t k = 0; k < 20; ++k) sum += values[values.size() - 1 - k];
    return sum;
  }
};

double difference(const Vec& a, const Vec& b) { return (a - b).norm() / (1e-300 + b.norm()); }

/// Runs beside CppAD's sweeps, at a point: the largest relative difference of value, gradient and product.
struct Beside {
  const Recording& recording;
  Independent independent;
  Runs runs{recording, independent};
  Runs::Memory memory = runs.memory();

  double operator()(const Kernels& kernels, const Vec& x, const Vec& y, const Vec& p, const Vec& q) {
    const bool both = independent == Independent::both;
    const TapeSlot slot;
    const auto entry = slot.enter();
    CppadTape tape(recording, "f", independent, false);
    Vec gx(x.size()), gy(y.size()), hx(x.size()), hy(y.size()), tape_gx(gx), tape_gy(gy), tape_hx(hx), tape_hy(hy);
    const double value = runs.gradient(kernels, memory, x, y, both ? &gx : nullptr, gy);
    const double tape_value = tape.gradient(x, y, both ? &tape_gx : nullptr, tape_gy);
    runs.hessian_product(kernels, memory, both ? &p : nullptr, &q, both ? &hx : nullptr, &hy);
    tape.hessian_product(both ? &p : nullptr, &q, both ? &tape_hx : nullptr, &tape_hy);
    double worst = std::max(
        {std::abs(value - tape_value) / std::abs(tape_value), difference(gy, tape_gy), difference(hy, tape_hy)});
    if (both) worst = std::max({worst, difference(gx, tape_gx), difference(hx, tape_hx)});
    return worst;
  }
};

}  // namespace

TEST_CASE("every operation has the derivatives that CppAD's sweeps have") {
  const Kernels& k = kernels(every_set());
  const Function function("f", Everything{});
  const TapeOptions options{.record_x = Vec{{0.7, 1.2}}, .record_y = Vec{{0.4, 0.1}}};
  for (const auto independent : {Independent::y, Independent::both}) {
    const Recording recording = function.record({2, 2}, independent, options);
    Beside beside{recording, independent};
    for (const Vec& x : {Vec{{0.5, 2.5}}, Vec{{0.6, 0.2}}})
      for (const Vec& y : {Vec{{0.4, 0.1}}, Vec{{-0.6, 0.9}}, Vec{{0.2, -0.7}}, Vec{{0.65, 0.3}}})
        CHECK(beside(k, x, y, Vec{{0.3, -1}}, Vec{{2, 0.7}}) < 1e-13);
  }
}

TEST_CASE("graphs without rows have the derivatives of CppAD's sweeps, and of differences of the plain function") {
  const Kernels& k = kernels(every_set());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    CAPTURE(seed);
    Random random(100 + seed);
    const int count = 20 + static_cast<int>(random.below(seed < 4 ? 60 : 1500));
    const RandomGraph graph(9, count, seed);
    const Function function("f", graph);
    const Vec x = random.normal(4), y = random.normal(5), p = random.normal(4), q = random.normal(5);
    for (const auto independent : {Independent::y, Independent::both}) {
      const Recording recording = function.record({4, 5}, independent, {});
      Beside beside{recording, independent};
      CHECK(beside(k, x, y, p, q) < 1e-11);
      CHECK(beside(k, x, Vec(-y), p, q) < 1e-11);
      CHECK(beside(k, Vec(0.5 * x), y, q.head(4), q) < 1e-11);
    }
    if (count > 80) continue;  // differences of long chains have no digits left
    const Recording recording = function.record({4, 5}, Independent::both, {});
    const Runs runs(recording, Independent::both);
    auto memory = runs.memory();
    Vec gx(4), gy(5), hx(4), hy(5), ahead_x(4), ahead_y(5), behind_x(4), behind_y(5);
    runs.gradient(k, memory, x, y, &gx, gy);
    runs.hessian_product(k, memory, &p, &q, &hx, &hy);
    const double t = 1e-5;
    const double slope = (function(x + t * p, y + t * q) - function(x - t * p, y - t * q)) / (2 * t);
    CHECK(gx.dot(p) + gy.dot(q) == doctest::Approx(slope).epsilon(1e-6));
    runs.gradient(k, memory, x + t * p, y + t * q, &ahead_x, ahead_y);
    runs.gradient(k, memory, x - t * p, y - t * q, &behind_x, behind_y);
    CHECK(difference((ahead_x - behind_x) / (2 * t), hx) < 1e-6);
    CHECK(difference((ahead_y - behind_y) / (2 * t), hy) < 1e-6);
  }
}

TEST_CASE("a memory is a point: others may move on, products need no gradient, and x is kept") {
  const Kernels& k = kernels(every_set());
  const RandomGraph graph(5, 400, 7);
  const Function function("f", graph);
  const Recording recording = function.record({2, 3}, Independent::both, {});
  const Runs runs(recording, Independent::both);
  Random random(3);
  const Vec x = random.normal(2), y = random.normal(3), q = random.normal(3);
  auto here = runs.memory(), elsewhere = runs.memory();
  Vec gradient(3), expected(3), product(3), again(3);
  runs.value(k, here, x, y);
  runs.hessian_product(k, here, nullptr, &q, nullptr, &expected);  // after a value alone
  for (const Vec& other : {Vec(2 * y), Vec(-y)}) runs.gradient(k, elsewhere, x, other, nullptr, gradient);
  runs.hessian_product(k, here, nullptr, &q, nullptr, &product);
  CHECK(product == expected);

  // The same point once more, after others with this x and with another: nothing of them is left.
  const double value = runs.value(k, elsewhere, x, y);
  runs.value(k, elsewhere, Vec(-x), y);
  CHECK(runs.value(k, elsewhere, x, y) == value);
  runs.hessian_product(k, elsewhere, nullptr, &q, nullptr, &again);
  CHECK(again == expected);

  const Vec zeros = Vec::Zero(2);
  Vec of_x(2);
  runs.hessian_product(k, here, &zeros, &q, &of_x, &again);
  CHECK(again == expected);
  runs.hessian_product(k, here, &zeros, nullptr, &of_x, &again);
  CHECK(again.isZero(0));
  CHECK(of_x.isZero(0));
}

TEST_CASE("comparisons that would be decided otherwise are counted, also between values of x") {
  const Kernels& k = kernels(every_set());
  const Function function("f", []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    const S scale = x[0] > 2.0 ? S(3.0) : x[0];
    return std::max(y[0], S(1.0)) * scale + (y[0] >= x[0] ? x[0] : y[0]);
  });
  for (const auto independent : {Independent::y, Independent::both}) {
    const Recording recording = function.record({1, 1}, independent, {.record_x = Vec{{1}}, .record_y = Vec{{2}}});
    const Runs runs(recording, independent);
    auto memory = runs.memory();
    const auto changes = [&](double x, double y) {
      runs.value(k, memory, Vec{{x}}, Vec{{y}});
      return memory.changed_comparisons();
    };
    CHECK(changes(1, 2) == 0);
    CHECK(changes(1.5, 1.7) == 0);
    CHECK(changes(0.5, 0.7) == 1);
    CHECK(changes(0.5, 0.2) == 2);
    CHECK(changes(3, 0.2) == 3);
    CHECK(changes(3, 4) == 1);
    CHECK(changes(1, 2) == 0);
  }
}

TEST_CASE("selects take what the function itself takes, on both sides and where they are equal") {
  const Kernels& k = kernels(every_set());
  const auto plain = []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    const S a = y[0], b = x[0];
    return select(less(a, b), 1.0, 2.0 * a) + 10.0 * select(less_equal(a, b), 1.0, 2.0 * a) +
           100.0 * select(equal(a, b), 1.0, 2.0 * a) + 1000.0 * select(greater_equal(a, b), 1.0, 2.0 * a) +
           10000.0 * select(greater(a, b), 1.0, 2.0 * a) + 1e5 * abs(a);
  };
  const Function function("f", plain);
  const Recording recording = function.record({1, 1}, Independent::both, {});
  const Runs runs(recording, Independent::both);
  auto memory = runs.memory();
  for (const double y : {1.0, 2.0, 3.0}) {
    const Vec at_x{{2}}, at_y{{y}};
    CHECK(runs.value(k, memory, at_x, at_y) == function(at_x, at_y));
  }
}

TEST_CASE("what a function does not depend on has a zero derivative, and a linear one no Hessian") {
  const Kernels& k = kernels(every_set());
  const Function function("f", []<class S>(const VecT<S>& x, const VecT<S>& y) -> S { return 3.0 * y[1] + x[0]; });
  const Recording recording = function.record({1, 3}, Independent::both, {});
  const Runs runs(recording, Independent::both);
  auto memory = runs.memory();
  const Vec x{{2}}, y{{1, 2, 3}};
  Vec gx(1), gy(3), hx(1), hy(3);
  CHECK(runs.gradient(k, memory, x, y, &gx, gy) == 8);
  CHECK(gx == Vec{{1}});
  CHECK(gy == Vec{{0, 3, 0}});
  runs.hessian_product(k, memory, &x, &y, &hx, &hy);
  CHECK(hx.isZero(0));
  CHECK(hy.isZero(0));
}

TEST_CASE("operations are computed once: a product takes those on its direction, and x alone is done with") {
  const Function function("f", []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    using std::exp, std::sin;
    return exp(x[0]) * sin(y[0]);
  });
  const Recording recording = function.record({1, 1}, Independent::y, {});
  // exp(x); sin y, cos y, and the products of the value, the gradient and the Hessian product with its minus sign.
  CHECK(Runs(recording, Independent::y).operations() <= 8);
}
