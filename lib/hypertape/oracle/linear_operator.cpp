#include "hypertape/oracle/linear_operator.hpp"

#include <optional>
#include <stdexcept>

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

void LinearOperator::apply(std::span<const Vec> v, std::span<Vec> out) {
  std::optional<OneThread::Entry> entry;
  if (place_) entry.emplace(*place_);
  require(v.size() == out.size(), "linear operator: ", v.size(), " columns, but ", out.size(), " results");
  for (std::size_t k = 0; k < v.size(); ++k) {
    require_argument(place_.get(), "linear operator", text("column ", k), v[k], dim());
    for (const Vec& result : out)
      require(&v[k] != &result, "linear operator: column ", k, " is one of the results, must be another vector");
  }
  for (Vec& result : out) result.resize(dim());
  do_apply_columns(v, out);
}

void LinearOperator::do_apply_columns(std::span<const Vec> v, std::span<Vec> out) {
  for (std::size_t k = 0; k < v.size(); ++k) do_apply(v[k], out[k]);
}

bool LinearOperator::diagonal(Vec& out) {
  if (!has_diagonal()) return false;
  std::optional<OneThread::Entry> entry;
  if (place_) entry.emplace(*place_);
  out.resize(dim());
  do_diagonal(out);
  return true;
}

void LinearOperator::do_diagonal(Vec&) {
  throw std::logic_error("this linear operator has no diagonal, but has_diagonal() is true");
}

}  // namespace hypertape
