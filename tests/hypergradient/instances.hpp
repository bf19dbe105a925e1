#pragma once

#include <doctest/doctest.h>

#include "hypertape/inner/newton.hpp"
#include "hypertape/lower/lower_options.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"

namespace hypertape::testing {
/// A random quadratic with its constants, which are exact: grad Phi as a function of y is D x + C'A^-1 (y - d).
struct Instance {
  problems::Quadratic q;
  problems::Problem problem;
  LowerOptions exact;

  explicit Instance(double kappa, std::uint64_t seed = 1)
      : q(problems::generate_quadratic({.kappa = kappa, .seed = seed})), problem(problems::make_quadratic(q)) {
    exact.mu = problem.constants.mu;
    exact.l = problem.constants.l;
    exact.cross = problems::norm2(q.C);
    exact.c_y = *exact.cross / *exact.mu;
  }
};

/// grad Phi of an oracle that has no closed form: differences of x -> f(x, y*(x)), y* by Newton's method.
inline Vec differences_of_phi(BilevelOracle& oracle, const Vec& x) {
  const auto phi = [&](const Vec& at) {
    Vec y = Vec::Zero(oracle.dims().y);
    REQUIRE(newton(oracle, at, y, {.tolerance = 1e-14}).status == Status::converged);
    return oracle.f(at, y);
  };
  Vec gradient(x.size());
  const double h = 1e-3;  // four values: the error is about h^4, rounding 1e-16 / h
  for (Index i = 0; i < x.size(); ++i) {
    const Vec e = h * Vec::Unit(x.size(), i);
    gradient[i] = (8 * (phi(x + e) - phi(x - e)) - (phi(x + 2 * e) - phi(x - 2 * e))) / (12 * h);
  }
  return gradient;
}

/// Where HandWrittenOracle is curved in every way.
inline const Vec x_nonlinear{{0.7, -0.4, 0.3}};

}  // namespace hypertape::testing
