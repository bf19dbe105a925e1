#include "hypertape/inner/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

/// How many eigenvalues of the tridiagonal matrix are below t: as many as the LDL' factors of it, shifted by t, have
/// negative pivots.
int eigenvalues_below(double t, const Vec& diagonal, const Vec& off_diagonal, Index size) {
  int negative = 0;
  double pivot = 1;
  for (Index i = 0; i < size; ++i) {
    pivot = diagonal[i] - t - (i > 0 ? off_diagonal[i - 1] / pivot * off_diagonal[i - 1] : 0);
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    if (pivot < 0) ++negative;
  }
  return negative;
}

/// Eigenvalue number `index`, counted from below, of the tridiagonal matrix: by bisection, until no number is left
/// between.
double eigenvalue(int index, const Vec& diagonal, const Vec& off_diagonal, Index size) {
  double low = diagonal[0], high = low;  // all are in Gershgorin's intervals
  for (Index i = 0; i < size; ++i) {
    const double reach = (i > 0 ? off_diagonal[i - 1] : 0) + (i + 1 < size ? off_diagonal[i] : 0);
    low = std::min(low, diagonal[i] - reach);
    high = std::max(high, diagonal[i] + reach);
  }
  for (;;) {
    const double middle = std::midpoint(low, high);
    if (!(low < middle && middle < high)) return middle;
    (eigenvalues_below(middle, diagonal, off_diagonal, size) > index ? high : low) = middle;
  }
}

}  // namespace

RitzBounds lanczos(LinearOperator& A, int steps, std::uint64_t seed) {
  require(steps > 0, "lanczos: steps = ", steps, ", must be positive");
  // A stream of its own: a matrix generated from the same seed may have the first numbers of that stream for an
  // eigenvector, and a start there would see nothing else.
  constexpr std::uint64_t own_stream = 0x9e3779b97f4a7c15u;
  const Index most = std::min<Index>(steps, A.dim());
  Mat basis(A.dim(), most);
  Vec diagonal(most), off_diagonal(most), w, v = Random(seed ^ own_stream).direction(A.dim());
  Index k = 0;
  while (k < most) {
    basis.col(k) = v;
    A.apply(v, w);
    diagonal[k] = v.dot(w);
    const double scale = w.norm();
    if (!std::isfinite(scale)) return {scale - scale, scale - scale, static_cast<int>(k) + 1};  // not a number
    for (int pass = 0; pass < 2; ++pass)
      for (Index j = 0; j <= k; ++j) w -= basis.col(j).dot(w) * basis.col(j);
    off_diagonal[k] = w.norm();
    ++k;
    if (!(off_diagonal[k - 1] > 1e-14 * scale)) break;  // the basis spans an invariant subspace
    v = w / off_diagonal[k - 1];
  }
  const int size = static_cast<int>(k);
  return {eigenvalue(0, diagonal, off_diagonal, size), eigenvalue(size - 1, diagonal, off_diagonal, size), size};
}

}  // namespace hypertape
