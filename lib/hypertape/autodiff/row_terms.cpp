#include "hypertape/autodiff/row_terms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

void require_width(const char* view, Index width) {
  require(width > 0, view, ": width = ", width, ", must be positive");
}

/// Eigen believes what was written through its pointers; the kernels would read and write there.
void require_indices(const SparseRows& X) {
  const int* const starts = X.outerIndexPtr();
  const int* const counts = X.innerNonZeroPtr();  // null if compressed
  const Index stored = X.data().size();
  require(starts[0] == 0, "product: X: row 0 begins at entry ", starts[0], ", must begin at 0");
  for (Index i = 0; i < X.rows(); ++i) {
    const Index begin = starts[i], next = starts[i + 1], end = counts != nullptr ? begin + counts[i] : next;
    const bool beyond = end > stored && (counts == nullptr || begin < end);  // room may be promised, and not there yet
    require(begin <= end && end <= next && !beyond, "product: X: row ", i, " has the entries from ", begin, " to ", end,
            ", must satisfy from <= to <= ", std::min(next, stored));
    for (Index e = begin; e < end; ++e)
      require(0 <= X.innerIndexPtr()[e] && X.innerIndexPtr()[e] < X.cols(), "product: X: row ", i,
              " has an entry in column ", X.innerIndexPtr()[e], ", must satisfy 0 <= column < ", X.cols());
  }
}

/// Sums entries of a row that have the same column: images would be the same without, diagonals of Hessians are not.
void merge_entries(SparseRows& X) {
  X.makeCompressed();
  std::vector<int> place(static_cast<std::size_t>(X.cols()), -1);  // where the last entry of a column was put
  int* const starts = X.outerIndexPtr();
  int end = 0;
  for (Index i = 0, begin = starts[0]; i < X.rows(); ++i) {
    const int row = end;
    for (Index e = begin; e < starts[i + 1]; ++e) {
      const int column = X.innerIndexPtr()[e];
      int& at = place[static_cast<std::size_t>(column)];
      if (at >= row) {
        X.valuePtr()[at] += X.valuePtr()[e];
      } else {
        at = end++;
        X.innerIndexPtr()[at] = column;
        X.valuePtr()[at] = X.valuePtr()[e];
      }
    }
    begin = starts[i + 1];
    starts[i + 1] = end;
  }
  X.resizeNonZeros(end);
}

/// X, compressed, by columns. Eigen's own conversion would allocate aligned memory (core/types.hpp).
std::shared_ptr<const SparseColumns> by_columns(const SparseRows& X) {
  auto out = std::make_shared<SparseColumns>(X.rows(), X.cols());
  out->resizeNonZeros(X.nonZeros());
  int* const starts = out->outerIndexPtr();
  for (Index e = 0; e < X.nonZeros(); ++e) ++starts[X.innerIndexPtr()[e] + 1];
  std::partial_sum(starts, starts + X.cols() + 1, starts);
  std::vector<int> next(starts, starts + X.cols());
  for (int i = 0; i < X.outerSize(); ++i)
    for (SparseRows::InnerIterator e(X, i); e; ++e) {
      const int at = next[static_cast<std::size_t>(e.col())]++;
      out->innerIndexPtr()[at] = i;
      out->valuePtr()[at] = e.value();
    }
  return out;
}

}  // namespace

LinearView entries() {
  LinearView view;
  view.kind_ = LinearView::Kind::entries;
  view.width_ = 1;
  return view;
}

LinearView columns(Index width) {
  require_width("columns", width);
  LinearView view;
  view.kind_ = LinearView::Kind::columns;
  view.width_ = width;
  return view;
}

LinearView shared() {
  LinearView view;
  view.kind_ = LinearView::Kind::shared;
  return view;
}

LinearView product(RowMat X, Index width) {
  require_width("product", width);
  require(X.size() > 0, "product: X is ", X.rows(), " x ", X.cols(), ", must not be empty");
  require(X.allFinite(), "product: X has entries that are not finite");
  LinearView view;
  view.kind_ = LinearView::Kind::dense;
  view.width_ = width;
  view.dense_ = std::make_shared<const RowMat>(std::move(X));
  return view;
}

LinearView product(const SparseRows& X, Index width) {
  require_width("product", width);
  require(X.rows() > 0 && X.cols() > 0, "product: X is ", X.rows(), " x ", X.cols(), ", must not be empty");
  require_indices(X);  // before it is copied
  const auto kept = std::make_shared<SparseRows>(X);
  merge_entries(*kept);
  for (Index e = 0; e < kept->nonZeros(); ++e)
    require(std::isfinite(kept->valuePtr()[e]), "product: X has entries that are not finite");
  LinearView view;
  view.kind_ = LinearView::Kind::sparse;
  view.width_ = width;
  if (!scatters(*kept, width)) view.sparse_columns_ = by_columns(*kept);
  view.sparse_ = kept;
  return view;
}

Index LinearView::rows(Index dim) const {
  switch (kind_) {
    case Kind::entries:
    case Kind::columns:
      return dim / width_;
    case Kind::dense:
      return dense_->rows();
    case Kind::sparse:
      return sparse_->rows();
    default:
      return -1;
  }
}

void LinearView::require_fits(const char* variable, Index dim, Index count) const {
  if (is_product()) {
    const Index p = kind_ == Kind::dense ? dense_->cols() : sparse_->cols();
    require(dim == p * width_, "term: product view of ", variable, " needs dim = columns of X * width = ", p, " * ",
            width_, ", but dim of ", variable, " = ", dim);
  }
  if (kind_ == Kind::columns)
    require(dim % width_ == 0, "term: columns(", width_, ") of ", variable, ", whose dim = ", dim,
            " is not a multiple of it");
  require(rows(dim) < 0 || rows(dim) == count, "term: the view of ", variable, " has ", rows(dim), " rows, expected ",
          count);
}

void LinearView::row(const Vec& v, Index i, VecT<double>& out) const {
  if (kind_ == Kind::shared)
    for (Index j = 0; j < out.size(); ++j) out[j] = v[j];
  else if (is_local())
    for (Index j = 0; j < out.size(); ++j) out[j] = v[i * width_ + j];
  else if (is_product())
    for (Index j = 0; j < out.size(); ++j) {
      out[j] = 0;
      if (kind_ == Kind::dense)
        for (Index k = 0; k < dense_->cols(); ++k) out[j] += (*dense_)(i, k) * v[k * width_ + j];
      else
        for (SparseRows::InnerIterator e(*sparse_, i); e; ++e) out[j] += e.value() * v[e.col() * width_ + j];
    }
}

Index Term::count(Dims dims) const {
  Index n = rows.data.size() > 0 ? rows.data.rows() : -1;
  if (n < 0) n = rows.y.rows(dims.y);
  if (n < 0) n = rows.x.rows(dims.x);
  require(n > 0, "term: the number of rows is not known: give data, or a view other than shared");
  rows.y.require_fits("y", dims.y, n);
  rows.x.require_fits("x", dims.x, n);
  require(rows.data.allFinite(), "term: data has entries that are not finite");
  return n;
}

double Term::value(const Vec& x, const Vec& y) const {
  VecT<double> a("a", rows.y.width(y.size())), b("b", rows.x.width(x.size())), d("d", rows.data.cols());
  const Index n = count({x.size(), y.size()});
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    rows.y.row(y, i, a);
    rows.x.row(x, i, b);
    for (Index j = 0; j < d.size(); ++j) d[j] = rows.data(i, j);
    sum += plain(a, b, d);
  }
  return weight * sum;
}

}  // namespace hypertape
