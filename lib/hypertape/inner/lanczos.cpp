#include "hypertape/inner/lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape {

RitzBounds lanczos(LinearOperator& A, int steps, std::uint64_t seed) {
  require(steps > 0, "lanczos: steps = ", steps, ", must be positive");
  // A stream of its own: a matrix generated from the same seed may have the first numbers of that stream for an
  // eigenvector, and a start there would see nothing else.
  constexpr std::uint64_t own_stream = 0x9e3779b97f4a7c15u;
  const Index most = std::min<Index>(steps, A.dim());
  Mat basis(A.dim(), most);
  Vec diagonal(most), off_diagonal(most), w, v = Random(seed ^ own_stream).normal(A.dim()).normalized();
  Index k = 0;
  while (k < most) {
    basis.col(k) = v;
    A.apply(v, w);
    diagonal[k] = v.dot(w);
    const double scale = w.norm();
    if (!std::isfinite(scale)) return {scale - scale, scale - scale, static_cast<int>(k) + 1};  // not a number
    for (int pass = 0; pass < 2; ++pass) w -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * w);
    off_diagonal[k] = w.norm();
    ++k;
    if (!(off_diagonal[k - 1] > 1e-14 * scale)) break;  // the basis spans an invariant subspace
    v = w / off_diagonal[k - 1];
  }
  Eigen::SelfAdjointEigenSolver<Mat> ritz;
  ritz.computeFromTridiagonal(diagonal.head(k), off_diagonal.head(k - 1), Eigen::EigenvaluesOnly);
  return {ritz.eigenvalues()[0], ritz.eigenvalues()[k - 1], static_cast<int>(k)};
}

}  // namespace hypertape
