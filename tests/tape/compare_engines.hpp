#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "hypertape/core/random.hpp"
#include "hypertape/core/text.hpp"
#include "hypertape/tape/taped_problem.hpp"

namespace hypertape::testing {

/// The largest difference between the oracles of two problems at a point, relative to the largest entry of each; not a
/// number where one is not. `worst` tells of which.
class EngineComparison {
 public:
  EngineComparison(TapedProblem& problem, TapedProblem& reference) : problem_(problem), reference_(reference) {}

  double at(const Vec& x, const Vec& y, Random& random) {
    const Vec u = random.normal(x.size()), v = random.normal(y.size());
    see("f", Vec{{problem_.f(x, y)}}, Vec{{reference_.f(x, y)}});
    see("g", Vec{{problem_.g(x, y)}}, Vec{{reference_.g(x, y)}});
    const auto gradients = [&](const char* what, const Gradient& a, const Gradient& b) {
      see(what, Vec{{a.value}}, Vec{{b.value}});
      see(what, a.x, b.x);
      see(what, a.y, b.y);
    };
    gradients("grad_f", problem_.grad_f(x, y), reference_.grad_f(x, y));
    gradients("grad_g", problem_.grad_g(x, y), reference_.grad_g(x, y));
    LinearOperator& h = problem_.curvature_at(x, y);
    const Vec product = reference_.curvature_at(x, y)(v);
    see("curvature", h(v), product);
    const Vec other_y = y + Vec::Constant(y.size(), 0.125);
    try {  // branches may change there
      const Vec wanted = reference_.grad_y_g(x, other_y);
      see("grad_y_g", problem_.grad_y_g(x, other_y), wanted);
    } catch (const FrozenBranch&) {
    }
    see("grad_y_g", problem_.grad_y_g(x, y), reference_.grad_y_g(x, y));
    see("cross", problem_.cross_product(x, y, v), reference_.cross_product(x, y, v));
    see("curvature after other calls", h(v), product);
    see("adjoint_cross", problem_.adjoint_cross_product(x, y, u), reference_.adjoint_cross_product(x, y, u));
    const auto products = [&](const char* what, const HessianProduct& a, const HessianProduct& b) {
      see(what, a.x, b.x);
      see(what, a.y, b.y);
    };
    products("hess_f", problem_.hess_f(x, y, u, v), reference_.hess_f(x, y, u, v));
    products("hess_g", problem_.hess_g(x, y, u, v), reference_.hess_g(x, y, u, v));
    return difference_;
  }

  const std::string& worst() const { return worst_; }

 private:
  void see(const char* what, const Vec& a, const Vec& b) {
    const double scale = std::max(1.0, b.size() > 0 ? b.cwiseAbs().maxCoeff() : 0.0);
    for (Index i = 0; i < b.size(); ++i) {
      const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      const double d = same ? 0 : std::abs(a[i] - b[i]) / scale;
      if (d <= difference_) continue;
      difference_ = d;
      worst_ = text(what, "[", i, "] = ", a[i], ", expected ", b[i]);
    }
  }

  TapedProblem& problem_;
  TapedProblem& reference_;
  double difference_ = 0;
  std::string worst_;
};

}  // namespace hypertape::testing
