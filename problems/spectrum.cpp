#include "problems/spectrum.hpp"

#include <Eigen/QR>
#include <cmath>

namespace hypertape::problems {

Mat random_orthogonal(Index n, Random& random) { return Eigen::HouseholderQR<Mat>(random.normal(n, n)).householderQ(); }

Vec geometric_spectrum(Index n, double kappa) {
  Vec eigenvalues(n);
  for (Index i = 0; i < n; ++i)
    eigenvalues[i] = n == 1 ? 1 : std::pow(kappa, static_cast<double>(i) / static_cast<double>(n - 1) - 1);
  return eigenvalues;
}

Mat with_spectrum(const Mat& Q, const Vec& eigenvalues) {
  const Mat product = Q * eigenvalues.asDiagonal() * Q.transpose();
  return 0.5 * (product + product.transpose());
}

}  // namespace hypertape::problems
