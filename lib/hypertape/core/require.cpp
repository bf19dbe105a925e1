#include "hypertape/core/require.hpp"

#include <cmath>

namespace hypertape {

void require_vector(std::string_view where, std::string_view name, const Vec& v, Index expected) {
  require(v.size() == expected, where, ": ", name, " has ", v.size(), " entries, expected ", expected);
  if (v.allFinite()) return;
  Index i = 0;
  while (std::isfinite(v[i])) ++i;
  require(false, where, ": ", name, "[", i, "] = ", v[i], ", must be finite");
}

}  // namespace hypertape
