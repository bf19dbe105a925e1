#pragma once

#include "hypertape/core/random.hpp"

namespace hypertape::problems {

/// A random orthogonal matrix.
Mat random_orthogonal(Index n, Random& random);

/// n eigenvalues, spread geometrically over [1 / kappa, 1].
Vec geometric_spectrum(Index n, double kappa);

/// Q diag(eigenvalues) Q', exactly symmetric.
Mat with_spectrum(const Mat& Q, const Vec& eigenvalues);

}  // namespace hypertape::problems
