#include "hypertape/oracle/linear_operator.hpp"

#include <optional>

#include "hypertape/core/require.hpp"

namespace hypertape {

void LinearOperator::apply(const Vec& v, Vec& out) {
  std::optional<OneThread::Entry> entry;
  if (place_) entry.emplace(*place_);
  require_argument(place_.get(), "linear operator", "v", v, dim());
  require(&v != &out, "linear operator: v and out are the same vector, must be two");
  out.resize(dim());
  do_apply(v, out);
}

Vec LinearOperator::operator()(const Vec& v) {
  Vec out;
  apply(v, out);
  return out;
}

}  // namespace hypertape
