#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hypertape/core/options.hpp"

namespace hypertape {

/// How the lower level, and the linear system that comes with it, are solved. What is not given is found out.
struct LowerOptions {
  std::optional<double> mu{};     ///< strong convexity of g in y, mu > 0; measured where it is needed
  std::optional<double> l{};      ///< smoothness of g in y, l >= mu; measured where it is needed
  std::optional<double> alpha{};  ///< step for y, 0 < alpha < 2/l; 1/l
  std::optional<double> beta{};   ///< momentum for y, 0 <= beta < 1; (sqrt(kappa) - 1)/(sqrt(kappa) + 1)
  std::optional<int> steps{};     ///< T or D >= 1: steps for y from one hypergradient to the next; until certified
  std::optional<int> products{};  ///< T' or N >= 1: conjugate gradient steps for v; until certified
  std::optional<int> most{};      ///< iteration cap where an accuracy decides; 10,000
  std::optional<double> cross{};  ///< norm of d2g/dxdy, cross >= 0; energy gains are measured instead, maths.md (16)
  std::optional<double> c_y{};    ///< Lipschitz constant of the hypergradient in y, maths.md (17); likewise

  /// Options that a solver has no use for, by name.
  using Unread = std::span<const std::string_view>;

  /// Lists the options that are read.
  void describe(OptionList& list, Unread unread = {});

  /// Throws std::invalid_argument for a value outside its range, and for an option that `who` does not read.
  void check(std::string_view who, Unread unread = {}) const;
};

}  // namespace hypertape
