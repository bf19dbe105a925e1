#include "hand_written.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/parallel.hpp"

namespace hypertape {
namespace baseline {
extern const benchmarks::HandKernels hand_kernels;
}
#if defined(HYPERTAPE_HAS_X86_VARIANTS)
namespace avx2 {
extern const benchmarks::HandKernels hand_kernels;
}
namespace avx512 {
extern const benchmarks::HandKernels hand_kernels;
}
#endif
}  // namespace hypertape

namespace hypertape::benchmarks {

const HandKernels& hand_kernels(InstructionSet set) {
#if defined(HYPERTAPE_HAS_X86_VARIANTS)
  if (set == InstructionSet::avx2) return avx2::hand_kernels;
  if (set == InstructionSet::avx512) return avx512::hand_kernels;
#endif
  return baseline::hand_kernels;
}

namespace {

constexpr Index chunks = max_threads;
constexpr Index max_classes = 32;

/// f(i) for every i < count, in chunks on several threads.
template <class F>
void for_each(Index count, int threads, const F& f) {
  for_each_chunk(chunks, threads, [&](Index c, int) {
    for (Index i = c * count / chunks; i < (c + 1) * count / chunks; ++i) f(i);
  });
}

}  // namespace

HandHypercleaning::HandHypercleaning(const DenseData& data, int threads, InstructionSet set)
    : data_(data), threads_(threads), kernels_(kernels(set)), hand_(hand_kernels(set)) {
  const std::size_t size = static_cast<std::size_t>(data.classes * padded(data.X.cols()));
  w_.assign(size, 0);
  v_.assign(size, 0);
  sums_.resize(size * chunks);
  weight_.resize(static_cast<std::size_t>(data.X.rows()));
  slope_.resize(weight_.size());
  probability_.resize(static_cast<std::size_t>((data.X.rows() + block_rows) / block_rows * block_rows * data.classes));
}

void HandHypercleaning::transpose_in(const Vec& v, std::vector<double>& w) const {
  const Index p = data_.X.cols(), stride = padded(p), c = data_.classes;
  for (Index j = 0; j < c; ++j)
    for (Index k = 0; k < p; ++k) w[static_cast<std::size_t>(j * stride + k)] = v[k * c + j];
}

void HandHypercleaning::weigh(const Vec& x) {
  if (weighed_x_.size() == x.size() && weighed_x_ == x) return;
  weighed_x_ = x;
  const double n = static_cast<double>(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const double s = 1 / (1 + std::exp(-x[i]));
    weight_[static_cast<std::size_t>(i)] = s / n;
    slope_[static_cast<std::size_t>(i)] = s * (1 - s) / n;
  }
}

/// Calls block(first row, rows, sums of this chunk) for blocks of rows, chunks in parallel.
template <class Block>
void HandHypercleaning::for_blocks(const RowMat& X, const Block& block) {
  const Index blocks = (X.rows() + block_rows - 1) / block_rows, size = static_cast<Index>(w_.size());
  for_each_chunk(chunks, threads_, [&](Index c, int) {
    double* const sums = sums_.data() + c * size;
    std::fill_n(sums, size, 0.0);
    for (Index b = c * blocks / chunks; b < (c + 1) * blocks / chunks; ++b) {
      const Index first = b * block_rows;
      block(first, std::min(block_rows, X.rows() - first), sums);
    }
  });
}

/// out = the sums of all chunks, laid out as W, + scale * v.
void HandHypercleaning::sum_chunks(double scale, const Vec* v, Vec& out) const {
  const Index p = data_.X.cols(), stride = padded(p), classes = data_.classes, size = static_cast<Index>(w_.size());
  for (Index j = 0; j < classes; ++j)
    for (Index k = 0; k < p; ++k) {
      double sum = v != nullptr ? scale * (*v)[k * classes + j] : 0;
      for (Index c = 0; c < chunks; ++c) sum += sums_[static_cast<std::size_t>(c * size + j * stride + k)];
      out[k * classes + j] = sum;
    }
}

void HandHypercleaning::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  weigh(x);
  transpose_in(y, w_);
  const Index classes = data_.classes;
  for_blocks(data_.X, [&](Index first, Index n, double* sums) {
    alignas(64) double z[max_classes * block_rows], inverse[block_rows];
    multiply_rows(kernels_, data_.X, first, n, w_.data(), classes, z, block_rows);
    hand_.softmax(z, classes, n, inverse);
    for (Index i = 0; i < n; ++i) inverse[i] *= weight_[static_cast<std::size_t>(first + i)];
    hand_.scale(z, classes, inverse);
    for (Index i = 0; i < n; ++i)
      z[data_.label[static_cast<std::size_t>(first + i)] * block_rows + i] -=
          weight_[static_cast<std::size_t>(first + i)];
    add_transposed(kernels_, data_.X, first, n, z, block_rows, classes, sums);
  });
  sum_chunks(2 * data_.regularisation, &y, out);
}

LinearOperator& HandHypercleaning::do_curvature_at(const Vec& x, const Vec& y) {
  weigh(x);
  transpose_in(y, w_);
  const Index classes = data_.classes;
  for_blocks(data_.X, [&](Index first, Index n, double*) {
    alignas(64) double inverse[block_rows];
    double* const z = probability_.data() + first * classes;
    multiply_rows(kernels_, data_.X, first, n, w_.data(), classes, z, block_rows);
    hand_.softmax(z, classes, n, inverse);
    hand_.scale(z, classes, inverse);
  });
  return curvature_;
}

void HandHypercleaning::hessian_product(const Vec& v, Vec& out) {
  transpose_in(v, v_);
  const Index classes = data_.classes;
  for_blocks(data_.X, [&](Index first, Index n, double* sums) {
    alignas(64) double u[max_classes * block_rows], weight[block_rows] = {};
    const double* const p = probability_.data() + first * classes;
    multiply_rows(kernels_, data_.X, first, n, v_.data(), classes, u, block_rows);
    std::copy_n(weight_.data() + first, n, weight);
    hand_.softmax_hessian(p, weight, classes, u);
    add_transposed(kernels_, data_.X, first, n, u, block_rows, classes, sums);
  });
  sum_chunks(2 * data_.regularisation, &v, out);
}

void HandHypercleaning::do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  weigh(x);
  transpose_in(y, w_);
  transpose_in(v, v_);
  const Index classes = data_.classes;
  for_blocks(data_.X, [&](Index first, Index n, double*) {
    alignas(64) double z[max_classes * block_rows], u[max_classes * block_rows], inverse[block_rows],
        result[block_rows];
    multiply_rows(kernels_, data_.X, first, n, w_.data(), classes, z, block_rows);
    multiply_rows(kernels_, data_.X, first, n, v_.data(), classes, u, block_rows);
    hand_.softmax(z, classes, n, inverse);
    hand_.weighted_mean(z, u, inverse, classes, result);
    for (Index i = 0; i < n; ++i)
      out[first + i] = slope_[static_cast<std::size_t>(first + i)] *
                       (result[i] - u[data_.label[static_cast<std::size_t>(first + i)] * block_rows + i]);
  });
}

double HandHypercleaning::do_f(const Vec& x, const Vec& y) {
  Vec gx(dims().x), gy(dims().y);
  return do_grad_f(x, y, gx, gy);
}

double HandHypercleaning::do_grad_f(const Vec&, const Vec& y, Vec& gx, Vec& gy) {
  transpose_in(y, w_);
  gx.setZero();
  const Index classes = data_.classes;
  const double weight = 1 / static_cast<double>(data_.V.rows());
  double values[chunks] = {};
  for_blocks(data_.V, [&](Index first, Index n, double* sums) {
    alignas(64) double z[max_classes * block_rows], inverse[block_rows];
    multiply_rows(kernels_, data_.V, first, n, w_.data(), classes, z, block_rows);
    double value = 0;
    for (Index i = 0; i < n; ++i) value -= z[data_.valid[static_cast<std::size_t>(first + i)] * block_rows + i];
    value += hand_.softmax(z, classes, n, inverse);
    for (double& t : inverse) t *= weight;
    hand_.scale(z, classes, inverse);
    for (Index i = 0; i < n; ++i) z[data_.valid[static_cast<std::size_t>(first + i)] * block_rows + i] -= weight;
    add_transposed(kernels_, data_.V, first, n, z, block_rows, classes, sums);
    values[(sums - sums_.data()) / static_cast<Index>(w_.size())] += value;
  });
  sum_chunks(0, nullptr, gy);
  double total = 0;
  for (const double value : values) total += value;
  return total * weight;
}

HandLogistic::HandLogistic(const SparseData& data, int threads, InstructionSet set)
    : data_(data),
      columns_(data.X),
      valid_columns_(data.V),
      threads_(threads),
      kernels_(kernels(set)),
      hand_(hand_kernels(set)),
      scale_(1 / static_cast<double>(data.classes * data.X.cols())) {
  const Index rows = std::max(data.X.rows(), data.V.rows());
  weight_.resize(static_cast<std::size_t>(data.X.cols()));
  residual_.resize(static_cast<std::size_t>(rows * data.classes));
  probability_.resize(static_cast<std::size_t>((rows + block_rows) / block_rows * block_rows * data.classes));
}

void HandLogistic::weigh(const Vec& x) {
  if (weighed_x_.size() == x.size() && weighed_x_ == x) return;
  weighed_x_ = x;
  for (Index k = 0; k < x.size(); ++k) weight_[static_cast<std::size_t>(k)] = scale_ * std::exp(x[k]);
}

/// (softmax - label) / rows for every row, into residual_; the mean loss is returned.
double HandLogistic::residuals(const SparseRows& X, const std::vector<int>& label, const Vec& y,
                               bool keep_probability) {
  const Index classes = data_.classes, blocks = (X.rows() + block_rows - 1) / block_rows;
  const double weight = 1 / static_cast<double>(X.rows());
  double totals[chunks] = {};
  for_each_chunk(chunks, threads_, [&](Index c, int) {
    double& total = totals[c];
    for (Index b = c * blocks / chunks; b < (c + 1) * blocks / chunks; ++b) {
      alignas(64) double local[max_classes * block_rows], inverse[block_rows];
      const Index first = b * block_rows, n = std::min(block_rows, X.rows() - first);
      double* const z = keep_probability ? probability_.data() + first * classes : local;
      multiply_rows(kernels_, X, first, n, y.data(), classes, z, block_rows);
      for (Index i = 0; i < n; ++i) total -= z[label[static_cast<std::size_t>(first + i)] * block_rows + i];
      total += hand_.softmax(z, classes, n, inverse);
      hand_.scale(z, classes, inverse);
      if (keep_probability) continue;
      for (Index i = 0; i < n; ++i) {
        double* const r = residual_.data() + (first + i) * classes;
        for (Index j = 0; j < classes; ++j) r[j] = weight * z[j * block_rows + i];
        r[label[static_cast<std::size_t>(first + i)]] -= weight;
      }
    }
  });
  double total = 0;
  for (const double t : totals) total += t;
  return total * weight;
}

/// out[k] = weight[k] v[k] + sum_i X(i, k) residual[i], feature by feature.
void HandLogistic::gather_columns(const SparseColumns& X, const double* weight, const Vec* v, Vec& out) const {
  const Index classes = data_.classes, features = X.cols();
  constexpr Index tile = 256;
  for_each((features + tile - 1) / tile, threads_, [&](Index t) {
    const Index begin = t * tile, end = std::min(features, begin + tile);
    double* const to = out.data() + begin * classes;
    if (weight != nullptr)
      hand_.weigh_rows(weight + begin, v->data() + begin * classes, end - begin, classes, to);
    else
      std::fill_n(to, (end - begin) * classes, 0.0);
    add_columns(kernels_, X, begin, end, residual_.data(), classes, to);
  });
}

void HandLogistic::do_grad_y_g(const Vec& x, const Vec& y, Vec& out) {
  weigh(x);
  residuals(data_.X, data_.label, y, false);
  gather_columns(columns_, weight_.data(), &y, out);
}

LinearOperator& HandLogistic::do_curvature_at(const Vec& x, const Vec& y) {
  weigh(x);
  residuals(data_.X, data_.label, y, true);
  return curvature_;
}

void HandLogistic::hessian_product(const Vec& v, Vec& out) {
  const Index classes = data_.classes, rows = data_.X.rows(), blocks = (rows + block_rows - 1) / block_rows;
  const double weight = 1 / static_cast<double>(rows);
  double weights[block_rows];
  std::fill_n(weights, block_rows, weight);
  for_each(blocks, threads_, [&](Index b) {
    alignas(64) double u[max_classes * block_rows];
    const Index first = b * block_rows, n = std::min(block_rows, rows - first);
    const double* const p = probability_.data() + first * classes;
    multiply_rows(kernels_, data_.X, first, n, v.data(), classes, u, block_rows);
    hand_.softmax_hessian(p, weights, classes, u);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < classes; ++j)
        residual_[static_cast<std::size_t>((first + i) * classes + j)] = u[j * block_rows + i];
  });
  gather_columns(columns_, weight_.data(), &v, out);
}

void HandLogistic::do_cross_product(const Vec& x, const Vec& y, const Vec& v, Vec& out) {
  weigh(x);
  const Index classes = data_.classes;
  for_each_chunk(chunks, threads_, [&](Index c, int) {
    const Index begin = c * x.size() / chunks, end = (c + 1) * x.size() / chunks;
    hand_.weighted_dots(weight_.data() + begin, y.data() + begin * classes, v.data() + begin * classes, end - begin,
                        classes, out.data() + begin);
  });
}

double HandLogistic::do_f(const Vec&, const Vec& y) { return residuals(data_.V, data_.valid, y, false); }

double HandLogistic::do_grad_f(const Vec&, const Vec& y, Vec& gx, Vec& gy) {
  gx.setZero();
  const double value = residuals(data_.V, data_.valid, y, false);
  gather_columns(valid_columns_, nullptr, nullptr, gy);
  return value;
}

}  // namespace hypertape::benchmarks
