#include "hypertape/autodiff/safe_math.hpp"

namespace hypertape {
namespace {

double detached(const double& t) { return t; }
Symbol detached(const Symbol& t) { return t; }

}  // namespace

// CppAD's name for a function whose derivative is zero is "discrete".
CppAD::AD<double> detach(const CppAD::AD<double>& t) {
  static CppAD::discrete<double> function("hypertape::detach", detached);
  return function.ad(t);
}

CppAD::AD<Symbol> detach(const CppAD::AD<Symbol>& t) {
  static CppAD::discrete<Symbol> function("hypertape::detach", detached);
  return function.ad(t);
}

}  // namespace hypertape
