#include "hypertape/autodiff/row_problem.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "hypertape/autodiff/taped_problem.hpp"
#include "hypertape/core/random.hpp"
#include "support/relative.hpp"

using namespace hypertape;
using testing::relative;

namespace {

/// A row function for views of any width, in two kinds. Every component of a, b and d has its own coefficient, so that
/// none can stand for another.
struct RowFunction {
  int kind = 0;

  template <class S>
  S operator()(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d) const {
    using std::exp;
    S s(0.0), t(0.0), u(0.0);
    for (Index j = 0; j < a.size(); ++j) s += (1.0 + 0.25 * static_cast<double>(j)) * a[j];
    for (Index j = 0; j < a.size(); ++j) t += (0.5 - 0.125 * static_cast<double>(j)) * a[j] * a[j];
    for (Index k = 0; k < b.size(); ++k) u += (0.75 - 0.5 * static_cast<double>(k)) * b[k];
    if (kind == 0) return sigmoid(u) * (s - d[0]) * (s - d[0]) + d[1] * t * exp(0.25 * u) + 0.125 * u * u * s;
    return log1p_exp(s * d[1] - u) + 0.5 * hypertape::max(t, d[0]) * t + u * d[0];
  }
};

/// One term, in a form that a plain tape can loop over.
struct Part {
  double weight;
  Rows rows;
  int kind;
  Index count;
};

template <class S>
VecT<S> seen(const LinearView& view, const VecT<S>& v, Index i, const char* name) {
  VecT<S> out(name, view.width(v.size()));
  const Index w = out.size();
  for (Index j = 0; j < w; ++j) {
    if (view.kind() == LinearView::Kind::shared) out[j] = v[j];
    if (view.is_local()) out[j] = v[i * w + j];
    if (!view.is_product()) continue;
    out[j] = S(0.0);
    if (view.kind() == LinearView::Kind::dense)
      for (Index k = 0; k < view.dense().cols(); ++k) out[j] += view.dense()(i, k) * v[k * w + j];
    else
      for (SparseRows::InnerIterator e(view.sparse(), i); e; ++e) out[j] += e.value() * v[e.col() * w + j];
  }
  return out;
}

/// The sum over all rows, as one would write it without row terms.
struct Loop {
  std::vector<Part> parts;

  template <class S>
  S operator()(const VecT<S>& x, const VecT<S>& y) const {
    S sum(0.0);
    for (const Part& part : parts)
      for (Index i = 0; i < part.count; ++i) {
        VecT<S> d("d", part.rows.data.cols());
        for (Index j = 0; j < d.size(); ++j) d[j] = part.rows.data(i, j);
        const VecT<S> a = seen(part.rows.y, y, i, "a"), b = seen(part.rows.x, x, i, "b");
        sum += part.weight * RowFunction{part.kind}(a, b, d);
      }
    return sum;
  }
};

Objective objective(const std::vector<Part>& parts) {
  Objective terms;
  for (const Part& part : parts) terms.push_back(sum_rows(part.weight, part.rows, RowFunction{part.kind}));
  return terms;
}

RowProblem row_problem(Dims dims, const std::vector<Part>& f, const std::vector<Part>& g, int threads = 1) {
  return {dims, objective(f), objective(g), {.threads = threads}};
}

TapedProblem taped_problem(Dims dims, const std::vector<Part>& f, const std::vector<Part>& g) {
  return make_bilevel(dims, Loop{f}, Loop{g});
}

RowMat random_dense(Index rows, Index columns, Random& random) {
  RowMat X(rows, columns);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = random.normal();
  return X;
}

/// About half full; some rows and the last column have no entries.
SparseRows random_sparse(Index rows, Index columns, Random& random) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < columns; ++k)
      if (random.below(2) == 0 && i % 5 != 3 && k != columns - 1)
        entries.emplace_back(static_cast<int>(i), static_cast<int>(k), random.normal());
  SparseRows X(rows, columns);
  X.setFromTriplets(entries.begin(), entries.end());
  return X;
}

using Kind = LinearView::Kind;
constexpr Kind views_of_y[] = {Kind::entries, Kind::columns, Kind::shared, Kind::dense, Kind::sparse};
constexpr Kind views_of_x[] = {Kind::none, Kind::entries, Kind::columns, Kind::shared, Kind::dense, Kind::sparse};

struct SizedView {
  LinearView view;
  Index dim;
};

/// A view for n rows, and the dimension of the variable that it is of.
SizedView make_view(Kind kind, Index n, Random& random) {
  switch (kind) {
    case Kind::entries:
      return {entries(), n};
    case Kind::columns:
      return {columns(3), 3 * n};
    case Kind::shared:
      return {shared(), 4};
    case Kind::dense:
      return {product(random_dense(n, 5, random), 3), 15};
    case Kind::sparse:
      return {product(random_sparse(n, 6, random), 2), 12};
    default:
      return {LinearView(), 2};
  }
}

/// All that an oracle answers, each under its name.
struct Answer {
  std::string name;
  Vec value;
};

struct Sample {
  Vec x, y, p, q;
  Sample(Dims dims, Random& random)
      : x(0.6 * random.normal(dims.x)),
        y(0.6 * random.normal(dims.y)),
        p(random.normal(dims.x)),
        q(random.normal(dims.y)) {}
};

std::vector<Answer> answers(BilevelOracle& o, const Sample& at) {
  std::vector<Answer> all;
  all.push_back({"f", Vec{{o.f(at.x, at.y)}}});
  all.push_back({"g", Vec{{o.g(at.x, at.y)}}});
  const Gradient f = o.grad_f(at.x, at.y), g = o.grad_g(at.x, at.y);
  all.push_back({"value with grad_f", Vec{{f.value}}});
  all.push_back({"grad_x f", f.x});
  all.push_back({"grad_y f", f.y});
  all.push_back({"value with grad_g", Vec{{g.value}}});
  all.push_back({"grad_x g", g.x});
  all.push_back({"grad_y g with grad_x g", g.y});
  all.push_back({"grad_y_g", o.grad_y_g(at.x, at.y)});
  all.push_back({"curvature", o.curvature_at(at.x, at.y)(at.q)});
  all.push_back({"cross_product", o.cross_product(at.x, at.y, at.q)});
  all.push_back({"adjoint_cross_product", o.adjoint_cross_product(at.x, at.y, at.p)});
  const HessianProduct hf = o.hess_f(at.x, at.y, at.p, at.q), hg = o.hess_g(at.x, at.y, at.p, at.q);
  all.push_back({"hess_f in x", hf.x});
  all.push_back({"hess_f in y", hf.y});
  all.push_back({"hess_g in x", hg.x});
  all.push_back({"hess_g in y", hg.y});
  return all;
}

void check_close(const std::vector<Answer>& actual, const std::vector<Answer>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    CAPTURE(expected[k].name);
    CHECK(relative(actual[k].value, expected[k].value) <= 1e-12);
  }
}

/// Names of the answers that are not the same to the last bit.
std::string differences(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  std::string names;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k].value != b[k].value) names += a[k].name + "; ";
  return names;
}

Mat data_of_rows(Index n, Random& random) { return 0.5 * random.normal(n, 2); }

/// Two terms below, on a product and on columns of the same y, and one above.
struct TwoTerms {
  Dims dims;
  std::vector<Part> f, g;

  explicit TwoTerms(Index n, Index p = 7, bool is_sparse = false) : dims{n, 3 * p} {
    Random random(static_cast<std::uint64_t>(n));
    const LinearView of_y =
        is_sparse ? product(random_sparse(n, p, random), 3) : product(random_dense(n, p, random), 3);
    g.push_back({0.75, {.y = of_y, .x = entries(), .data = data_of_rows(n, random)}, 0, n});
    g.push_back({-0.5, {.y = columns(3), .x = shared(), .data = data_of_rows(p, random)}, 1, p});
    if (dims.x > 20) g[1].rows.x = LinearView();  // all of a long x for every row is much to tape
    f.push_back({1.25, {.y = of_y, .x = entries(), .data = data_of_rows(n, random)}, 1, n});
    f.push_back({2.0, {.y = shared(), .data = data_of_rows(3, random)}, 0, 3});
  }
};

}  // namespace

TEST_CASE("row problems equal plain-taped problems for every pair of views and every remainder of rows") {
  for (const Index n : {1, 31, 32, 33, 64})
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

TEST_CASE("row problems equal plain-taped problems on more rows than a chunk has packs") {
  for (const Index n : {100, 517})
    for (const Kind of_y : views_of_y)
      for (const Kind of_x : views_of_x) {
        CAPTURE(n);
        CAPTURE(static_cast<int>(of_y));
        CAPTURE(static_cast<int>(of_x));
        Random random(static_cast<std::uint64_t>(n));
        const SizedView y = make_view(of_y, n, random), x = make_view(of_x, n, random);
        const Rows above{.y = y.view, .x = x.view, .data = data_of_rows(n, random)};
        const std::vector<Part> f{{0.5, above, 1, n}}, g{{2.5, above, 0, n}};
        const Dims dims{x.dim, y.dim};
        RowProblem rows = row_problem(dims, f, g);
        TapedProblem taped = taped_problem(dims, f, g);
        const Sample at(dims, random);
        check_close(answers(rows, at), answers(taped, at));
      }
}

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
  RowProblem rows = row_problem(dims, f, g, 2);
  TapedProblem taped = taped_problem(dims, f, g);
  const Sample at(dims, random);
  const auto expected = answers(taped, at);
  check_close(answers(rows, at), expected);
  RowProblem one_thread = row_problem(dims, f, g, 1);
  CHECK(differences(answers(rows, at), answers(one_thread, at)) == "");
}

TEST_CASE("results are the same to the last bit for every number of threads, more than chunks included") {
  // One row, a few, and enough of them that the work is shared.
  std::vector<TwoTerms> problems;
  for (const bool is_sparse : {false, true})
    for (const Index n : {1, 33, 517, 1601}) problems.emplace_back(n, n > 1000 ? 150 : 40, is_sparse);
  for (const TwoTerms& two : problems) {
    RowProblem one = row_problem(two.dims, two.f, two.g, 1);
    Random random(6);
    const Sample at(two.dims, random);
    const auto expected = answers(one, at);
    const std::vector<int> few{3, 20}, all{2, 3, 7, 20, 0};
    for (const int threads : two.dims.x < 500 ? few : all) {
      CAPTURE(two.dims.x);
      CAPTURE(threads);
      RowProblem many = row_problem(two.dims, two.f, two.g, threads);
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

  CHECK_THROWS_WITH_AS(row_problem(two.dims, two.f, two.g, -1), "RowOptions: threads = -1, must not be negative",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem(two.dims, {}, two.g), "f has no terms, expected at least one",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem(two.dims, two.f, {}), "g has no terms, expected at least one",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem({0, 21}, two.f, two.g), "dims.x = 0, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem({8, -1}, two.f, two.g), "dims.y = -1, must be positive", std::invalid_argument);
  CHECK_THROWS_WITH_AS(row_problem({9, 21}, two.f, two.g), "term: the view of x has 9 rows, expected 8",
                       std::invalid_argument);
  const auto outside = []<class S>(const VecT<S>& a_i, const VecT<S>&, const VecT<S>& d) -> S { return a_i[0] * d[0]; };
  CHECK_THROWS_WITH_AS(RowProblem({1, 4}, {sum_rows(1, {.y = entries()}, outside)}, objective(two.g)),
                       "row function: reads d[0], but d has 0 entries", std::invalid_argument);
  CHECK(answers(problem, a).size() == 16);  // still in order
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
        RowProblem problem = row_problem(mine.dims, mine.f, mine.g, 1 + t % 3);
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
