#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "hypertape/autodiff/row_terms.hpp"
#include "hypertape/core/parallel.hpp"

namespace hypertape {

/// Rows, and entries of y, are cut into this many chunks whatever the number of threads, and sums are made by chunk:
/// that is what makes results the same for every number of threads.
inline constexpr Index row_chunks = max_threads;

/// One variable as the rows of a term see it: images of it, and the adjoint of the map. Of several vectors at a time,
/// if X is not sparse, images (and results) stand one behind the other, `width` packs each.
class RowSide {
 public:
  RowSide(const Kernels& kernels, const LinearView& view, Index dim, Index rows)
      : kernels_(kernels),
        view_(view),
        dim_(dim),
        width_(view.width(dim)),
        rows_(rows),
        scatters_(view.kind() == LinearView::Kind::sparse && hypertape::scatters(view.sparse(), width_)) {}

  const LinearView& view() const { return view_; }
  Index width() const { return width_; }

  /// Multiplications for seeing all rows once, about.
  Index work() const {
    if (view_.kind() == LinearView::Kind::dense) return view_.dense().size() * width_;
    if (view_.kind() == LinearView::Kind::sparse) return view_.sparse().nonZeros() * width_;
    return rows_ * width_;
  }

  /// A variable, or directions in its space, laid out for being seen.
  struct Operand {
    std::span<const Vec> vectors;
    std::vector<double> copy;
  };

  void bind(std::span<const Vec> vectors, Operand& operand) const {
    operand.vectors = vectors;
    const Index count = static_cast<Index>(vectors.size());
    if (view_.kind() == LinearView::Kind::shared) {
      operand.copy.resize(static_cast<std::size_t>(count * width_ * pack_lanes));
      double* to = operand.copy.data();
      for (const Vec& v : vectors)
        for (Index j = 0; j < width_; ++j, to += pack_lanes) std::fill_n(to, pack_lanes, v[j]);
    } else if (view_.kind() == LinearView::Kind::dense) {
      const Index p = view_.dense().cols(), stride = padded(p);
      operand.copy.resize(static_cast<std::size_t>(count * width_ * stride));
      double* to = operand.copy.data();
      for (const Vec& v : vectors)
        for (Index j = 0; j < width_; ++j, to += stride)
          for (Index k = 0; k < p; ++k) to[k] = v[k * width_ + j];
    }
  }

  /// What `n` rows from `first` see of vector c, component j at j * pack_lanes: in `images`, or where it stands
  /// already. Products are made for all vectors with the first. Local views clear `finite` if an entry is not.
  const double* see(const Operand& operand, Index c, Index first, Index n, double* images, bool& finite) const {
    double* const image = images + c * width_ * pack_lanes;
    const double* const vector = operand.vectors[static_cast<std::size_t>(c)].data();
    switch (view_.kind()) {
      case LinearView::Kind::none:
        return nullptr;
      case LinearView::Kind::shared:
        return operand.copy.data() + c * width_ * pack_lanes;
      case LinearView::Kind::entries:
        finite &= kernels_.all_finite(vector + first, n);
        if (n == pack_lanes) return vector + first;
        std::copy_n(vector + first, n, image);
        return image;
      case LinearView::Kind::columns:
        finite &= kernels_.rows_to_pack(vector + first * width_, width_, n, image);
        return image;
      case LinearView::Kind::dense:
        if (c == 0)
          multiply_rows(kernels_, view_.dense(), first, n, operand.copy.data(), width_, images, pack_lanes,
                        static_cast<Index>(operand.vectors.size()));
        return image;
      case LinearView::Kind::sparse:
        multiply_rows(kernels_, view_.sparse(), first, n, vector, width_, image, pack_lanes);
        return image;
    }
    return nullptr;
  }

  /// Makes room for `count` results of the adjoint of views whose rows share entries. `squared`: of the map whose
  /// entries are the squares of this one's. Second derivatives phi_kk of the rows then become the diagonal of the
  /// Hessian in the variable: for a product, sum_i phi_kk(a_i) X_ij^2 for component k of column j.
  void start_adjoint(Index count, bool squared) {
    width_of_all_ = count * width_;
    squared_ = squared;
    if (scatters_)
      sums_.assign(static_cast<std::size_t>(row_chunks * dim_), 0.0);
    else if (view_.kind() == LinearView::Kind::sparse)
      sums_.resize(static_cast<std::size_t>(rows_ * width_));
    if (view_.kind() == LinearView::Kind::dense)
      sums_.assign(static_cast<std::size_t>(row_chunks * width_of_all_ * padded(view_.dense().cols())), 0.0);
    if (view_.kind() == LinearView::Kind::shared)
      sums_.assign(static_cast<std::size_t>(row_chunks * width_of_all_), 0.0);
  }

  /// The adjoint for `n` rows from `first`: into `outs` for local views, whose entries it replaces if `is_first`; kept
  /// for finish_adjoint for others.
  void add_adjoint(const double* image, Index first, Index n, Index chunk, bool is_first, std::span<Vec> outs) {
    switch (view_.kind()) {
      case LinearView::Kind::none:
        return;
      case LinearView::Kind::entries:
        for (Vec& out : outs) {
          for (Index i = 0; i < n; ++i) out[first + i] = image[i] + (is_first ? 0 : out[first + i]);
          image += pack_lanes;
        }
        return;
      case LinearView::Kind::columns:
        for (Vec& out : outs) {
          (is_first ? kernels_.pack_to_rows : kernels_.add_pack_to_rows)(image, width_, n, out.data() + first * width_);
          image += width_ * pack_lanes;
        }
        return;
      case LinearView::Kind::shared:
        for (Index j = 0; j < width_of_all_; ++j)
          for (Index i = 0; i < n; ++i)
            sums_[static_cast<std::size_t>(chunk * width_of_all_ + j)] += image[j * pack_lanes + i];
        return;
      case LinearView::Kind::dense: {
        const Index size = width_of_all_ * padded(view_.dense().cols());
        add_transposed(kernels_, view_.dense(), first, n, image, pack_lanes, width_of_all_, sums_.data() + chunk * size,
                       squared_);
        return;
      }
      case LinearView::Kind::sparse: {
        if (scatters_) {
          add_transposed(kernels_, view_.sparse(), first, n, image, pack_lanes, width_, sums_.data() + chunk * dim_,
                         squared_);
          return;
        }
        kernels_.pack_to_rows(image, width_, n, sums_.data() + first * width_);
        return;
      }
    }
  }

  /// Adds what was kept for result c to the entries [begin, end) of out; begin and end are multiples of the width.
  void finish_adjoint(Index begin, Index end, Index c, Vec& out) const {
    const auto chunk_sum = [&](Index size, Index at) {
      double sum = 0;
      for (Index chunk = 0; chunk < row_chunks; ++chunk) sum += sums_[static_cast<std::size_t>(chunk * size + at)];
      return sum;
    };
    if (scatters_)
      for (Index i = begin; i < end; ++i) out[i] += chunk_sum(dim_, i);
    else if (view_.kind() == LinearView::Kind::sparse)
      add_columns(kernels_, view_.sparse_columns(), begin / width_, end / width_, sums_.data(), width_,
                  out.data() + begin, squared_);
    if (view_.kind() == LinearView::Kind::shared)
      for (Index j = begin; j < end; ++j) out[j] += chunk_sum(width_of_all_, c * width_ + j);
    if (view_.kind() == LinearView::Kind::dense) {
      const Index stride = padded(view_.dense().cols());
      for (Index j = 0; j < width_; ++j)
        for (Index k = begin / width_; k < end / width_; ++k)
          out[k * width_ + j] += chunk_sum(width_of_all_ * stride, (c * width_ + j) * stride + k);
    }
  }

  /// Beside the data, which the view refers to; a second copy of it by columns counts.
  std::size_t bytes() const {
    std::size_t total = sums_.capacity() * sizeof(double);
    if (view_.kind() == LinearView::Kind::sparse && !scatters_)
      total += static_cast<std::size_t>(view_.sparse().nonZeros()) * (sizeof(double) + sizeof(int));
    return total;
  }

 private:
  const Kernels& kernels_;
  LinearView view_;
  Index dim_, width_, rows_, width_of_all_ = 0;  // of the results of an adjoint
  bool scatters_, squared_ = false;
  std::vector<double> sums_;
};

}  // namespace hypertape
