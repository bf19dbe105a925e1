#include "hypertape/tape/recording.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "hypertape/tape/function.hpp"
#include "support/every_operation.hpp"

using namespace hypertape;
using testing::Everything;

TEST_CASE("a recording is the function at other points too") {
  const Everything everything;
  const Function function("f", everything);
  const TapeOptions options{.record_x = Vec{{0.7, 1.2}}, .record_y = Vec{{0.4, 0.1}}};
  const Recording recording = function.record({2, 2}, Independent::both, options);
  CHECK(recording.inputs() == 4);
  CHECK(recording.comparisons.empty());
  for (const Vec& y : {Vec{{0.4, 0.1}}, Vec{{-0.6, 0.9}}, Vec{{0.2, -0.7}}}) {
    const Vec x{{0.5, 2.5}};
    const double plain = everything(VecT<double>("x", x), VecT<double>("y", y));
    CHECK(evaluate(recording, x, y)[static_cast<std::size_t>(recording.result)] ==
          doctest::Approx(plain).epsilon(1e-14));
  }
}

TEST_CASE("nothing is folded but 0 + t and what is constant") {
  const Function function("f", []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S s = 0.0;
    s += 1.0 * y[0];
    s += 0.0 * y[1];
    return s + (S(2.0) * 3.0 - 6.0) + x[0];
  });
  const Recording r = function.record({1, 2}, Independent::both, {});
  CHECK(std::vector<Op>(r.ops.begin() + 3, r.ops.end()) == std::vector{Op::mul, Op::mul, Op::add, Op::add});
  CHECK(r.constants == std::vector{1.0, 0.0});
  CHECK(r.argument(3, 1) == 1);  // y[0]
  CHECK(r.constant(r.argument(3, 0)) == 1);
}

TEST_CASE("comparisons are nodes that tell where they would be decided otherwise") {
  const Function function("f", []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    if (y[0] < 0.0 || y[0] == x[0]) return x[0];
    return std::max(y[0], S(1.0)) + (y[0] >= 3.0 ? x[0] : y[0]);
  });
  const Recording r = function.record({1, 1}, Independent::both, {.record_y = Vec{{2}}});
  CHECK(r.comparisons.size() == 4);
  const auto changes = [&](double x, double y) {
    const auto values = evaluate(r, Vec{{x}}, Vec{{y}});
    double count = 0;
    for (const auto c : r.comparisons) count += values[static_cast<std::size_t>(c)];
    return count;
  };
  CHECK(changes(0, 2) == 0);
  CHECK(changes(5, 1.5) == 0);
  CHECK(changes(0, -1) == 2);
  CHECK(changes(4, 4) == 2);
  CHECK(changes(0, std::nan("")) == 0);
}
