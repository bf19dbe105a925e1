#include "hypertape/autodiff/row_terms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hypertape;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RowMat dense_matrix() { return RowMat{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}, {-1, 0, 0.5}}; }

SparseRows sparse_matrix() {
  SparseRows X = dense_matrix().sparseView();
  X.makeCompressed();
  return X;
}

Vec seen(const LinearView& view, const Vec& v, Index i) {
  VecT<double> out("a", view.width(v.size()));
  view.row(v, i, out);
  return out;
}

const auto square_error = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) -> S {
  return b[0] * (a[0] - d[0]) * (a[0] - d[0]);
};
const auto first_entry = []<class S>(const VecT<S>& a, const VecT<S>&, const VecT<S>&) -> S { return a[0] * a[0]; };

Term term_of(Rows rows) { return sum_rows(1, std::move(rows), first_entry); }

}  // namespace

TEST_CASE("views know their width, their rows and what kind they are") {
  struct Expected {
    LinearView view;
    LinearView::Kind kind;
    Index width, rows;  // for a variable of 12 entries
    bool local, product;
  };
  using Kind = LinearView::Kind;
  const Expected all[] = {
      {LinearView(), Kind::none, 0, -1, false, false},
      {entries(), Kind::entries, 1, 12, true, false},
      {columns(3), Kind::columns, 3, 4, true, false},
      {shared(), Kind::shared, 12, -1, false, false},
      {product(dense_matrix(), 4), Kind::dense, 4, 4, false, true},
      {product(sparse_matrix(), 2), Kind::sparse, 2, 4, false, true},
  };
  for (const Expected& e : all) {
    CAPTURE(static_cast<int>(e.kind));
    CHECK(e.view.kind() == e.kind);
    CHECK(e.view.width(12) == e.width);
    CHECK(e.view.rows(12) == e.rows);
    CHECK(e.view.is_local() == e.local);
    CHECK(e.view.is_product() == e.product);
  }
}

TEST_CASE("a row sees its entry, its column, everything, or its row of the product") {
  const Vec v{{1, 2, 3, 4, 5, 6}};
  CHECK(seen(entries(), v, 4) == Vec{{5}});
  CHECK(seen(columns(2), v, 1) == Vec{{3, 4}});
  CHECK(seen(columns(3), v, 1) == Vec{{4, 5, 6}});
  CHECK(seen(shared(), v, 17) == v);
  CHECK(seen(LinearView(), v, 0).size() == 0);
  // W = [1 3 5; 2 4 6], stored by columns.
  const LinearView dense = product(dense_matrix(), 2), sparse = product(sparse_matrix(), 2);
  CHECK(seen(dense, v, 0) == Vec{{1 + 6 + 15, 2 + 8 + 18}});
  CHECK(seen(dense, v, 2) == Vec{{7 + 24 + 50, 14 + 32 + 60}});
  for (Index i = 0; i < 4; ++i) CHECK(seen(sparse, v, i) == seen(dense, v, i));
}

TEST_CASE("matrices are kept as they were given, wide sparse ones by rows and by columns") {
  CHECK(product(dense_matrix(), 2).dense() == dense_matrix());
  SparseRows loose(4, 3);
  loose.reserve(Eigen::VectorXi::Constant(4, 3));
  loose.insert(0, 2) = 5;
  loose.insert(3, 1) = -1;
  REQUIRE_FALSE(loose.isCompressed());
  const LinearView view = product(loose, 1);
  CHECK(view.sparse().isCompressed());
  CHECK(Mat(view.sparse()) == Mat(loose));
  SparseRows wide(2, 40000);
  wide.insert(1, 39999) = 7;
  const LinearView by_columns = product(wide, 1);
  CHECK(by_columns.sparse_columns().isCompressed());
  CHECK(by_columns.sparse_columns().coeff(1, 39999) == 7);
  CHECK(by_columns.sparse_columns().nonZeros() == 1);
  std::vector<Eigen::Triplet<double>> triplets;
  for (int e = 0; e < 200; ++e) triplets.emplace_back(e * 37 % 50, e * 7919 % 40000, e + 1);
  for (int i = 0; i < 50; i += 3) triplets.emplace_back(i, 11, -i);  // a column of many entries, beside empty ones
  SparseRows scattered(50, 40000);
  scattered.setFromTriplets(triplets.begin(), triplets.end());
  const SparseColumns expected = scattered, kept = product(scattered, 1).sparse_columns();
  CHECK(kept.nonZeros() == 217);
  CHECK(std::equal(kept.outerIndexPtr(), kept.outerIndexPtr() + 40001, expected.outerIndexPtr()));
  CHECK(std::equal(kept.innerIndexPtr(), kept.innerIndexPtr() + 217, expected.innerIndexPtr()));
  CHECK(std::equal(kept.valuePtr(), kept.valuePtr() + 217, expected.valuePtr()));
  CHECK(seen(view, Vec{{1, 2, 3}}, 0) == Vec{{15}});
  CHECK(seen(view, Vec{{1, 2, 3}}, 1) == Vec{{0}});
  CHECK(seen(view, Vec{{1, 2, 3}}, 3) == Vec{{-2}});
  const LinearView empty = product(SparseRows(2, 3), 1);
  CHECK(seen(empty, Vec{{1, 2, 3}}, 1) == Vec{{0}});
}

TEST_CASE("the value of a term is the weighted sum over its rows, written out") {
  const Mat targets{{1}, {0}, {-1}};
  const Term term = sum_rows(0.5, {.y = entries(), .x = shared(), .data = targets}, square_error);
  CHECK(term.count({1, 3}) == 3);
  // 0.5 * 2 * ((3 - 1)^2 + (1 - 0)^2 + (2 + 1)^2)
  CHECK(term.value(Vec{{2}}, Vec{{3, 1, 2}}) == 14);

  const auto phi = []<class S>(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) -> S {
    return d[1] * a[0] * b[0] + d[0] * a[1] * b[1];
  };
  const Mat data{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const Term pairs = sum_rows(-2, {.y = product(dense_matrix(), 2), .x = columns(2), .data = data}, phi);
  const Vec x{{1, -1, 2, 0, 0, 3, 1, 1}}, y{{1, 0, 0, 1, 2, 0}};
  // Images X W' with W = [1 0 2; 0 1 0]: (7, 2), (16, 5), (27, 8), (0, 0).
  const double expected = (2 * 7 * 1 + 1 * 2 * -1) + (4 * 16 * 2 + 0) + (0 + 5 * 8 * 3) + 0;
  CHECK(pairs.value(x, y) == -2 * expected);
  const Term sparse = sum_rows(-2, {.y = product(sparse_matrix(), 2), .x = columns(2), .data = data}, phi);
  CHECK(sparse.value(x, y) == -2 * expected);
}

TEST_CASE("the number of rows comes from data, or else from a view of y, or else of x") {
  const Mat five = Mat::Ones(5, 1);
  CHECK(term_of({.y = shared(), .data = five}).count({2, 3}) == 5);
  CHECK(term_of({.y = entries()}).count({2, 3}) == 3);
  CHECK(term_of({.y = columns(2)}).count({2, 8}) == 4);
  CHECK(term_of({.y = product(dense_matrix(), 2)}).count({2, 6}) == 4);
  CHECK(term_of({.y = shared(), .x = entries()}).count({7, 3}) == 7);
  CHECK(term_of({.y = shared(), .x = product(sparse_matrix(), 1)}).count({3, 9}) == 4);
  CHECK(term_of({.x = columns(2)}).count({4, 1}) == 2);
}

TEST_CASE("parts that disagree are refused, and the message says which and by how much") {
  const auto count = [](Rows rows, Dims dims) { return term_of(std::move(rows)).count(dims); };
  CHECK_THROWS_WITH_AS(count({.y = product(dense_matrix(), 2)}, {1, 7}),
                       "term: product view of y needs dim = columns of X * width = 3 * 2, but dim of y = 7",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = entries(), .x = product(sparse_matrix(), 5)}, {3, 4}),
                       "term: product view of x needs dim = columns of X * width = 3 * 5, but dim of x = 3",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = columns(3)}, {1, 7}), "term: columns(3) of y, whose dim = 7 is not a multiple of it",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = entries(), .x = columns(2)}, {5, 2}),
                       "term: columns(2) of x, whose dim = 5 is not a multiple of it", std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = entries(), .data = Mat::Zero(4, 1)}, {1, 3}),
                       "term: the view of y has 3 rows, expected 4", std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = shared(), .x = entries(), .data = Mat::Zero(4, 1)}, {6, 3}),
                       "term: the view of x has 6 rows, expected 4", std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = product(dense_matrix(), 1), .x = entries()}, {5, 3}),
                       "term: the view of x has 5 rows, expected 4", std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = shared()}, {1, 3}),
                       "term: the number of rows is not known: give data, or a view other than shared",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(count({.y = shared(), .x = shared()}, {1, 3}),
                       "term: the number of rows is not known: give data, or a view other than shared",
                       std::invalid_argument);
  CHECK_THROWS_AS(count({.y = columns(4)}, {1, 3}), std::invalid_argument);  // not one whole column
  CHECK_THROWS_WITH_AS(term_of({.y = entries(), .data = Mat::Zero(4, 1)}).value(Vec{{1}}, Vec{{1, 2, 3}}),
                       "term: the view of y has 3 rows, expected 4", std::invalid_argument);
}

TEST_CASE("numbers that are not finite are refused, in X and in data") {
  for (const double bad : {infinity, -infinity, std::nan("")}) {
    RowMat X = dense_matrix();
    X(3, 2) = bad;
    CHECK_THROWS_WITH_AS(product(X, 1), "product: X has entries that are not finite", std::invalid_argument);
    SparseRows S = sparse_matrix();
    S.coeffRef(3, 2) = bad;
    CHECK_THROWS_WITH_AS(product(S, 1), "product: X has entries that are not finite", std::invalid_argument);
    Mat data = Mat::Zero(3, 2);
    data(2, 1) = bad;
    CHECK_THROWS_WITH_AS(term_of({.y = entries(), .data = data}).count({1, 3}),
                         "term: data has entries that are not finite", std::invalid_argument);
  }
}

TEST_CASE("views of nothing are refused") {
  CHECK_THROWS_WITH_AS(product(RowMat(0, 3), 1), "product: X is 0 x 3, must not be empty", std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(RowMat(3, 0), 1), "product: X is 3 x 0, must not be empty", std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(SparseRows(0, 3), 1), "product: X is 0 x 3, must not be empty", std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(SparseRows(3, 0), 1), "product: X is 3 x 0, must not be empty", std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(dense_matrix(), 0), "product: width = 0, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(sparse_matrix(), -1), "product: width = -1, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(columns(0), "columns: width = 0, must be positive", std::invalid_argument);
}

TEST_CASE("sparse indices that were written through pointers are believed by Eigen, and refused here") {
  const auto with = [](auto change) {
    SparseRows X = sparse_matrix();  // 12 - 1 entries: (3, 1) is zero
    change(X);
    return X;
  };
  for (const int column : {3, 1000000, -1}) {
    const std::string message =
        "product: X: row 2 has an entry in column " + std::to_string(column) + ", must satisfy 0 <= column < 3";
    CHECK_THROWS_WITH_AS(product(with([&](SparseRows& X) { X.innerIndexPtr()[8] = column; }), 1), message.c_str(),
                         std::invalid_argument);
  }
  CHECK_THROWS_WITH_AS(product(with([](SparseRows& X) { X.outerIndexPtr()[0] = 1; }), 1),
                       "product: X: row 0 begins at entry 1, must begin at 0", std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(with([](SparseRows& X) { X.outerIndexPtr()[2] = 2; }), 1),
                       "product: X: row 1 has the entries from 3 to 2, must satisfy from <= to <= 2",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(product(with([](SparseRows& X) { X.outerIndexPtr()[4] = 12; }), 1),
                       "product: X: row 3 has the entries from 9 to 12, must satisfy from <= to <= 11",
                       std::invalid_argument);
  // Not compressed: rows have room for more entries than they have.
  SparseRows loose(4, 3);
  loose.reserve(Eigen::VectorXi::Constant(4, 2));
  loose.insert(1, 2) = 5;
  CHECK_NOTHROW(product(loose, 1));
  loose.innerNonZeroPtr()[1] = 3;
  CHECK_THROWS_WITH_AS(product(loose, 1), "product: X: row 1 has the entries from 2 to 5, must satisfy from <= to <= 4",
                       std::invalid_argument);
  loose.innerNonZeroPtr()[1] = -1;
  CHECK_THROWS_WITH_AS(product(loose, 1), "product: X: row 1 has the entries from 2 to 1, must satisfy from <= to <= 4",
                       std::invalid_argument);
}

TEST_CASE("a view that was moved from is still a view") {
  LinearView view = product(sparse_matrix(), 2);
  const LinearView moved = std::move(view);
  CHECK(view.rows(6) == 4);
  CHECK(&view.sparse() == &moved.sparse());
}
