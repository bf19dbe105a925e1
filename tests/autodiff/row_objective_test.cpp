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

TEST_CASE("every entry of the diagonal is that of the products, the same to the last bit for every number of threads") {
  // Products dense and sparse, scattered and by columns, with columns of the same y; 70 rows: a pack is not full.
  constexpr Index n = 70;
  Random random(12);
  struct Case {
    const char* name;
    LinearView view;
    Index features;
  };
  const Index wide = 17000;
  std::vector<Eigen::Triplet<double>> entries_of_x;
  for (Index i = 0; i < n; ++i)
    for (int k = 0; k < 30; ++k)
      entries_of_x.emplace_back(static_cast<int>(i), static_cast<int>(random.below(wide)), random.normal());
  SparseRows by_columns(n, wide);
  by_columns.setFromTriplets(entries_of_x.begin(), entries_of_x.end());
  REQUIRE_FALSE(scatters(by_columns, 3));
  const Case cases[] = {{"dense", product(random_dense(n, 41, random), 3), 41},
                        {"sparse", product(random_sparse(n, 41, random), 3), 41},
                        {"sparse by columns", product(by_columns, 3), wide}};
  for (const Case& c : cases)
    for (const InstructionSet set : instruction_sets()) {
      CAPTURE(c.name);
      CAPTURE(to_string(set));
      const std::vector<Part> g{
          {0.75, {.y = c.view, .x = entries(), .data = data_of_rows(n, random)}, 0, n},
          {-0.5, {.y = columns(3), .data = data_of_rows(c.features, random)}, 1, c.features},
          {0.3, {.y = entries(), .data = data_of_rows(3 * c.features, random)}, 0, 3 * c.features},
          {2.0, {.x = entries(), .data = data_of_rows(n, random)}, 0, n}};
      const Dims dims{n, 3 * c.features};
      const Sample first(dims, random), at(dims, random);
      RowProblem problem = row_problem(dims, g, g, {.threads = 1, .instructions = set});
      Vec elsewhere, diagonal, again;
      REQUIRE(problem.curvature_at(first.x, first.y).diagonal(elsewhere));
      LinearOperator& H = problem.curvature_at(at.x, at.y);
      REQUIRE(H.diagonal(diagonal));
      CHECK(relative(elsewhere, diagonal) > 1e-3);
      const Vec before = H(at.q);
      const Index step = c.features > 1000 ? 101 : 1;
      double worst = 0;
      for (Index i = 0; i < dims.y; i += step) {
        const double expected = H(Vec::Unit(dims.y, i))[i];
        worst = std::max(worst, std::abs(diagonal[i] - expected) / (1e-2 + std::abs(expected)));
      }
      CHECK(worst <= 1e-12);
      CHECK(H(at.q) == before);  // a diagonal leaves the linearisation as it is
      // Other calls between linearising and the diagonal do not matter, nor how many threads there are.
      problem.grad_y_g(first.x, first.y);
      problem.hess_g(first.x, first.y, first.p, first.q);
      REQUIRE(H.diagonal(again));
      CHECK(again == diagonal);
      for (const int threads : {2, 3, 7, 20}) {
        CAPTURE(threads);
        RowProblem many = row_problem(dims, g, g, {.threads = threads, .instructions = set});
        REQUIRE(many.curvature_at(at.x, at.y).diagonal(again));
        CHECK(again == diagonal);
      }
    }
}

TEST_CASE("a product with several columns is that of one at a time to the last bit, however rows see y") {
  // Rows that are longer than a block of columns, few and many packs, terms of every kind beside each other.
  Random random(14);
  struct Case {
    const char* name;
    std::vector<Part> g;
    Dims dims;
  };
  const auto with_others = [&](const LinearView& view, Index n, Index features) {
    return std::vector<Part>{{0.75, {.y = view, .x = entries(), .data = data_of_rows(n, random)}, 0, n},
                             {-0.5, {.y = columns(3), .data = data_of_rows(features, random)}, 1, features},
                             {0.3, {.y = entries(), .data = data_of_rows(3 * features, random)}, 0, 3 * features},
                             {2.0, {.x = entries(), .data = data_of_rows(n, random)}, 0, n}};
  };
  std::vector<Case> cases;
  for (const Index n : {1, 33, 400})
    for (const Index features : {2, 41, 1500}) {
      if (n * features > 100'000) continue;
      cases.push_back(
          {"dense", with_others(product(random_dense(n, features, random), 3), n, features), {n, 3 * features}});
    }
  cases.push_back({"sparse", with_others(product(random_sparse(70, 41, random), 3), 70, 41), {70, 123}});
  auto mixed = with_others(product(random_dense(70, 8, random), 3), 70, 8);
  mixed.push_back({1.5, {.y = product(random_sparse(20, 12, random), 2), .data = data_of_rows(20, random)}, 1, 20});
  cases.push_back({"dense and sparse", mixed, {70, 24}});
  auto shared_too = with_others(product(random_dense(70, 2, random), 3), 70, 2);
  shared_too.push_back({1.5, {.y = shared(), .data = data_of_rows(40, random)}, 1, 40});
  cases.push_back({"dense and shared", shared_too, {70, 6}});
  cases.push_back(
      {"local", {{0.5, {.y = columns(4), .x = entries(), .data = data_of_rows(50, random)}, 0, 50}}, {50, 200}});
  for (const Case& c : cases)
    for (const InstructionSet set : instruction_sets())
      for (const int threads : {1, 3}) {
        CAPTURE(c.name);
        CAPTURE(c.dims.y);
        CAPTURE(to_string(set));
        CAPTURE(threads);
        RowProblem problem = row_problem(c.dims, c.g, c.g, {.threads = threads, .instructions = set});
        const Sample at(c.dims, random);
        LinearOperator& H = problem.curvature_at(at.x, at.y);
        std::vector<Vec> v(6);
        for (Vec& column : v) column = random.normal(c.dims.y);
        std::string wrong;
        for (const std::size_t count : {2, 6, 1, 3, 0, 5, 4}) {
          std::vector<Vec> out(count);
          H.apply({v.data(), count}, out);
          for (std::size_t k = 0; k < count; ++k)
            if (out[k] != H(v[k])) wrong += text(count, ":", k, " ");
        }
        CHECK(wrong == "");
        std::vector<Vec> out(3);
        v[2][c.dims.y / 2] = std::numeric_limits<double>::infinity();
        CHECK_THROWS_AS(H.apply({v.data(), 3}, out), NotFinite);
      }
}

TEST_CASE("entries of a sparse row that have the same column count together, in the diagonal too") {
  // Row 0 holds column 1 twice: 2 and 3. g = sum_i a_i^2 / 2, so the diagonal holds squares of columns of X.
  SparseRows X(2, 3);
  X.resizeNonZeros(4);
  const std::array<int, 3> starts{0, 3, 4};
  const std::array<int, 4> columns_of{1, 0, 1, 2};
  const std::array<double, 4> values{2, 7, 3, 4};
  std::copy(starts.begin(), starts.end(), X.outerIndexPtr());
  std::copy(columns_of.begin(), columns_of.end(), X.innerIndexPtr());
  std::copy(values.begin(), values.end(), X.valuePtr());
  const Objective g{
      sum_rows(0.5, {.y = product(X, 1)}, [](const auto& a, const auto&, const auto&) { return a[0] * a[0]; })};
  RowProblem problem({1, 3}, g, g);
  LinearOperator& H = problem.curvature_at(Vec::Zero(1), Vec::Zero(3));
  Vec diagonal;
  REQUIRE(H.diagonal(diagonal));
  CHECK(diagonal == Vec{{49, 25, 16}});
  CHECK(H(Vec::Unit(3, 1)) == Vec{{35, 25, 0}});
}

TEST_CASE("the diagonal of a lower level without curvature is zero, and no linear view is needed for one") {
  Random random(13);
  const auto linear = [](const auto& a, const auto& b, const auto&) { return a[0] * b[0]; };
  const auto of_x = [](const auto&, const auto& b, const auto&) { return b[0] * b[0]; };
  const Objective g{sum_rows(1, {.y = product(random_dense(5, 4, random), 1), .x = entries()}, linear),
                    sum_rows(1, {.x = entries()}, of_x)};
  RowProblem problem({5, 4}, g, g);
  Vec diagonal = Vec::Constant(9, 3.0);
  REQUIRE(problem.curvature_at(random.normal(5), random.normal(4)).diagonal(diagonal));
  CHECK(diagonal == Vec::Zero(4));
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
