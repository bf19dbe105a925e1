#include "hypertape/lower/lower_options.hpp"

#include <algorithm>

#include "hypertape/core/require.hpp"

namespace hypertape {

void LowerOptions::describe(OptionList& list, Unread unread) {
  const auto add = [&](std::string_view name, OptionList::Field field, std::string_view help) {
    if (std::find(unread.begin(), unread.end(), name) == unread.end()) list.add(name, field, help);
  };
  add("mu", &mu, "strong convexity of g in y (auto: the problem's, or measured)");
  add("l", &l, "smoothness of g in y (auto: the problem's, or measured)");
  add("alpha", &alpha, "step for y (auto: 1/l)");
  add("beta", &beta, "momentum for y (auto: from mu and l)");
  add("steps", &steps, "T, D: steps for y (auto: until certified)");
  add("products", &products, "T', N: conjugate gradient steps for v (auto: until certified)");
  add("most", &most, "iteration cap where an accuracy decides (auto: 10,000)");
  add("cross", &cross, "norm of d2g/dxdy (auto: what bounds need of it is measured)");
  add("c_y", &c_y, "Lipschitz constant of the hypergradient in y (auto: what bounds need of it is measured)");
}

void LowerOptions::check(std::string_view who, Unread unread) const {
  const auto positive = [&](const char* name, const auto& value) {
    require(!value || *value > 0, who, ": ", name, " = ", value.value_or(0), ", must be positive, or auto");
  };
  positive("mu", mu);
  positive("l", l);
  require(!mu || !l || *l >= *mu, who, ": l = ", l.value_or(0), ", must be at least mu = ", mu.value_or(0));
  positive("alpha", alpha);
  require(!beta || (*beta >= 0 && *beta < 1), who, ": beta = ", beta.value_or(0), ", must satisfy 0 <= beta < 1");
  positive("steps", steps);
  positive("products", products);
  positive("most", most);
  const auto not_negative = [&](const char* name, const auto& value) {
    require(!value || *value >= 0, who, ": ", name, " = ", value.value_or(0), ", must not be negative");
  };
  not_negative("cross", cross);
  not_negative("c_y", c_y);

  LowerOptions all = *this;
  OptionList list;
  all.describe(list);
  for (const auto& option : list.options())
    require(std::find(unread.begin(), unread.end(), option.name) == unread.end() || to_string(option.field) == "auto",
            who, ": ", option.name, " = ", to_string(option.field), ", which ", who, " has no use for");
}

}  // namespace hypertape
