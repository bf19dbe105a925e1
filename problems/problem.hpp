#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hypertape/oracle/bilevel_oracle.hpp"
#include "hypertape/verify/differences.hpp"

namespace hypertape::problems {

/// What is known of a problem in closed form; a function that is empty is not known.
struct ClosedForm {
  std::function<Vec(const Vec& x)> y_star;
  std::function<double(const Vec& x)> phi;
  std::function<Vec(const Vec& x)> grad_phi;
  std::function<Mat(const Vec& x)> hess_phi;
};

/// A best point, where it is known.
struct Optimum {
  Vec x;
  double phi = 0;
};

/// Bounds of the curvature of g in y near the start: mu <= d2g/dy2 <= l.
struct Constants {
  double mu = 0;
  double l = 0;
  double kappa() const { return l / mu; }
};

/// A problem with all that tests, solvers and drivers want to know of it.
struct Problem {
  std::string name;
  std::unique_ptr<BilevelOracle> oracle;
  PlainFunctions plain;
  Point start;
  Constants constants;
  std::optional<Optimum> optimum;
  ClosedForm closed_form;
  bool minimax = false;         ///< g = -f: solvers for minimax problems accept it
  std::vector<Point> branches;  ///< one point in every piece of f and g, where they are defined by pieces
};

}  // namespace hypertape::problems
