#pragma once

#include <functional>
#include <optional>

#include "hypertape/hypergradient/estimator.hpp"
#include "hypertape/theory/constants.hpp"
#include "hypertape/theory/parameters.hpp"

namespace hypertape {

/// A point and its hypergradient.
struct Visited {
  Vec x;
  Hypergradient h;
  double phi_error = 0;  ///< of h.phi, estimated
};

/// The guarantee of RAHGD under steps that have none, maths.md (28): a block of steps must bring a tenth of what as
/// many steps of RAHGD would, and one that does not is followed by an epoch. L and rho, the Lipschitz constants of grad
/// Phi and of Hess Phi, are learned from the points that steps visit, and from epochs that fall short. Costs nothing
/// but these epochs.
class Floor {
 public:
  /// Steps of a block: L-BFGS has begun to learn by then.
  static constexpr int block = 10;

  /// Learns from two points of a run; what may be their errors does not count.
  void learn(const Visited& a, const Visited& b);

  /// The fall of Phi that `steps` steps must bring while |u| is at least `norm`. Nothing while L is not known.
  double due(double norm, int steps) const;

  /// Completes a point: the hypergradient at point.x to an error of about sigma. Its status says whether that failed.
  using Look = std::function<void(Visited& point, double sigma)>;

  /// Epochs from `start` until one brings a fall that can be seen: first as RAHGD is recommended, with a restart by
  /// gradient; if that falls short, as theorem 3.4 has it, with constants that grow until it does not. Returns its last
  /// point. Nothing if none lowers Phi by more than errors hide. `retry` is called before each but the first.
  std::optional<Visited> descend(const Visited& start, const Look& look, const std::function<void()>& retry);

  double L() const { return L_; }
  double rho() const { return rho_; }

 private:
  struct Plan {
    theory::PhiConstants constants;
    theory::RahgdParameters parameters;
  };
  Plan theorem(double norm) const;

  /// One epoch with these parameters, or until u'(x_{k+1} - x_k) > 0 where `by_gradient`, with momentum k/(k + 3) then.
  /// Nothing if a look failed, or showed that L is larger.
  std::optional<Visited> epoch(const Visited& start, const theory::RahgdParameters& p, bool by_gradient,
                               const Look& look, int& steps);

  double L_ = 0, rho_ = 0;
};

}  // namespace hypertape
