#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hypertape/autodiff/row_kernel.hpp"
#include "hypertape/autodiff/safe_math.hpp"
#include "hypertape/autodiff/skinny_product.hpp"

namespace hypertape {

/// How a row sees a variable (y, or x): row i sees a small vector that is linear in it. A matrix variable W of `width`
/// rows is stored by columns, as Eigen does: W(j, k) stands at k * width + j.
class LinearView {
 public:
  enum class Kind {
    none,     ///< nothing
    entries,  ///< entry i
    columns,  ///< column i of W
    shared,   ///< the whole variable, the same for every row
    dense,    ///< row i of X W', X dense
    sparse,   ///< row i of X W', X sparse
  };

  LinearView() = default;
  LinearView(const LinearView&) = default;  // moving copies: what was moved from is still a view
  LinearView& operator=(const LinearView&) = default;

  Kind kind() const { return kind_; }

  /// Components that a row sees; of a shared view, known from the dimension of the variable only.
  Index width(Index dim) const { return kind_ == Kind::shared ? dim : width_; }

  /// Rows that the view has for a variable of that dimension; -1: any number.
  Index rows(Index dim) const;

  /// Whether each row has entries of the variable for itself.
  bool is_local() const { return kind_ == Kind::entries || kind_ == Kind::columns; }
  bool is_product() const { return kind_ == Kind::dense || kind_ == Kind::sparse; }

  /// Throws std::invalid_argument unless a variable of that dimension can be seen this way by so many rows.
  void require_fits(const char* variable, Index dim, Index rows) const;

  /// What row i sees of v. Plain and slow, for checks.
  void row(const Vec& v, Index i, VecT<double>& out) const;

  const RowMat& dense() const { return *dense_; }
  const SparseRows& sparse() const { return *sparse_; }
  const SparseColumns& sparse_columns() const { return *sparse_columns_; }  ///< for products that do not scatter

  friend LinearView entries();
  friend LinearView columns(Index width);
  friend LinearView shared();
  friend LinearView product(RowMat X, Index width);
  friend LinearView product(const SparseRows& X, Index width);

 private:
  Kind kind_ = Kind::none;
  Index width_ = 0;
  std::shared_ptr<const RowMat> dense_;
  std::shared_ptr<const SparseRows> sparse_;
  std::shared_ptr<const SparseColumns> sparse_columns_;
};

LinearView entries();
LinearView columns(Index width);
LinearView shared();
LinearView product(RowMat X, Index width);

/// Entries of a row may be in any order; those of the same column are summed. Column indices outside X are refused.
LinearView product(const SparseRows& X, Index width);

/// What the rows of a term see.
struct Rows {
  LinearView y{};  ///< a_i
  LinearView x{};  ///< b_i
  Mat data{};      ///< d_i: row i holds the constants of row i (labels, targets, weights); may be empty
};

/// weight * sum_i phi(a_i, b_i; d_i).
struct Term {
  double weight = 1;
  Rows rows;
  RowKernel::Recorded taped;
  std::function<double(const VecT<double>& a, const VecT<double>& b, const VecT<double>& d)> plain;

  /// How many rows it has in a problem of these dimensions; throws std::invalid_argument where its parts disagree.
  Index count(Dims dims) const;

  /// The term itself, untaped.
  double value(const Vec& x, const Vec& y) const;
};

/// A sum of terms: an upper or a lower level.
using Objective = std::vector<Term>;

/// A term from a plain function of one row, `S phi(const VecT<S>& a, const VecT<S>& b, const VecT<S>& d)` for every
/// scalar S, such as a generic lambda. Branches on values go through select, max, min; constants are made as S(0.0).
template <class Phi>
Term sum_rows(double weight, Rows rows, Phi phi) {
  return {weight, std::move(rows),
          [phi](const auto& a, const auto& b, const auto& d) -> RowKernel::Scalar { return phi(a, b, d); },
          [phi](const auto& a, const auto& b, const auto& d) -> double { return phi(a, b, d); }};
}

}  // namespace hypertape
