#include "hypertape/autodiff/row_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "autodiff/row_problem_cases.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/oracle/counting_oracle.hpp"

using namespace hypertape;
using namespace hypertape::testing;

TEST_CASE(
    "row problems equal plain-taped problems for every pair of views, every remainder of rows, and several chunks") {
  for (const Index n : {1, 31, 32, 33, 64, 100, 517})
    for (const Kind of_y : views_of_y)
      for (const Kind of_x : views_of_x) {
        CAPTURE(n);
        CAPTURE(static_cast<int>(of_y));
        CAPTURE(static_cast<int>(of_x));
        Random random(static_cast<std::uint64_t>(n));
        const SizedView y = make_view(of_y, n, random), x = make_view(of_x, n, random);
        const Rows above{.y = y.view, .x = x.view, .data = data_of_rows(n, random)};
        const Rows below{.y = y.view, .x = x.view, .data = data_of_rows(n, random)};
        const std::vector<Part> f{{1.5, above, 1, n}}, g{{-0.75, below, 0, n}};
        const Dims dims{x.dim, y.dim};
        RowProblem rows = row_problem(dims, f, g);
        TapedProblem taped = taped_problem(dims, f, g);
        CHECK(rows.dims() == dims);
        CHECK(rows.has_second_order());
        const Sample at(dims, random);
        check_close(answers(rows, at), answers(taped, at));
        CHECK(rows.plain().f(at.x, at.y) == doctest::Approx(taped.f(at.x, at.y)).epsilon(1e-12));
        CHECK(rows.plain().g(at.x, at.y) == doctest::Approx(taped.g(at.x, at.y)).epsilon(1e-12));
      }
}

TEST_CASE("every instruction set gives the same answers, for few and for many components") {
  // Widths with and without a rest beside whole registers, and wider than what is held in registers at once.
  for (const Index width : {1, 4, 7, 10, 20, 33})
    for (const Kind of_y : {Kind::columns, Kind::dense, Kind::sparse}) {
      CAPTURE(width);
      CAPTURE(static_cast<int>(of_y));
      Random random(static_cast<std::uint64_t>(width));
      const Index n = 75, p = 9;
      const LinearView view = of_y == Kind::columns ? columns(width)
                              : of_y == Kind::dense ? product(random_dense(n, p, random), width)
                                                    : product(random_sparse(n, p, random), width);
      const Dims dims{n, (of_y == Kind::columns ? n : p) * width};
      const std::vector<Part> f{{1.5, {.y = view, .x = entries(), .data = data_of_rows(n, random)}, 1, n}},
          g{{-0.75, {.y = view, .x = entries(), .data = data_of_rows(n, random)}, 0, n}};
      TapedProblem taped = taped_problem(dims, f, g);
      const Sample at(dims, random);
      const auto expected = answers(taped, at);
      for (const InstructionSet set : instruction_sets()) {
        CAPTURE(to_string(set));
        RowProblem rows = row_problem(dims, f, g, {.threads = 1, .instructions = set});
        check_close(answers(rows, at), expected);
      }
    }
}

TEST_CASE("a linearisation that is refused leaves the one before, and its diagonal, as they were") {
  const TwoTerms two(70);
  RowProblem problem = row_problem(two.dims, two.f, two.g);
  Random random(17);
  const Sample at(two.dims, random), other(two.dims, random);
  LinearOperator& H = problem.curvature_at(at.x, at.y);
  Vec before, after, spoilt = other.y;
  REQUIRE(H.diagonal(before));
  spoilt[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(problem.curvature_at(other.x, spoilt), NotFinite);
  REQUIRE(H.diagonal(after));
  CHECK(after == before);
}

TEST_CASE("answers depend on the arguments only: going to another x and back changes nothing") {
  const TwoTerms two(70);
  RowProblem problem = row_problem(two.dims, two.f, two.g);
  Random random(7);
  const Sample a(two.dims, random), b(two.dims, random);
  const auto at_a = answers(problem, a), at_b = answers(problem, b);
  CHECK(differences(at_a, at_b) != "");
  CHECK(differences(answers(problem, a), at_a) == "");
  CHECK(differences(answers(problem, b), at_b) == "");
  // The inner loop: many y at one x, then the other x, then the first y again.
  const Vec first = problem.grad_y_g(a.x, a.y), other_y = problem.grad_y_g(a.x, b.y);
  CHECK(first != other_y);
  CHECK(problem.grad_y_g(a.x, a.y) == first);
  const Vec other_x = problem.grad_y_g(b.x, a.y);
  CHECK(other_x != first);
  CHECK(problem.grad_y_g(a.x, a.y) == first);
  Vec nearly = a.x;
  nearly[nearly.size() - 1] += 1e-3;  // one entry, the last
  CHECK(problem.grad_y_g(nearly, a.y) != first);
  CHECK(problem.grad_y_g(a.x, a.y) == first);
  RowProblem fresh = row_problem(two.dims, two.f, two.g);
  CHECK(fresh.grad_y_g(nearly, a.y) == problem.grad_y_g(nearly, a.y));
}

TEST_CASE("a vector that changes under the same address is noticed") {
  const TwoTerms two(40);
  RowProblem problem = row_problem(two.dims, two.f, two.g);
  Random random(8);
  Sample a(two.dims, random);
  const Vec first = problem.grad_y_g(a.x, a.y);
  a.x[3] += 0.5;
  RowProblem fresh = row_problem(two.dims, two.f, two.g);
  const Vec second = problem.grad_y_g(a.x, a.y);
  CHECK(second != first);
  CHECK(second == fresh.grad_y_g(a.x, a.y));
}

TEST_CASE("a curvature stays what it was while the problem goes on to other points") {
  for (const bool is_sparse : {false, true}) {
    const TwoTerms two(70, 7, is_sparse);
    RowProblem problem = row_problem(two.dims, two.f, two.g);
    Random random(9);
    const Sample a(two.dims, random), b(two.dims, random);
    const auto point = std::make_unique<Sample>(a);
    LinearOperator& H = problem.curvature_at(point->x, point->y);
    CHECK(H.dim() == two.dims.y);
    const Vec Hq = H(a.q), Hb = H(b.q);
    point->x.setConstant(99);  // linearised once: it does not look at the point again
    point->y.setConstant(99);
    problem.grad_y_g(b.x, b.y);
    CHECK(H(a.q) == Hq);
    problem.cross_product(b.x, b.y, b.q);
    problem.adjoint_cross_product(b.x, b.y, b.p);
    CHECK(H(a.q) == Hq);
    problem.grad_f(b.x, b.y);
    problem.hess_f(b.x, b.y, b.p, b.q);
    problem.hess_g(b.x, b.y, b.p, b.q);
    problem.grad_g(b.x, b.y);
    problem.f(b.x, b.y);
    problem.g(b.x, b.y);
    CHECK(H(a.q) == Hq);
    CHECK(H(b.q) == Hb);
    CHECK(problem.curvature_at(b.x, b.y)(a.q) != Hq);
    CHECK(problem.curvature_at(a.x, a.y)(a.q) == Hq);
    CHECK(relative(problem.curvature_at(a.x, a.y)(a.q + 2 * b.q), Hq + 2 * Hb) < 1e-12);
  }
}

TEST_CASE("outputs that held something else are overwritten, not added to") {
  const TwoTerms two(33);
  RowProblem problem = row_problem(two.dims, two.f, two.g);
  Random random(10);
  const Sample a(two.dims, random);
  Vec gx = Vec::Constant(two.dims.x, 1e9), gy = Vec::Constant(two.dims.y, 1e9), out = Vec::Constant(3, 1e9);
  problem.grad_f(a.x, a.y, gx, gy);
  CHECK(gx == problem.grad_f(a.x, a.y).x);
  CHECK(gy == problem.grad_f(a.x, a.y).y);
  problem.grad_y_g(a.x, a.y, gy);
  CHECK(gy == problem.grad_y_g(a.x, a.y));
  problem.cross_product(a.x, a.y, a.q, out);
  problem.cross_product(a.x, a.y, a.q, out);
  CHECK(out == problem.cross_product(a.x, a.y, a.q));
  problem.curvature_at(a.x, a.y).apply(a.q, gy);
  problem.curvature_at(a.x, a.y).apply(a.q, gy);
  CHECK(gy == problem.curvature_at(a.x, a.y)(a.q));
}

TEST_CASE("a closed form: weighted ridge regression by row terms") {
  // g = sum_i x_i (w'X_i - t_i)^2 / 2 + 2 |w|^2: gradient X'D(Xw - t) + 4 w, curvature X'D X + 4.
  Random random(11);
  const Index n = 45, p = 6;
  const RowMat X = random_dense(n, p, random);
  const Mat t = random.normal(n, 1);
  const auto fit = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) -> S {
    return b[0] * (a[0] - d[0]) * (a[0] - d[0]);
  };
  const auto plain_fit = []<class S>(const VecT<S>& a, const VecT<S>&, const VecT<S>& d) -> S {
    return (a[0] - d[0]) * (a[0] - d[0]);
  };
  const auto square = []<class S>(const VecT<S>& a, const VecT<S>&, const VecT<S>&) -> S { return a[0] * a[0]; };
  RowProblem problem(
      {n, p}, {sum_rows(0.5, {.y = product(X, 1), .data = t}, plain_fit)},
      {sum_rows(0.5, {.y = product(X, 1), .x = entries(), .data = t}, fit), sum_rows(2, {.y = entries()}, square)},
      {.threads = 1});
  const Vec x = random.normal(n), w = random.normal(p), q = random.normal(p), u = random.normal(n);
  const Vec residual = X * w - t;
  CHECK(problem.f(x, w) == doctest::Approx(0.5 * residual.squaredNorm()).epsilon(1e-13));
  CHECK(problem.g(x, w) == doctest::Approx(0.5 * x.dot(residual.cwiseAbs2()) + 2 * w.squaredNorm()).epsilon(1e-13));
  CHECK(relative(problem.grad_y_g(x, w), X.transpose() * x.cwiseProduct(residual) + 4 * w) < 1e-13);
  CHECK(relative(problem.curvature_at(x, w)(q), X.transpose() * x.cwiseProduct(X * q) + 4 * q) < 1e-13);
  CHECK(relative(problem.cross_product(x, w, q), residual.cwiseProduct(X * q)) < 1e-13);
  CHECK(relative(problem.adjoint_cross_product(x, w, u), X.transpose() * u.cwiseProduct(residual)) < 1e-13);
  CHECK(relative(problem.grad_g(x, w).x, 0.5 * residual.cwiseAbs2()) < 1e-13);
  CHECK(relative(problem.grad_f(x, w).y, X.transpose() * residual) < 1e-13);
  CHECK(problem.grad_f(x, w).x == Vec::Zero(n));
}

TEST_CASE("misuse is refused: sizes, numbers that are not finite, threads, terms that are missing or do not fit") {
  const TwoTerms two(8);
  RowProblem problem = row_problem(two.dims, two.f, two.g);
  Random random(12);
  const Sample a(two.dims, random);
  Vec bad_x = a.x, bad_y = a.y;
  bad_x[7] = std::nan("");
  bad_y[20] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(problem.f(bad_x, a.y), std::invalid_argument);
  CHECK_THROWS_AS(problem.grad_y_g(a.x, bad_y), std::invalid_argument);
  CHECK_THROWS_AS(problem.curvature_at(bad_x, a.y), std::invalid_argument);
  CHECK_THROWS_AS(problem.cross_product(a.x, a.y, bad_y), std::invalid_argument);
  CHECK_THROWS_AS(problem.hess_g(a.x, a.y, bad_x, a.q), std::invalid_argument);
  CHECK_THROWS_AS(problem.curvature_at(a.x, a.y)(bad_y), std::invalid_argument);
  CHECK_THROWS_WITH_AS(problem.f(a.x, a.x), "f: y has 8 entries, expected 21", std::invalid_argument);
  CHECK_THROWS_AS(problem.grad_f(a.y, a.y), std::invalid_argument);
  CHECK_THROWS_AS(problem.curvature_at(a.x, a.y)(a.x), std::invalid_argument);

  CHECK_THROWS_WITH_AS(row_problem(two.dims, two.f, two.g, {.threads = -1}),
                       "RowOptions: threads = -1, must not be negative", std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem(two.dims, {}, two.g), "f has no terms, expected at least one",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem(two.dims, two.f, {}), "g has no terms, expected at least one",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem({0, 21}, two.f, two.g), "dims.x = 0, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem({8, -1}, two.f, two.g), "dims.y = -1, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem({9, 21}, two.f, two.g), "term: the view of x has 9 rows, expected 8",
                       std::invalid_argument);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto f = two.f, g = two.g;
    f[0].weight = g[1].weight = bad;
    const std::string of_f = text("f: weight of term 0 = ", bad, ", must be finite"),
                      of_g = text("g: weight of term 1 = ", bad, ", must be finite");
    CHECK_THROWS_WITH_AS(row_problem(two.dims, f, two.g), of_f.c_str(), std::invalid_argument);
    CHECK_THROWS_WITH_AS(row_problem(two.dims, two.f, g), of_g.c_str(), std::invalid_argument);
  }
  const auto outside = []<class S>(const VecT<S>& a_i, const VecT<S>&, const VecT<S>& d) -> S { return a_i[0] * d[0]; };
  CHECK_THROWS_WITH_AS(RowProblem({1, 4}, {sum_rows(1, {.y = entries()}, outside)}, objective(two.g)),
                       "row function: reads d[0], but d has 0 entries", std::invalid_argument);
  CHECK(answers(problem, a).size() == 17);  // still in order
}

TEST_CASE("a problem can be moved, and its curvature with it") {
  const TwoTerms two(40), other(33);
  RowProblem first = row_problem(two.dims, two.f, two.g);
  Random random(13);
  const Sample a(two.dims, random);
  const auto expected = answers(first, a);
  LinearOperator& H = first.curvature_at(a.x, a.y);
  const Vec Hq = H(a.q);
  RowProblem second = std::move(first);
  CHECK(H(a.q) == Hq);
  CHECK(differences(answers(second, a), expected) == "");
  RowProblem third = row_problem(other.dims, other.f, other.g);
  third = std::move(second);
  CHECK(third.dims() == two.dims);
  CHECK(differences(answers(third, a), expected) == "");

  const char* const message = "this oracle was moved from: use the one that it was moved to";
  CHECK_THROWS_WITH_AS(first.dims(), message, std::logic_error);
  CHECK_THROWS_WITH_AS(first.plain(), message, std::logic_error);
  CHECK_THROWS_WITH_AS(first.bytes(), message, std::logic_error);
  CHECK_THROWS_WITH_AS(answers(second, a), message, std::logic_error);
  CHECK_THROWS_WITH_AS(CountingOracle(second).grad_y_g(a.x, a.y), message, std::logic_error);
  second = std::move(third);
  CHECK(differences(answers(second, a), expected) == "");
}

TEST_CASE("sparse rows with entries in any order, and several of one column, are their sums") {
  const auto square = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>&) -> S {
    return b[0] * a[0] * a[0];
  };
  for (const Index p : {Index{5}, Index{40000}}) {  // scattered, and by columns
    CAPTURE(p);
    SparseRows messy(2, p), tidy(2, p);
    const int last = static_cast<int>(p) - 1;
    const int starts[] = {0, 4, 6}, columns_of[] = {last, 0, 3, 0, 2, 1};
    const double values[] = {1, 2, 3, 4, -5, 6};
    messy.resizeNonZeros(6);
    std::copy_n(starts, 3, messy.outerIndexPtr());
    std::copy_n(columns_of, 6, messy.innerIndexPtr());
    std::copy_n(values, 6, messy.valuePtr());
    for (int i = 0; i < 2; ++i)
      for (int e = starts[i]; e < starts[i + 1]; ++e) tidy.coeffRef(i, columns_of[e]) += values[e];
    const auto problem = [&](const SparseRows& X) {
      const Objective terms{sum_rows(0.5, {.y = product(X, 1), .x = entries()}, square)};
      return RowProblem({2, p}, terms, terms);
    };
    RowProblem of_messy = problem(messy), of_tidy = problem(tidy);
    Random random(16);
    const Sample at({2, p}, random);
    check_close(answers(of_messy, at), answers(of_tidy, at));
    CHECK(of_messy.plain().f(at.x, at.y) == doctest::Approx(of_tidy.f(at.x, at.y)).epsilon(1e-13));
  }
}

TEST_CASE("the plain functions outlive their problem") {
  const TwoTerms two(10);
  auto problem = std::make_unique<RowProblem>(row_problem(two.dims, two.f, two.g));
  Random random(14);
  const Sample a(two.dims, random);
  const double f = problem->f(a.x, a.y), g = problem->g(a.x, a.y);
  const PlainFunctions plain = problem->plain();
  problem.reset();
  CHECK(plain.f(a.x, a.y) == doctest::Approx(f).epsilon(1e-13));
  CHECK(plain.g(a.x, a.y) == doctest::Approx(g).epsilon(1e-13));
  CHECK(f != doctest::Approx(g));
}

TEST_CASE("problems are made, used and destroyed in many threads at once") {
  const TwoTerms two(70), sparse(50, 9, true);
  Random random(15);
  const Sample a(two.dims, random), b(sparse.dims, random);
  RowProblem reference_a = row_problem(two.dims, two.f, two.g),
             reference_b = row_problem(sparse.dims, sparse.f, sparse.g);
  const auto expected_a = answers(reference_a, a), expected_b = answers(reference_b, b);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const bool is_a = t % 2 == 0;
      const TwoTerms& mine = is_a ? two : sparse;
      for (int round = 0; round < 2; ++round) {
        RowProblem problem = row_problem(mine.dims, mine.f, mine.g, {.threads = 1 + t % 3});
        for (int call = 0; call < 2; ++call)
          wrong += differences(answers(problem, is_a ? a : b), is_a ? expected_a : expected_b).empty() ? 0 : 1;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  // Made here, used there.
  std::thread([&] { wrong += differences(answers(reference_a, a), expected_a).empty() ? 0 : 1; }).join();
  CHECK(wrong == 0);
  CHECK(differences(answers(reference_b, b), expected_b) == "");
}
