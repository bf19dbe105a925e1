#include "hypertape/tape/partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "hypertape/tape/function.hpp"

using namespace hypertape;

namespace {

template <class F>
Partition partition_of(Dims dims, F f) {
  return partition(Function("f", f).record(dims, Independent::both, {}));
}

constexpr Index n = 40;

}  // namespace

TEST_CASE("the addends of a sum are the rows of a group, whatever their constants are") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += static_cast<double>(i % 3) * (y[i] - x[0]) * (y[i] - 1.0);
    return sum;
  });
  REQUIRE(p.groups.size() == 1);
  const RowGroup& group = p.groups[0];
  CHECK(group.rows == n);
  CHECK(group.adds);
  CHECK(group.target == p.result);
  CHECK(group.depends_on_x);
  CHECK(group.depends_on_y);
  REQUIRE(group.leaves.size() == 3);  // y_i twice, as which leaves are equal is seen for all rows
  CHECK(group.leaves[0].slots == group.leaves[2].slots);
  CHECK(group.leaves[0].kind == LeafKind::y);
  CHECK(group.leaves[1].kind == LeafKind::x);
  REQUIRE(group.constants.size() == 2);
  CHECK(group.constants[0][4] == 1);
  CHECK(group.constants[1][4] == 1);
  CHECK(p.loose.empty());
  CHECK(p.operations_in_rows == p.operations);
}

TEST_CASE("all pairs are one group, the diagonal included") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    S sum = 0.0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) sum += (y[i] * y[j] - x[0]) * (y[i] * y[j] - x[0]);
    return sum;
  });
  REQUIRE(p.groups.size() == 1);
  CHECK(p.groups[0].rows == n * n);
}

TEST_CASE("subtracted addends have a sign, and constant ones are kept apart") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>&, const VecT<S>& y) -> S {
    S sum = 1.0;
    for (Index i = 0; i < n; ++i) sum -= y[i] * y[i];
    return sum;
  });
  REQUIRE(p.groups.size() == 1);
  REQUIRE(p.groups[0].shape.results.size() == 1);
  CHECK(p.groups[0].shape.results[0].sign == -1);
  REQUIRE(p.sums.size() == 1);
  CHECK(p.sums[0].bias == 1);
}

TEST_CASE("a sample with several results is one row") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    using std::sin;
    S sum = 0.0;
    for (Index i = 0; i < n; ++i) {
      const S shared = sin(y[i] + x[0]);
      sum += shared * y[0];
      sum += shared * shared;
    }
    return sum;
  });
  REQUIRE(p.groups.size() == 1);
  CHECK(p.groups[0].rows == n);
  CHECK(p.groups[0].shape.results.size() == 2);
}

TEST_CASE("values that several need are rows of their own, before those that need them") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>&, const VecT<S>& y) -> S {
    using std::exp;
    std::vector<S> e;
    for (Index i = 0; i < n; ++i) e.push_back(exp(y[i]));
    S sum = 0.0;
    for (std::size_t i = 0; i + 1 < e.size(); ++i) sum += e[i] * e[i + 1];
    return sum;
  });
  REQUIRE(p.groups.size() == 2);
  REQUIRE(p.steps.size() >= 2);
  const RowGroup& first = p.groups[static_cast<std::size_t>(p.steps[0].group)];
  CHECK_FALSE(first.adds);
  CHECK(first.rows == n - 2);  // the first and the last are needed once
}

TEST_CASE("sums inside an expression are found, and what is left is loose") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    using std::exp, std::log;
    S a = 0.0, b = 0.0;
    for (Index i = 0; i < n; ++i) a += y[i] * y[i];
    for (Index i = 0; i < n; ++i) b += exp(y[i]);
    return exp(x[0]) * a + log(b);
  });
  CHECK(p.groups.size() == 2);
  CHECK(p.sums.size() == 2);
  CHECK(p.loose.size() == 4);  // exp, *, log, +
  CHECK(p.operations - p.operations_in_rows == 4);
  const auto of_x_alone = [](const LooseOperation& o) { return o.depends_on_x && !o.depends_on_y; };
  CHECK(std::count_if(p.loose.begin(), p.loose.end(), of_x_alone) == 1);
}

TEST_CASE("few rows are no group") {
  const auto p = partition_of({1, 7}, [](const auto&, const auto& y) { return (y.array() * y.array()).sum(); });
  CHECK(p.groups.empty());
  CHECK(p.operations_in_rows == 0);
}

TEST_CASE("sums inside the rows of a sum stay there, wherever that sum is") {
  const auto p = partition_of({1, n}, []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
    using std::exp;
    S sum = 0.0, norm = 0.0;
    for (Index i = 0; i < n; ++i) {
      S t = 0.0;
      for (Index j = 0; j < n; ++j) t += static_cast<double>(i * j % 7) * y[j];
      sum += exp(t) * t;
    }
    for (Index i = 0; i < n; ++i) norm += y[i] * y[i];
    return sum / 2.0 + x[0] * norm;
  });
  CHECK(p.groups.size() == 2);
  CHECK(p.sums.size() == 2);
  CHECK(p.loose.size() == 3);
}
