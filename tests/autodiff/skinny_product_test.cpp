#include "hypertape/autodiff/skinny_product.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "hypertape/core/random.hpp"
#include "support/every_set.hpp"

using namespace hypertape;
using testing::every_set;

namespace {

constexpr double guard = 777.25;
using Buffer = std::vector<double>;

std::vector<Index> widths() {
  std::vector<Index> all;
  for (Index w = 1; w <= 25; ++w) all.push_back(w);
  all.insert(all.end(), {31, 32, 33, 40});
  return all;
}

/// Rows, of which there are `n`: alone, in small and odd numbers, at the start, in the middle and up to the last.
std::vector<std::pair<Index, Index>> ranges(Index n) {
  std::vector<std::pair<Index, Index>> out{{0, n}, {0, 1}, {n - 1, 1}};
  for (const Index rows : {2, 3, 4, 5, 7, 8, 32})
    if (rows <= n) out.insert(out.end(), {{0, rows}, {n - rows, rows}, {(n - rows) / 2, rows}});
  return out;
}

RowMat random_matrix(Index rows, Index columns, Random& random) {
  RowMat X(rows, columns);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = random.normal();
  return X;
}

/// Rows of W, each followed by zeros up to padded(p).
Buffer padded_rows(const RowMat& W) {
  const Index stride = padded(W.cols());
  Buffer out(static_cast<std::size_t>(W.rows() * stride), 0.0);
  for (Index j = 0; j < W.rows(); ++j)
    for (Index k = 0; k < W.cols(); ++k) out[static_cast<std::size_t>(j * stride + k)] = W(j, k);
  return out;
}

/// Entries of z = X[first ..) W' that are wrong, or guards that were touched.
template <class Matrix>
int wrong_images(const Kernels& kernels, const Matrix& X, Index first, Index rows, const Buffer& W, Index width,
                 const Mat& expected, const Mat& scale) {
  const Index stride = rows + 3;
  Buffer z(static_cast<std::size_t>(width * stride + 8), guard);
  multiply_rows(kernels, X, first, rows, W.data(), width, z.data(), stride);
  int wrong = 0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    const Index j = static_cast<Index>(k) / stride, i = static_cast<Index>(k) % stride;
    if (j < width && i < rows)
      wrong += !(std::abs(z[k] - expected(first + i, j)) <= 1e-13 * scale(first + i, j));
    else
      wrong += z[k] != guard;
  }
  return wrong;
}

/// The same of G += z' X[first ..), with X as it is and with its entries squared, from a G that is not zero.
int wrong_transposed(const Kernels& kernels, const RowMat& X, Index first, Index rows, const RowMat& Z, bool squared) {
  const Index width = Z.cols(), stride = rows + 3, p = X.cols(), stride_g = padded(p);
  Buffer z(static_cast<std::size_t>(width * stride), guard), G(static_cast<std::size_t>(width * stride_g + 16), guard);
  for (Index j = 0; j < width; ++j)
    for (Index i = 0; i < rows; ++i) z[static_cast<std::size_t>(j * stride + i)] = Z(first + i, j);
  for (Index j = 0; j < width; ++j)
    for (Index k = 0; k < p; ++k)
      G[static_cast<std::size_t>(j * stride_g + k)] = static_cast<double>(j) - 0.5 * static_cast<double>(k);
  add_transposed(kernels, X, first, rows, z.data(), stride, width, G.data(), squared);
  int wrong = 0;
  for (Index j = 0; j < width; ++j)
    for (Index k = 0; k < p; ++k) {
      double expected = static_cast<double>(j) - 0.5 * static_cast<double>(k), scale = std::abs(expected);
      for (Index i = first; i < first + rows; ++i) {
        const double term = Z(i, j) * X(i, k) * (squared ? X(i, k) : 1);
        expected += term;
        scale += std::abs(term);
      }
      wrong += !(std::abs(G[static_cast<std::size_t>(j * stride_g + k)] - expected) <= 1e-13 * scale);
    }
  for (std::size_t k = static_cast<std::size_t>(width * stride_g); k < G.size(); ++k) wrong += G[k] != guard;
  return wrong;
}
int wrong_transposed(const Kernels& kernels, const RowMat& X, Index first, Index rows, const RowMat& Z) {
  return wrong_transposed(kernels, X, first, rows, Z, false) + wrong_transposed(kernels, X, first, rows, Z, true);
}

/// About one entry in four, with some rows and columns empty: the first, the last and some between.
SparseRows random_sparse(Index rows, Index columns, Random& random) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < columns; ++k) {
      const bool empty_row = rows > 4 && (i % 7 == 0 || i == rows - 1);
      const bool empty_column = columns > 4 && (k % 5 == 0 || k == columns - 1);
      if (!empty_row && !empty_column && (random.below(4) == 0 || columns < 3))
        entries.emplace_back(static_cast<int>(i), static_cast<int>(k), random.normal());
    }
  SparseRows X(rows, columns);
  X.setFromTriplets(entries.begin(), entries.end());
  X.makeCompressed();
  return X;
}

}  // namespace

TEST_CASE("rows are padded to whole registers of eight, and no further") {
  for (Index p = 1; p <= 100; ++p) {
    CHECK(padded(p) % 8 == 0);
    CHECK(padded(p) >= p);
    CHECK(padded(p) < p + 8);
  }
}

TEST_CASE("dense products agree with Eigen for every width and shape, and write nothing else") {
  const Kernels& k = kernels(every_set());
  for (const Index p : {1, 2, 7, 8, 9, 16, 17, 31, 100, 785})
    for (const Index width : widths()) {
      CAPTURE(p);
      CAPTURE(width);
      Random random(static_cast<std::uint64_t>(1000 * p + width));
      const Index n = p < 700 ? 37 : 13;
      const RowMat X = random_matrix(n, p, random), W = random_matrix(width, p, random);
      const Mat expected = X * W.transpose(), scale = X.cwiseAbs() * W.cwiseAbs().transpose();
      const RowMat Z = random_matrix(n, width, random);
      const Buffer w = padded_rows(W);
      int wrong = 0, wrong_adjoints = 0;
      for (const auto& range : ranges(n)) {
        wrong += wrong_images(k, X, range.first, range.second, w, width, expected, scale);
        wrong_adjoints += wrong_transposed(k, X, range.first, range.second, Z);
      }
      CHECK(wrong == 0);
      CHECK(wrong_adjoints == 0);
    }
}

TEST_CASE("dense products are right for every number of rows from one to seventy") {
  const Kernels& k = kernels(every_set());
  for (const Index p : {1, 3, 8, 9, 31, 200})
    for (const Index width : {1, 3, 10, 13}) {
      CAPTURE(p);
      CAPTURE(width);
      Random random(static_cast<std::uint64_t>(77 * p + width));
      const RowMat W = random_matrix(width, p, random);
      const Buffer w = padded_rows(W);
      int wrong = 0, wrong_adjoints = 0;
      for (Index n = 1; n <= 70; ++n) {
        const RowMat X = random_matrix(n, p, random), Z = random_matrix(n, width, random);
        const Mat expected = X * W.transpose(), scale = X.cwiseAbs() * W.cwiseAbs().transpose();
        wrong += wrong_images(k, X, 0, n, w, width, expected, scale);
        wrong_adjoints += wrong_transposed(k, X, 0, n, Z);
        if (n > 2) wrong += wrong_images(k, X, 1, n - 2, w, width, expected, scale);  // rows remain before and behind
        if (n > 2) wrong_adjoints += wrong_transposed(k, X, 1, n - 2, Z);
      }
      CHECK(wrong == 0);
      CHECK(wrong_adjoints == 0);
    }
}

TEST_CASE("what stands in memory behind the last row plays no part") {
  const Kernels& k = kernels(every_set());
  // Short rows: a register that starts in a row before the last may reach past the end of the matrix.
  for (const Index p : {1, 2, 3, 5, 7, 9})
    for (const Index n : {1, 2, 3, 4, 6, 9}) {
      CAPTURE(p);
      CAPTURE(n);
      Random random(static_cast<std::uint64_t>(10 * p + n));
      RowMat X = random_matrix(n + 16, p, random);
      X.bottomRows(16).setConstant(std::nan(""));
      X.conservativeResize(n, p);  // in place, where the allocator can
      const RowMat W = random_matrix(3, p, random), Z = random_matrix(n, 3, random);
      const Mat expected = X * W.transpose(), scale = X.cwiseAbs() * W.cwiseAbs().transpose();
      int wrong = 0;
      for (Index first = 0; first < n; ++first)
        for (Index rows = 1; first + rows <= n; ++rows)
          wrong += wrong_images(k, X, first, rows, padded_rows(W), 3, expected, scale) +
                   wrong_transposed(k, X, first, rows, Z);
      CHECK(wrong == 0);
    }
}

TEST_CASE("a long row is summed over all its blocks of columns") {
  const Kernels& k = kernels(every_set());
  Random random(5);
  for (const Index width : {1, 10, 40}) {
    const RowMat X = random_matrix(6, 9001, random), W = random_matrix(width, 9001, random);
    const Mat expected = X * W.transpose(), scale = X.cwiseAbs() * W.cwiseAbs().transpose();
    CHECK(wrong_images(k, X, 0, 6, padded_rows(W), width, expected, scale) == 0);
    CHECK(wrong_images(k, X, 1, 3, padded_rows(W), width, expected, scale) == 0);
  }
}

TEST_CASE("images of several matrices at once are those of one at a time to the last bit") {
  const Kernels& k = kernels(every_set());
  Random random(6);
  for (const Index p : {3, 100, 1500, 9001})  // rows of one block, and of several
    for (const Index width : {1, 2, 5, 10, 13})
      for (const Index count : {2, 3, 4}) {
        CAPTURE(p);
        CAPTURE(width);
        CAPTURE(count);
        const Index n = 7, stride = 8;
        const RowMat X = random_matrix(n, p, random);
        const Buffer W = padded_rows(random_matrix(count * width, p, random));
        Buffer together(static_cast<std::size_t>(count * width * stride), guard), alone = together;
        multiply_rows(k, X, 0, n, W.data(), width, together.data(), stride, count);
        for (Index c = 0; c < count; ++c)
          multiply_rows(k, X, 0, n, W.data() + c * width * padded(p), width, alone.data() + c * width * stride, stride);
        CHECK(together == alone);
      }
}

TEST_CASE("sparse products agree with Eigen for every width, with empty rows and columns") {
  const Kernels& k = kernels(every_set());
  for (const Index p : {1, 2, 7, 8, 9, 16, 17, 31, 100})
    for (const Index width : widths()) {
      CAPTURE(p);
      CAPTURE(width);
      Random random(static_cast<std::uint64_t>(2000 * p + width));
      const Index n = 37;
      const SparseRows X = random_sparse(n, p, random);
      const SparseColumns columns = X;
      const RowMat W = random_matrix(p, width, random), Z = random_matrix(n, width, random);
      const Mat dense = Mat(X), expected = dense * W, scale = dense.cwiseAbs() * W.cwiseAbs();
      const Buffer w(W.data(), W.data() + W.size()), z(Z.data(), Z.data() + Z.size());
      int wrong = 0;
      for (const auto& range : ranges(n))
        wrong += wrong_images(k, X, range.first, range.second, w, width, expected, scale);
      CHECK(wrong == 0);

      for (const bool squared : {false, true}) {
        CAPTURE(squared);
        const Mat factor = squared ? dense.cwiseAbs2() : dense;
        const Mat sums = factor.transpose() * Z, sums_scale = factor.cwiseAbs().transpose() * Z.cwiseAbs();
        int wrong_sums = 0;
        const auto check = [&](const Buffer& G, Index first, Index last) {  // from entries e % 11
          for (std::size_t e = 0; e < G.size(); ++e) {
            const Index column = static_cast<Index>(e) / width, j = static_cast<Index>(e) % width;
            if (column < last - first) {
              const double start = static_cast<double>(e % 11);
              wrong_sums += !(std::abs(G[e] - (start + sums(first + column, j))) <=
                              1e-13 * (start + sums_scale(first + column, j)));
            } else {
              wrong_sums += G[e] != guard;
            }
          }
        };
        const auto start = [&](Index first, Index last) {
          Buffer G(static_cast<std::size_t>((last - first) * width + 16), guard);
          for (Index e = 0; e < (last - first) * width; ++e)
            G[static_cast<std::size_t>(e)] = static_cast<double>(e % 11);
          return G;
        };
        for (const Index first : {Index{0}, p / 3, p - 1})
          for (const Index last : {first, first + 1, (first + p + 1) / 2, p}) {
            Buffer G = start(first, last);
            add_columns(k, columns, first, last, z.data(), width, G.data(), squared);
            check(G, first, last);
          }
        Buffer G = start(0, p);
        const Mat by_component = Z;  // stored by columns
        add_transposed(k, X, 0, n / 2, by_component.data(), n, width, G.data(), squared);
        add_transposed(k, X, n / 2, n - n / 2, by_component.data() + n / 2, n, width, G.data(), squared);
        check(G, 0, p);
        CHECK(wrong_sums == 0);
      }
    }
}

TEST_CASE("a sparse matrix without entries gives zero images and adds nothing") {
  const Kernels& k = kernels(every_set());
  SparseRows X(3, 4);
  X.makeCompressed();
  const SparseColumns columns = X;
  const Buffer w(8, 1.0), z(6, 1.0);
  Buffer image(6, guard), sums(8, 2.5);
  multiply_rows(k, X, 0, 3, w.data(), 2, image.data(), 3);
  CHECK(image == Buffer(6, 0.0));
  add_columns(k, columns, 0, 4, z.data(), 2, sums.data());
  CHECK(sums == Buffer(8, 2.5));
}

TEST_CASE("a row that is long and sparse is summed to its last entry") {
  const Kernels& k = kernels(every_set());
  std::vector<Eigen::Triplet<double>> entries;
  for (int e = 0; e < 50; ++e) entries.emplace_back(1, 3 * e, e + 1.0);
  SparseRows X(2, 150);
  X.setFromTriplets(entries.begin(), entries.end());
  X.makeCompressed();
  Buffer w(150);
  for (std::size_t e = 0; e < 150; ++e) w[e] = static_cast<double>(e);
  double z[2] = {guard, guard}, expected = 0;
  for (int e = 0; e < 50; ++e) expected += (e + 1.0) * (3 * e);
  multiply_rows(k, X, 0, 2, w.data(), 1, z, 2);
  CHECK(z[0] == 0);
  CHECK(z[1] == expected);
}
