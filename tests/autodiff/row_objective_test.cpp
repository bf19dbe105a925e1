#include "hypertape/autodiff/row_objective.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "autodiff/row_problem_cases.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/oracle/counting_oracle.hpp"

using namespace hypertape;
using namespace hypertape::testing;

TEST_CASE("terms add up, also where they see the same variable in different ways") {
  for (const Index n : {1, 5, 33, 100})
    for (const bool is_sparse : {false, true}) {
      CAPTURE(n);
      CAPTURE(is_sparse);
      const TwoTerms two(n, 7, is_sparse);
      RowProblem rows = row_problem(two.dims, two.f, two.g);
      TapedProblem taped = taped_problem(two.dims, two.f, two.g);
      Random random(3);
      const Sample at(two.dims, random);
      check_close(answers(rows, at), answers(taped, at));
    }
}

TEST_CASE("a term of x alone, or of data and y, takes part where it should and nowhere else") {
  Random random(4);
  const Index n = 40;
  const std::vector<Part> g{{1.0, {.y = entries(), .x = shared(), .data = data_of_rows(n, random)}, 0, n},
                            {3.0, {.x = shared(), .data = data_of_rows(6, random)}, 0, 6},
                            {0.5, {.y = columns(4), .data = data_of_rows(10, random)}, 1, 10}};
  const std::vector<Part> f{{2.0, {.x = entries(), .data = data_of_rows(3, random)}, 0, 3}};
  const Dims dims{3, n};
  RowProblem rows = row_problem(dims, f, g);
  TapedProblem taped = taped_problem(dims, f, g);
  const Sample at(dims, random);
  check_close(answers(rows, at), answers(taped, at));
  CHECK(rows.grad_f(at.x, at.y).y == Vec::Zero(n));
  CHECK(rows.hess_f(at.x, at.y, at.p, at.q).y == Vec::Zero(n));
}

TEST_CASE("a long y is worked through tile by tile, up to its last entry") {
  // More entries than one tile has, a tile that is no multiple of the data, and views that must agree where tiles end.
  Random random(5);
  const Index p = 3501;  // enough work for several threads, too
  SparseRows X(40, p);
  std::vector<Eigen::Triplet<double>> entries_of_x;
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 12; ++k) entries_of_x.emplace_back(i, static_cast<int>(random.below(p)), random.normal());
    entries_of_x.emplace_back(i, static_cast<int>(p) - 1, random.normal());
  }
  X.setFromTriplets(entries_of_x.begin(), entries_of_x.end());
  const std::vector<Part> g{{1.0, {.y = product(X, 3), .data = data_of_rows(40, random)}, 1, 40},
                            {0.25, {.y = columns(3), .x = entries(), .data = data_of_rows(p, random)}, 0, p},
                            {0.5, {.y = entries(), .data = data_of_rows(3 * p, random)}, 1, 3 * p}};
  const std::vector<Part> f{{1.5, {.y = product(X, 3), .data = data_of_rows(40, random)}, 0, 40}};
  const Dims dims{p, 3 * p};
  RowProblem rows = row_problem(dims, f, g, {.threads = 2});
  TapedProblem taped = taped_problem(dims, f, g);
  const Sample at(dims, random);
  const auto expected = answers(taped, at);
  check_close(answers(rows, at), expected);
  RowProblem one_thread = row_problem(dims, f, g);
  CHECK(differences(answers(rows, at), answers(one_thread, at)) == "");
}

TEST_CASE("results are the same to the last bit for every number of threads, more than chunks included") {
  // One row, a few, and enough of them that the work is shared.
  std::vector<TwoTerms> problems;
  for (const bool is_sparse : {false, true})
    for (const Index n : {1, 33, 517, 1601}) problems.emplace_back(n, n > 1000 ? 150 : 40, is_sparse);
  for (const TwoTerms& two : problems) {
    RowProblem one = row_problem(two.dims, two.f, two.g);
    Random random(6);
    const Sample at(two.dims, random);
    const auto expected = answers(one, at);
    const std::vector<int> few{3, 20}, all{2, 3, 7, 20, 0};
    for (const int threads : two.dims.x < 500 ? few : all) {
      CAPTURE(two.dims.x);
      CAPTURE(threads);
      RowProblem many = row_problem(two.dims, two.f, two.g, {.threads = threads});
      CHECK(differences(answers(many, at), expected) == "");
    }
  }
}

TEST_CASE("columns of any length are seen and added to in order") {
  Random random(16);
  for (const Index width : {1, 2, 7, 8, 9, 16, 19})
    for (const Index n : {3, 33, 64}) {
      CAPTURE(width);
      CAPTURE(n);
      const Rows of_y{.y = columns(width), .x = entries(), .data = data_of_rows(n, random)};
      const Rows of_x{.y = shared(), .x = columns(width), .data = data_of_rows(n, random)};
      const std::vector<Part> in_y{{1.5, of_y, 0, n}}, in_x{{0.75, of_x, 0, n}};
      const Dims dims_y{n, n * width}, dims_x{n * width, 2};
      const Sample at_y(dims_y, random), at_x(dims_x, random);
      RowProblem rows_y = row_problem(dims_y, in_y, in_y), rows_x = row_problem(dims_x, in_x, in_x);
      TapedProblem taped_y = taped_problem(dims_y, in_y, in_y), taped_x = taped_problem(dims_x, in_x, in_x);
      check_close(answers(rows_y, at_y), answers(taped_y, at_y));
      check_close(answers(rows_x, at_x), answers(taped_x, at_x));
    }
}

TEST_CASE("bytes count what grows with the rows") {
  const TwoTerms few(32), many(3200);
  RowProblem small = row_problem(few.dims, few.f, few.g), large = row_problem(many.dims, many.f, many.g);
  CHECK(large.bytes() > small.bytes());
  CHECK(large.bytes() >= 2 * 2 * 3200 * sizeof(double));  // two terms with two data a row
}

TEST_CASE("a wide sparse product, whose adjoint goes by columns, equals the dense one") {
  constexpr Index rows = 45, features = 17000, width = 2;
  Random random(21);
  std::vector<Eigen::Triplet<double>> entries_of_x;
  for (Index i = 0; i < rows; ++i)
    for (int k = 0; k < 30; ++k)
      entries_of_x.emplace_back(static_cast<int>(i), static_cast<int>(random.below(features)), random.normal());
  SparseRows sparse(rows, features);
  sparse.setFromTriplets(entries_of_x.begin(), entries_of_x.end());
  REQUIRE_FALSE(scatters(sparse, width));
  const auto phi = [](const auto& a, const auto& b, const auto&) {
    return a[0] * a[0] * b[0] * b[0] + a[1] * a[1] + a[0] * a[1] * b[0];
  };
  const auto penalty = [](const auto& a, const auto&, const auto&) { return a[0] * a[0]; };
  const auto make = [&](const LinearView& view, int threads) {
    const Objective g{sum_rows(0.5, {.y = view, .x = hypertape::entries()}, phi),
                      sum_rows(0.1, {.y = hypertape::entries()}, penalty)};
    return RowProblem({rows, features * width}, g, g, {.threads = threads});
  };
  RowProblem by_columns = make(product(sparse, width), 1), threaded = make(product(sparse, width), 3),
             dense = make(product(RowMat(sparse), width), 1);
  const Vec x = random.normal(rows), y = random.normal(features * width), v = random.normal(features * width);
  const auto close = [](const Vec& a, const Vec& b) { return (a - b).norm() <= 1e-12 * b.norm(); };
  CHECK(close(by_columns.grad_y_g(x, y), dense.grad_y_g(x, y)));
  CHECK(close(by_columns.grad_f(x, y).y, dense.grad_f(x, y).y));
  CHECK(close(by_columns.curvature_at(x, y)(v), dense.curvature_at(x, y)(v)));
  CHECK(close(by_columns.adjoint_cross_product(x, y, x), dense.adjoint_cross_product(x, y, x)));
  CHECK(close(by_columns.cross_product(x, y, v), dense.cross_product(x, y, v)));
  CHECK(threaded.grad_y_g(x, y) == by_columns.grad_y_g(x, y));
}

TEST_CASE("an entry that is not finite is refused by name in every argument of every function, however rows see it") {
  // y and x each seen whole and as they stand, so that entries are looked at while they are read; through products; and
  // by a term that is linear, whose curvature reads nothing. 70 rows: two packs and a part of one.
  constexpr Index n = 70;
  Random random(3);
  const RowMat X = RowMat::NullaryExpr(n, n, [&] { return random.normal(); });
  const auto phi = [](const auto& a, const auto& b, const auto&) { return a[0] * a[0] * b[0] * b[0] + a[1] * b[0]; };
  const auto linear = [](const auto& a, const auto& b, const auto&) { return a[0] + b[0]; };
  const std::vector<Objective> problems{{sum_rows(0.5, {.y = columns(2), .x = entries()}, phi)},
                                        {sum_rows(0.5, {.y = product(X, 2), .x = product(X, 1)}, phi)},
                                        {sum_rows(0.5, {.y = product(X, 2), .x = product(X, 1)}, phi),
                                         sum_rows(1.5, {.y = columns(2), .x = entries()}, phi)},
                                        {sum_rows(1.0, {.y = columns(2), .x = entries()}, linear)}};
  const Vec x = random.normal(n), y = random.normal(2 * n), p = random.normal(n), q = random.normal(2 * n);
  for (const Objective& terms : problems)
    for (const int threads : {1, 2}) {
      RowProblem problem({n, 2 * n}, terms, terms, {.threads = threads});
      CountingOracle counting(problem);
      for (BilevelOracle* oracle : {static_cast<BilevelOracle*>(&problem), static_cast<BilevelOracle*>(&counting)}) {
        Vec ox, oy;
        LinearOperator& curvature = oracle->curvature_at(x, y);
        using Call = std::function<void(const Vec&, const Vec&, const Vec&, const Vec&)>;
        struct Entrance {
          std::string name, arguments;
          Call call;
        };
        const std::vector<Entrance> entrances{
            {"f", "xy", [&](auto& a, auto& b, auto&, auto&) { oracle->f(a, b); }},
            {"g", "xy", [&](auto& a, auto& b, auto&, auto&) { oracle->g(a, b); }},
            {"grad_f", "xy", [&](auto& a, auto& b, auto&, auto&) { oracle->grad_f(a, b, ox, oy); }},
            {"grad_g", "xy", [&](auto& a, auto& b, auto&, auto&) { oracle->grad_g(a, b, ox, oy); }},
            {"grad_y_g", "xy", [&](auto& a, auto& b, auto&, auto&) { oracle->grad_y_g(a, b, oy); }},
            {"cross_product", "xyv", [&](auto& a, auto& b, auto&, auto& d) { oracle->cross_product(a, b, d, ox); }},
            {"adjoint_cross_product", "xyu",
             [&](auto& a, auto& b, auto& c, auto&) { oracle->adjoint_cross_product(a, b, c, oy); }},
            {"hess_f", "xypq", [&](auto& a, auto& b, auto& c, auto& d) { oracle->hess_f(a, b, c, d, ox, oy); }},
            {"hess_g", "xypq", [&](auto& a, auto& b, auto& c, auto& d) { oracle->hess_g(a, b, c, d, ox, oy); }},
            {"linear operator", "v", [&](auto&, auto&, auto&, auto& d) { curvature.apply(d, oy); }},
            {"curvature_at", "xy", [&](auto& a, auto& b, auto&, auto&) { oracle->curvature_at(a, b); }}};
        for (const Entrance& entrance : entrances) {
          CAPTURE(entrance.name);
          CHECK_NOTHROW(entrance.call(x, y, p, q));
          for (const char name : entrance.arguments) {
            std::array<Vec, 4> given{x, y, p, q};
            Vec& spoilt = given[name == 'x' ? 0 : name == 'y' ? 1 : name == 'u' || name == 'p' ? 2 : 3];
            for (const Index at : {Index{0}, Index{33}, spoilt.size() - 1}) {
              const double kept = std::exchange(spoilt[at], std::numeric_limits<double>::infinity());
              const std::string message = text(entrance.name, ": ", name, "[", at, "] = inf, must be finite");
              CHECK_THROWS_WITH_AS(entrance.call(given[0], given[1], given[2], given[3]), message.c_str(), NotFinite);
              spoilt[at] = kept;
            }
          }
          CHECK_NOTHROW(entrance.call(x, y, p, q));
        }
      }
    }
}
