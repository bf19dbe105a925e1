#pragma once

#include "hypertape/core/types.hpp"
#include "hypertape/theory/constants.hpp"

namespace hypertape::theory {

/// The parameters as the paper prints them, or with its slips mended so that its proofs go through (maths.md,
/// "Errata").
enum class Constants { printed, corrected };

/// Theorem 3.4: the parameters of RAHGD.
struct RahgdParameters {
  double eta = 0;    ///< step
  double theta = 0;  ///< the momentum is 1 - theta
  double B = 0;      ///< restart when k * sum |x_{i+1} - x_i|^2 > B^2
  int K = 1;         ///< an epoch of K steps without a restart ends the run
  double sigma = 0;  ///< accuracy of every hypergradient
};

/// Theorem 4.1: the parameters of PRAHGD and PRAGDA.
struct PrahgdParameters : RahgdParameters {
  double r = 0;    ///< radius of the perturbation
  double chi = 0;  ///< the logarithm that K, B and the number of epochs contain
};

/// What theorem 4.1 needs besides the constants of Phi.
struct PrahgdSetting {
  Index dimension = 1;  ///< d_x >= 1
  double zeta = 0.1;    ///< 0 < zeta < 1: probability of failure
  double gap = 1;       ///< Delta = Phi(x_00) - min Phi > 0; |grad Phi| at the epochs' ends is at most sqrt(2 L Delta)
};

/// Parameters for |grad Phi| = O(epsilon), maths.md (36), 0 < epsilon <= L^2 / rho. Printed: as in theorem 3.4, theta
/// up to 2 and K = ceil(1 / theta), which is what `while k < K` does with a fraction. Corrected: K = floor(1 / theta),
/// then theta = 1 / K, never above 1; sigma = epsilon / 10.
RahgdParameters rahgd_parameters(const PhiConstants& phi, double epsilon, Constants constants = Constants::corrected);

/// Parameters for an (epsilon, O(sqrt(rho epsilon))) second-order point, maths.md (39), 0 < epsilon <= L^2 / rho.
/// Printed: as in theorem 4.1, its O(log) read as chi = log(d / (zeta epsilon)). Corrected: chi, K, B, r solve their
/// equations together, and all inequalities of the proof, maths.md (40), hold.
PrahgdParameters prahgd_parameters(const PhiConstants& phi, double epsilon, const PrahgdSetting& setting,
                                   Constants constants = Constants::corrected);

/// By how much Phi falls at least in an epoch that ends with a restart, maths.md (37); not positive: no guarantee. With
/// corrected parameters of theorem 3.4 at least 0.80 epsilon^1.5 / sqrt(rho), with sigma = 0 at least 7/8 of it (the
/// paper says 1). For PRAHGD: without what the perturbation adds.
double epoch_decrease(const PhiConstants& phi, const RahgdParameters& parameters);

/// Bound of |grad Phi| at the averaged output, maths.md (38). Theorem 3.4: (77.3 c^2 + 4) epsilon + sigma for K >= 2
/// with c = 1 / (K theta_0), theta_0 = theta before rounding; so 81.4 epsilon for c = 1 (the paper says 83).
double gradient_bound(const PhiConstants& phi, const RahgdParameters& parameters);

/// Step 1 / l and momentum (sqrt(kappa) - 1) / (sqrt(kappa) + 1) of accelerated gradient descent, maths.md (7).
struct AgdParameters {
  double alpha = 0;
  double beta = 0;
};
AgdParameters agd_parameters(const Smoothness& smoothness);

/// How accurate y and v must be for a hypergradient of accuracy sigma, maths.md (33).
struct InnerAccuracy {
  double y = 0;  ///< bound of |y - y*|: sigma / (2 L) printed, sigma / (2 C_y) corrected
  double v = 0;  ///< bound of |v - v*|: sigma / (2 l)
};
InnerAccuracy inner_accuracy(const Smoothness& smoothness, const PhiConstants& phi, double sigma,
                             Constants constants = Constants::corrected);

/// Steps of accelerated gradient descent that bring an error of `distance` down to `accuracy`, maths.md (34); >= 1.
int agd_steps(double kappa, double distance, double accuracy);

/// The same for conjugate gradients, maths.md (35); >= 1.
int cg_steps(double kappa, double distance, double accuracy);

/// What T_{t,k} and T'_{t,k} depend on.
struct InnerSetting {
  Smoothness smoothness;
  PhiConstants phi;
  double B = 0;        ///< from rahgd_parameters or prahgd_parameters
  double sigma = 0;    ///< likewise
  double y_bound = 0;  ///< bound of |y*(x_{t,0})|, the distance of the start 0 of a cold solve
  double v_norm = 0;   ///< |v_{0,-1}|
};

/// T_{t,k} for k >= -1, the same in every epoch t; k = -1 is the solve from 0 that starts an epoch. maths.md (34).
int agd_steps(const InnerSetting& setting, int k, Constants constants = Constants::corrected);

/// T'_{t,k} for t, k >= 0. Printed: k = 0 starts from v_{0,-1} in every epoch. Corrected: only in the first one.
/// maths.md (35).
int cg_steps(const InnerSetting& setting, int t, int k, Constants constants = Constants::corrected);

}  // namespace hypertape::theory
