#include "hypertape/outer/floor.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/outer/epoch.hpp"

namespace hypertape {
namespace {

// Epochs for |grad Phi| <= epsilon end where |grad Phi| <= 81.4 epsilon, maths.md (38), if not with a fall of Phi. So
// this part of |u| is what those of the theorem are made for.
constexpr double part = 1.0 / 82;

// What part of the fall that RAHGD promises is asked for. Its promise is then kept at ten times the number of steps; a
// half would have RAHGD run beside L-BFGS on hypercleaning, at three times the calls for the same fall.
constexpr double share = 0.1;

// Steps of an epoch by gradient, and of the theorem's while no third derivative was seen: where rho seems to be zero it
// would go on for ever. A thousand steps are as good as any for conditions up to a million.
constexpr int usual = 50;
constexpr double longest = 1000;

// At each failure rho grows sixteenfold, which makes epochs half as long, or else L twofold: twenty are enough for ten
// halvings and for an L that is a thousand times too small.
constexpr int most_failures = 20;

}  // namespace

void Floor::learn(const Visited& a, const Visited& b) {
  const Vec d = b.x - a.x;
  const double length = d.norm(), errors = a.h.error_estimate + b.h.error_estimate;
  if (!(length > 0)) return;
  // Estimates of errors may be ten times too small.
  const double change = (b.h.u - a.h.u).norm();
  if (10 * errors < change) L_ = std::max(L_, (change - errors) / length);
  // The trapezoidal rule for the change of Phi is off by at most rho |d|^3 / 12. Where that is less than a hundredth of
  // the change, errors that are larger than their estimates may be all of it.
  const double fall = a.h.phi - b.h.phi, off = std::abs(fall + 0.5 * d.dot(a.h.u + b.h.u));
  const double rounding = 1e-13 * (std::abs(a.h.phi) + std::abs(b.h.phi));
  const double known = off - 10 * (a.phi_error + b.phi_error) - 5 * length * errors - rounding;
  if (known > 0.01 * std::abs(fall)) rho_ = std::max(rho_, 12 * known / (length * length * length));
}

Floor::Plan Floor::theorem(double norm) const {
  // (36) has 1 / theta_0 = (L^2 / (rho epsilon))^{1/4} / 2, which is to be between 1 and the longest epoch.
  const double epsilon = part * norm, largest = L_ * L_ / (16 * epsilon);
  const double least = largest / std::pow(rho_ > 0 ? longest : usual, 4);
  const theory::PhiConstants constants{L_, std::clamp(rho_, least, largest)};
  return {constants, theory::rahgd_parameters(constants, epsilon)};
}

double Floor::due(double norm, int steps) const {
  if (!(L_ > 0) || !(norm > 0)) return 0;
  const auto [constants, p] = theorem(norm);
  const double by_epoch = theory::epoch_decrease(constants, p) * std::min(1.0, steps / (1.0 * p.K));
  return share * std::max(by_epoch, steps * norm * norm / (2 * L_));
}

std::optional<Visited> Floor::epoch(const Visited& start, const theory::RahgdParameters& p, bool by_gradient,
                                    const Look& look, int& steps) {
  Epoch epoch(start.x);
  Visited before, here = start;
  for (bool over = false; !over;) {
    epoch.descend(p.eta, here.h.u);
    steps = epoch.steps();
    over = steps == p.K || (by_gradient ? here.h.u.dot(epoch.x() - epoch.x_previous()) > 0 : epoch.has_gone(p.B));
    std::swap(before, here);
    here.x = over ? epoch.x() : epoch.extrapolate(by_gradient ? steps / (steps + 3.0) : 1 - p.theta);
    look(here, p.sigma);
    if (here.h.status != Status::converged) return std::nullopt;
    const double L = L_;
    learn(before, here);
    if (L_ > 1.5 * L) return std::nullopt;  // for what was seen the steps were too long
  }
  return here;
}

std::optional<Visited> Floor::descend(const Visited& start, const Look& look, const std::function<void()>& retry) {
  const double norm = start.h.norm;
  // Where nothing is known, the first step is a quarter of the length of x, or of one in each entry.
  if (!(L_ > 0)) L_ = norm / (std::sqrt(static_cast<double>(start.x.size())) + start.x.norm());
  // What rounding hides cannot be verified.
  if (due(norm, usual) <= start.phi_error + 1e-15 * std::abs(start.h.phi)) return std::nullopt;
  bool by_gradient = true;
  for (int failures = 0; failures < most_failures; ++failures) {
    if (failures > 0) retry();
    theory::RahgdParameters p = theorem(norm).parameters;
    if (by_gradient) {
      p.K = usual;
      p.sigma = 0.1 * norm;
    }
    const double L = L_;
    int steps = 0;
    const auto end = epoch(start, p, by_gradient, look, steps);
    const double fall = end ? start.h.phi - end->h.phi : 0;
    // An epoch of the theorem that uses all its steps may have come to where |grad Phi| is small instead.
    const bool enough = end && (fall >= due(norm, steps) || (!by_gradient && steps == p.K && end->h.norm <= norm));
    if (!enough && L_ == L) {
      if (!by_gradient && p.K > 1)
        rho_ = 16 * theorem(norm).constants.rho;
      else if (!by_gradient || !end)
        L_ *= 2;
      by_gradient = false;
    }
    if (end && fall > start.phi_error + end->phi_error) return end;
  }
  return std::nullopt;
}

}  // namespace hypertape
