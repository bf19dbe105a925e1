#pragma once

// Building blocks for functions of data, for any scalar: exact in all derivatives at extreme arguments, where the
// formulas one would write down overflow, or lose their derivatives without a word.

#include "hypertape/autodiff/cppad.hpp"
#include "hypertape/autodiff/select.hpp"
#include "hypertape/core/types.hpp"

namespace hypertape {

/// The value, as a constant: its derivatives are zero. For shifts that cancel exactly, such as those below.
inline double detach(double t) { return t; }
CppAD::AD<double> detach(const CppAD::AD<double>& t);
CppAD::AD<Symbol> detach(const CppAD::AD<Symbol>& t);

/// log sum_j exp(z_j), shifted by the largest z_j: finite for every finite z, with the softmax as its gradient.
template <class Vector>
auto log_sum_exp(const Vector& z) {
  using std::exp, std::log;
  using S = std::decay_t<decltype(z[0])>;
  S largest = z[0];
  for (Index j = 1; j < z.size(); ++j) largest = max(largest, z[j]);
  const S shift = detach(largest);
  S sum = exp(z[0] - shift);
  for (Index j = 1; j < z.size(); ++j) sum += exp(z[j] - shift);
  return S(shift + log(sum));
}

/// Cross-entropy of softmax(z) against the class `label` (0, 1, ..., which may be data of the row).
template <class Vector, class Label>
auto softmax_cross_entropy(const Vector& z, const Label& label) {
  using S = std::decay_t<decltype(z[0])>;
  S right(0.0);
  for (Index j = 0; j < z.size(); ++j) right += select(equal(S(label), static_cast<double>(j)), 1.0, 0.0) * z[j];
  return S(log_sum_exp(z) - right);
}

/// 1 / (1 + exp(-t)): each side of zero by the form whose derivatives keep all their digits there.
template <class S>
S sigmoid(const S& t) {
  using std::exp;
  const S negative = min(t, 0.0), positive = select(less(t, 0.0), 0.0, t);
  const S e = exp(negative);
  return select(less(t, 0.0), e / (1.0 + e), 1.0 / (1.0 + exp(-positive)));
}

/// log(1 + exp(t)), likewise.
template <class S>
S log1p_exp(const S& t) {
  using std::exp, std::log1p;
  const S negative = min(t, 0.0), positive = select(less(t, 0.0), 0.0, t);
  return select(less(t, 0.0), log1p(exp(negative)), positive + log1p(exp(-positive)));
}

}  // namespace hypertape
