#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/hypergradient/constants.hpp"
#include "hypertape/inner/agd.hpp"

namespace hypertape {

/// An estimate u of grad Phi at a point, and what is known of its error.
struct Hypergradient {
  Vec u;
  double norm = 0;                                               ///< |u|
  double phi = 0;                                                ///< estimate of Phi, maths.md (19) where it is free
  double lower_gradient = 0;                                     ///< |grad_y g|, as AgdResult::gradient_norm
  double residual = 0;                                           ///< of the linear system for v; 0 where there is none
  double error_bound = std::numeric_limits<double>::infinity();  ///< of |u - grad Phi|; infinite if not known
  double error_estimate = std::numeric_limits<double>::infinity();  ///< of the same, from what was seen, where made
  Status status = Status::converged;  ///< or not_finite, diverged, indefinite: u is no use
  std::string message;
};

/// grad Phi at one point after another, each solve started where the one before it ended.
class HypergradientEstimator {
 public:
  /// Refers to `oracle`. Constants that the options leave open are estimated at `start`: those of error bounds only if
  /// `certified`.
  HypergradientEstimator(BilevelOracle& oracle, const LowerOptions& options, const Point& start, bool certified,
                         std::uint64_t seed);
  virtual ~HypergradientEstimator() = default;

  /// Where a solve ends by certificate, |u - grad Phi| <= sigma is what it certifies.
  const Hypergradient& at(const Vec& x, double sigma);

  const Vec& y() const { return y_; }

  /// Forgets all but y, from where the next solve starts.
  virtual void restart_from(const Vec& y) { y_ = y; }

  /// y <- `steps` steps on g(x, .) from zero: the cold start that the paper prints at every restart. False if it
  /// failed, which last() then says.
  bool solve_cold(const Vec& x, int steps);

  const Hypergradient& last() const { return result_; }

  /// Whether a certificate decides how long the solves take, rather than a count.
  virtual bool adapts() const { return options_.steps == 0; }

  /// Lets the certificate decide for a while, whatever the options say, or no longer. Has an effect on estimators that
  /// know their error bound and can solve to any accuracy.
  void set_accurate(bool accurate);

 protected:
  /// A rounding error of |grad_y g| that no solver gets below.
  double rounding() const;

  /// y <- argmin g(x, .), to |grad_y g| <= tolerance if the options leave the number of steps open. A step that turns
  /// out too long is made shorter, if it is not given. False if it failed, which is then said in the result.
  bool solve_lower(const Vec& x, double tolerance);

  bool minimise(const Vec& x, int steps, double tolerance);

  /// grad f at (x, y); false, and said in the result, if it is not finite.
  bool evaluate_upper(const Vec& x);

  /// Fills in the result what a failed part says.
  bool fail(Status status, const char* part, const std::string& message);

  BilevelOracle& oracle_;
  LowerOptions options_, given_;  // in force now; as they are without set_accurate
  LowerConstants constants_;
  bool certified_;
  Hypergradient result_;
  Vec y_, gx_, gy_;
  AgdWorkspace lower_;
  bool gradient_at_y_ = false;  // lower_.gradient is that at y
  bool estimates_ = true;       // products may be spent on estimates

 private:
  /// (sqrt(kappa) - 1)/(sqrt(kappa) + 1).
  double momentum() const;

  /// Other constants, with the step and the momentum that go with them.
  void set_curvature(double l, double mu);

  /// Slow progress with y: the constants as they are at (x, y), if they differ from those where they were known;
  /// without products, a larger l if steps go round in circles. False if nothing changed.
  bool fit_constants(const Vec& x, bool circles);

  virtual void estimate(const Vec& x, double sigma) = 0;

  bool alpha_given_;
  Vec before_;
};

}  // namespace hypertape
