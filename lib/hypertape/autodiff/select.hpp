#pragma once

// Branches that a tape can follow. An `if`, a `?:` or std::max on values of x or y is decided once, while the function
// is taped, and stays that way; these decide anew at every point:
//
//   select(less(t, 0.0), -t, t)        the second argument where t < 0, the third elsewhere
//   max(a, b)   min(a, b)   clamp(t, low, high)
//
// Both alternatives are computed at every point; one that is infinite or not a number where it is not selected does no
// harm to values or derivatives.

#include <type_traits>

#include "hypertape/autodiff/cppad.hpp"

namespace hypertape {

enum class Comparison { less, less_equal, equal, greater_equal, greater };

/// `left comparison right`, not yet decided.
template <class S>
struct Condition {
  Comparison comparison;
  S left;
  S right;
};

/// The scalar of an expression that mixes a scalar type with plain numbers.
template <class A, class B>
using CommonScalar =
    std::conditional_t<std::is_arithmetic_v<A>, std::conditional_t<std::is_arithmetic_v<B>, double, B>, A>;

#define HYPERTAPE_COMPARISON(name)                                    \
  template <class A, class B>                                         \
  Condition<CommonScalar<A, B>> name(const A& left, const B& right) { \
    using S = CommonScalar<A, B>;                                     \
    return {Comparison::name, S(left), S(right)};                     \
  }
HYPERTAPE_COMPARISON(less)
HYPERTAPE_COMPARISON(less_equal)
HYPERTAPE_COMPARISON(equal)
HYPERTAPE_COMPARISON(greater_equal)
HYPERTAPE_COMPARISON(greater)
#undef HYPERTAPE_COMPARISON

/// Decided now; what is not constant freezes a branch.
template <class S>
bool decided(Comparison comparison, const S& left, const S& right) {
  switch (comparison) {
    case Comparison::less:
      return left < right;
    case Comparison::less_equal:
      return left <= right;
    case Comparison::equal:
      return left == right;
    case Comparison::greater_equal:
      return left >= right;
    default:
      return left > right;
  }
}

inline double select_scalar(const Condition<double>& c, double if_true, double if_false) {
  return decided(c.comparison, c.left, c.right) ? if_true : if_false;
}

template <class Base>
CppAD::AD<Base> select_scalar(const Condition<CppAD::AD<Base>>& c, const CppAD::AD<Base>& if_true,
                              const CppAD::AD<Base>& if_false) {
  // CppAD would make a constant of what is selected, and lose its derivatives.
  if (CppAD::IdenticalCon(c.left) && CppAD::IdenticalCon(c.right))
    return decided(c.comparison, c.left, c.right) ? if_true : if_false;
  switch (c.comparison) {
    case Comparison::less:
      return CppAD::CondExpLt(c.left, c.right, if_true, if_false);
    case Comparison::less_equal:
      return CppAD::CondExpLe(c.left, c.right, if_true, if_false);
    case Comparison::equal:
      return CppAD::CondExpEq(c.left, c.right, if_true, if_false);
    case Comparison::greater_equal:
      return CppAD::CondExpGe(c.left, c.right, if_true, if_false);
    case Comparison::greater:
      return CppAD::CondExpGt(c.left, c.right, if_true, if_false);
  }
  return if_false;
}

/// if_true where the condition holds at the point of evaluation, if_false elsewhere (and where a side is not a number).
template <class S, class A, class B>
S select(const Condition<S>& condition, const A& if_true, const B& if_false) {
  return select_scalar(condition, S(if_true), S(if_false));
}

template <class A, class B>
CommonScalar<A, B> max(const A& a, const B& b) {
  return select(less(a, b), b, a);
}

template <class A, class B>
CommonScalar<A, B> min(const A& a, const B& b) {
  return select(less(b, a), b, a);
}

template <class S, class A, class B>
S clamp(const S& t, const A& low, const B& high) {
  return max(low, min(t, high));
}

}  // namespace hypertape
