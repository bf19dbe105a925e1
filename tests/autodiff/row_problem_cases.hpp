#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hypertape/autodiff/row_problem.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "support/relative.hpp"

// Sums of row functions on views of every kind, as row problems and taped whole, and what an oracle answers.

namespace hypertape::testing {

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

inline Objective objective(const std::vector<Part>& parts) {
  Objective terms;
  for (const Part& part : parts) terms.push_back(sum_rows(part.weight, part.rows, RowFunction{part.kind}));
  return terms;
}

inline RowProblem row_problem(Dims dims, const std::vector<Part>& f, const std::vector<Part>& g,
                              const RowOptions& options = {.threads = 1}) {
  return {dims, objective(f), objective(g), options};
}

inline TapedProblem taped_problem(Dims dims, const std::vector<Part>& f, const std::vector<Part>& g) {
  return make_bilevel(dims, Loop{f}, Loop{g});
}

inline RowMat random_dense(Index rows, Index columns, Random& random) {
  RowMat X(rows, columns);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = random.normal();
  return X;
}

/// About half full; some rows and the last column have no entries.
inline SparseRows random_sparse(Index rows, Index columns, Random& random) {
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
inline constexpr Kind views_of_y[] = {Kind::entries, Kind::columns, Kind::shared, Kind::dense, Kind::sparse};
inline constexpr Kind views_of_x[] = {Kind::none,   Kind::entries, Kind::columns,
                                      Kind::shared, Kind::dense,   Kind::sparse};

struct SizedView {
  LinearView view;
  Index dim;
};

/// A view for n rows, and the dimension of the variable that it is of.
inline SizedView make_view(Kind kind, Index n, Random& random) {
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

/// Entries of the diagonal of d2g/dy2, at most 50 of them, the last included: the operator's own, or by products with
/// unit vectors if it has none.
inline Vec some_of_diagonal(BilevelOracle& o, const Sample& at) {
  LinearOperator& H = o.curvature_at(at.x, at.y);
  const Index n = H.dim(), count = std::min<Index>(n, 50);
  Vec out(count), diagonal;
  const bool has_one = H.diagonal(diagonal);
  for (Index k = 0; k < count; ++k) {
    const Index i = n - 1 - k * n / count;
    out[k] = has_one ? diagonal[i] : H(Vec::Unit(n, i))[i];
  }
  return out;
}

inline std::vector<Answer> answers(BilevelOracle& o, const Sample& at) {
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
  all.push_back({"diagonal", some_of_diagonal(o, at)});
  all.push_back({"cross_product", o.cross_product(at.x, at.y, at.q)});
  all.push_back({"adjoint_cross_product", o.adjoint_cross_product(at.x, at.y, at.p)});
  const HessianProduct hf = o.hess_f(at.x, at.y, at.p, at.q), hg = o.hess_g(at.x, at.y, at.p, at.q);
  all.push_back({"hess_f in x", hf.x});
  all.push_back({"hess_f in y", hf.y});
  all.push_back({"hess_g in x", hg.x});
  all.push_back({"hess_g in y", hg.y});
  return all;
}

inline void check_close(const std::vector<Answer>& actual, const std::vector<Answer>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    CAPTURE(expected[k].name);
    CHECK(relative(actual[k].value, expected[k].value) <= 1e-12);
  }
}

/// Names of the answers that are not the same to the last bit.
inline std::string differences(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  std::string names;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k].value != b[k].value) names += a[k].name + "; ";
  return names;
}

inline Mat data_of_rows(Index n, Random& random) { return 0.5 * random.normal(n, 2); }

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

}  // namespace hypertape::testing
