#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "hypertape/core/status.hpp"
#include "hypertape/lower/accelerated_lower.hpp"

namespace hypertape {

/// An estimate u of grad Phi at a point, and what is known of its error.
struct Hypergradient {
  Vec u;
  double norm = 0;                                               ///< |u|
  double phi = 0;                                                ///< estimate of Phi, maths.md (19) where it is free
  double correction = std::numeric_limits<double>::infinity();   ///< by which f was corrected to phi; infinite if not
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
  virtual ~HypergradientEstimator() = default;

  /// Where an accuracy decides, |u - grad Phi| <= sigma is what is certified; with an infinite sigma nothing is.
  const Hypergradient& at(const Vec& x, double sigma);

  const Hypergradient& last() const { return result_; }

  virtual const Vec& y() const = 0;

  /// Forgets all but y, from where the next solve starts.
  virtual void restart_from(const Vec& y) = 0;

  /// y <- `steps` steps on g(x, .) from zero: the cold start that the paper prints at every restart. False if it
  /// failed, which last() then says.
  virtual bool solve_cold(const Vec& x, int steps) = 0;

  /// Whether an accuracy decides how long the solves take, rather than a count.
  virtual bool adapts() const { return false; }

  /// Ignore `steps` and `products` for now, and solve to certified accuracy; or no longer. Has an effect on estimators
  /// that know their error bound and can solve to any accuracy.
  virtual void set_accurate(bool) {}

  /// Correct phi, maths.md (19), also where that takes a gradient of g more; or no longer.
  virtual void set_corrected(bool) {}

  /// Puts the error bound of the last hypergradient, which was at x, to the test: all that it is made of is measured
  /// anew there. y stays as it is.
  void certify(const Vec& x);

  /// What the user gave that was proved wrong, in words; empty if nothing was.
  virtual std::string warning() const { return {}; }

 protected:
  /// Says in the result that a part failed.
  bool fail(Status status, const std::string& message);

  Hypergradient result_;

 private:
  virtual void estimate(const Vec& x, double sigma) = 0;

  /// Sets the error bound. False, and said in the result, if something failed.
  virtual bool bound_again(const Vec&) { return true; }
};

/// What the estimators share that find y by gradient descent.
class DescentEstimator : public HypergradientEstimator {
 public:
  const Vec& y() const override { return lower_.y(); }
  void restart_from(const Vec& y) override { lower_.set_y(y); }
  bool solve_cold(const Vec& x, int steps) override;
  bool adapts() const override { return !lower_.is_counted(); }
  void set_accurate(bool accurate) override { lower_.set_accurate(accurate); }
  std::string warning() const override { return lower_.warning(); }

  /// What is known of g by now.
  const LowerConstants& constants() const { return lower_.constants(); }

 protected:
  /// Refers to `oracle`. What the options leave open is measured when it is first needed.
  DescentEstimator(BilevelOracle& oracle, const LowerOptions& options, const Point& start,
                   AcceleratedLower::Products products, std::uint64_t seed)
      : oracle_(oracle), lower_(oracle, options, start, products, seed) {}

  /// Solves for y; half of sigma, or all of it, may be the error that y makes: gain |y - y*| <= share sigma in the
  /// energy norm, maths.md (16). False, and said in the result, if that failed.
  bool solve_lower(const Vec& x, double sigma, double share, double LowerConstants::*gain);

  /// grad f at (x, y); false, and said in the result, if it is not finite.
  bool evaluate_upper(const Vec& x, const Vec& y);

  /// Takes over what the lower solver says.
  bool lower_failed() { return fail(lower_.status(), lower_.message()); }

  /// maths.md (16), for errors of y and of v in the energy norm: an estimate if the gains were measured elsewhere, and
  /// a bound if they hold at x; infinite if they are not known.
  void bound_error(const Vec& x, double energy_y, double energy_v);

  /// How large (d2g/dy2)^-1 b can be in the energy norm for a |b|; and about how large it is for a b, by up to 60 HV.
  double energy(double residual) const;
  double energy(const Vec& x, const Vec& b);

  BilevelOracle& oracle_;
  AcceleratedLower lower_;
  Vec gx_, gy_;

 private:
  int calls_ = 0;  // of hypergradients for which an accuracy decided
  Vec scratch_;
};

}  // namespace hypertape
