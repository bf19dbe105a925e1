#include "hypertape/outer/imcn.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"
#include "hypertape/hypergradient/minimax.hpp"
#include "hypertape/inner/conjugate_gradient.hpp"
#include "hypertape/outer/step_control.hpp"

namespace hypertape {

namespace {

constexpr std::string_view unread_by_imcn[] = {"most", "c_y"};

}  // namespace

void ImcnOptions::describe(OptionList& list) {
  stop.describe(list);
  lower.describe(list, unread_by_imcn);
  list.add("M", &M, "Lipschitz constant of Hess Phi (auto: measured near the start)");
  list.add("L", &L, "Lipschitz constant of grad Phi (auto: measured near the start)");
  list.add("J", &J, "steps on the cubic model");
  list.add("mu_s", &mu_s, "their length (auto: 1/(20 L))");
  list.add("sigma", &sigma, "noise in the model's gradient");
  list.add("model_rtol", &model_rtol, "steps on the model end at model_rtol |g|");
  list.add("chebyshev", &chebyshev, "inverses by Chebyshev's iteration, not conjugate gradients");
  list.add("seed", &seed, "seed of the noise");
}

namespace {

/// q ~ A^{-1} b by `steps` of Chebyshev's semi-iteration for a spectrum in [mu, l], from zero.
void chebyshev(LinearOperator& A, const Vec& b, double mu, double l, int steps, Vec& q) {
  const double middle = (l + mu) / 2, half = (l - mu) / 2;
  Vec r = b, direction = b / middle, product;
  double rho = half / middle;
  q = direction;
  for (int i = 1; i < steps; ++i) {
    A.apply(direction, product);
    r -= product;
    const double next = 1 / (2 * middle / half - rho);
    direction = next * rho * direction + (2 * next / half) * r;
    rho = next;
    q += direction;
  }
}

/// s |-> H s at (x, y), maths.md (24).
class HessianOfPhi {
 public:
  HessianOfPhi(BilevelOracle& oracle, const ImcnOptions& options) : oracle_(oracle), options_(options) {}

  /// `lower`: between which bounds Chebyshev's iteration works.
  void at(const Vec& x, const Vec& y, const LowerConstants& lower) {
    lower_ = lower;
    x_ = x;
    y_ = y;
    curvature_ = &oracle_.curvature_at(x, y);
    zero_ = Vec::Zero(y.size());
  }

  const CgResult& apply(const Vec& s, Vec& out) {
    oracle_.hess_f(x_, y_, s, zero_, out, unused_);
    oracle_.adjoint_cross_product(x_, y_, s, b_);
    if (options_.chebyshev && lower_.l > lower_.mu) {
      chebyshev(*curvature_, b_, lower_.mu, lower_.l, *options_.lower.products, q_);
    } else {
      q_.setZero(b_.size());
      solved_ = conjugate_gradient(*curvature_, b_, q_, {.max_iterations = *options_.lower.products}, cg_);
    }
    oracle_.cross_product(x_, y_, q_, product_);
    out += product_;
    return solved_;
  }

 private:
  BilevelOracle& oracle_;
  const ImcnOptions& options_;
  LowerConstants lower_;
  LinearOperator* curvature_ = nullptr;
  Vec x_, y_, zero_, unused_, b_, q_, product_;
  CgResult solved_;
  CgWorkspace cg_;
};

/// The cubic model at one point, and its minimisation.
class CubicModel {
 public:
  CubicModel(Run& run, const ImcnOptions& options)
      : run_(run), options_(options), hessian_(run.oracle(), options), random_(options.seed) {}

  /// Finds M and L where they are not given. False if the run is over.
  bool start(MinimaxGradient& estimator, const Vec& x) {
    if (options_.L) {
      L_ = *options_.L;
    } else {
      constexpr double accurate = 0.1;  // of |u|: L is wanted to a digit
      const auto found = find_lipschitz(run_, estimator, x, accurate, options_.seed);
      if (!found) return false;
      L_ = *found;
    }
    M_ = options_.M.value_or(0);
    return options_.M || find_M(estimator, x);
  }

  double M() const { return M_; }

  /// s near argmin g's + s'Hs/2 + M|s|^3/6; false if a product failed.
  bool minimise(const Vec& x, const MinimaxGradient& estimator, const Vec& g, Vec& s) {
    hessian_.at(x, estimator.y(), estimator.constants());
    noisy_ = g;
    const double norm = g.norm(), L = L_, M = M_;
    if (norm >= L * L / M) {
      if (!product(g)) return false;
      const double a = g.dot(Hs_) / (M * norm * norm);
      const double R = -a + std::sqrt(a * a + 2 * norm / M);
      s = -R / norm * g;
      Hs_ *= -R / norm;
      return true;
    }
    if (options_.sigma > 0) {
      gradient_ = random_.normal(g.size());
      noisy_ += options_.sigma / gradient_.norm() * gradient_;
    }
    return steps(options_.J, options_.model_rtol * norm, s.setZero(g.size()));
  }

  /// Gradient steps on the model from s, until its gradient is at most `target`.
  bool steps(int most, double target, Vec& s) {
    const double length = options_.mu_s.value_or(1 / (20 * L_));
    Hs_.setZero(s.size());
    for (int j = 0; j < most; ++j) {
      const double size = s.norm();
      if (size > 0 && !product(s)) return false;
      gradient_ = noisy_ + Hs_ + M_ / 2 * size * s;
      if (gradient_.norm() <= target) return true;
      s -= length * gradient_;
    }
    return true;
  }

  /// What the model promises for s, H s being that of the last product.
  double decrease(const Vec& g, const Vec& s) const {
    return -(g.dot(s) + s.dot(Hs_) / 2 + M_ / 6 * std::pow(s.norm(), 3));
  }

 private:
  /// How much H changes a hundredth away, in three directions: twice the most, since others may be worse; at least as
  /// much as makes the cubic term count at the distance where x doubles.
  bool find_M(MinimaxGradient& estimator, const Vec& x) {
    const double unit = std::sqrt(static_cast<double>(x.size())) + x.norm(), h = 1e-2 * unit;
    M_ = L_ / unit;
    Vec d, before;
    for (int i = 0; i < 3; ++i) {
      d = random_.direction(x.size());
      for (const double t : {0.0, h}) {
        const Vec at = x + t * d;
        estimator.at(at, 0);
        if (!run_.accept(at, estimator, false)) return false;
        hessian_.at(at, estimator.y(), estimator.constants());
        if (!product(d)) return false;
        if (t == 0) before = Hs_;
      }
      M_ = std::max(M_, 2 * (Hs_ - before).norm() / h);
    }
    return true;
  }

  bool product(const Vec& s) {
    const CgResult& solved = hessian_.apply(s, Hs_);
    if (solved.status != Status::indefinite && solved.status != Status::not_finite) return true;
    run_.end(solved.status, "cubic model: " + solved.message);
    return false;
  }

  Run& run_;
  const ImcnOptions& options_;
  HessianOfPhi hessian_;
  Random random_;
  double L_ = 0, M_ = 0;
  Vec noisy_, gradient_, Hs_;
};

}  // namespace

Result imcn(BilevelOracle& oracle, const ImcnOptions& options, const Point& start, const Observer& observer) {
  options.lower.check("imcn", unread_by_imcn);
  const auto positive = [](const char* name, const std::optional<double>& value) {
    require(!value || *value > 0, "imcn: ", name, " = ", value.value_or(0), ", must be positive, or auto");
  };
  positive("M", options.M);
  positive("L", options.L);
  positive("mu_s", options.mu_s);
  require(options.J >= 1, "imcn: J = ", options.J, ", must be at least 1");
  require(options.sigma >= 0, "imcn: sigma = ", options.sigma, ", must not be negative");
  require(options.lower.steps.has_value(), "imcn: steps = auto, must be given");
  require(options.lower.products.has_value(), "imcn: products = auto, must be given");
  require(oracle.has_second_order(), "imcn: needs products with Hess f, which this oracle does not provide");
  return run("imcn", oracle, options.stop, start, observer, [&](Run& run) {
    MinimaxGradient estimator(run.oracle(), options.lower, run.start(), options.seed);
    CubicModel model(run, options);
    Vec x = run.start().x, s;
    if (!model.start(estimator, x)) return;
    for (;;) {
      const Hypergradient& h = estimator.at(x, 0);
      if (!run.accept(x, estimator, false)) return;
      const double enough = std::sqrt(std::pow(run.tolerance(), 3) / model.M()) / 128;
      if (!model.minimise(x, estimator, h.u, s)) return;
      const double promised = model.decrease(h.u, s);
      const bool last = run.certified() && promised < enough;
      if (last && !model.steps(10 * options.J, run.tolerance() / 2, s)) return;
      x += s;
      if (!run.step(x)) return;
      if (last) {
        run.end(Status::converged, text("the cubic model promises ", promised, ", less than ", enough));
        return;
      }
    }
  });
}

}  // namespace hypertape
