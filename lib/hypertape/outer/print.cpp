#include "hypertape/outer/print.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>

#include "hypertape/core/text.hpp"

namespace hypertape {
namespace {

std::string few_digits(double value) {
  std::ostringstream out = text_stream();
  out << std::setprecision(3) << value;
  return out.str();
}

/// Messages of exceptions may have several lines.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string why(const Result& r) {
  return to_string(r.status) + (r.message.empty() ? std::string() : ": " + in_one_line(r.message));
}

std::string where(const Result& r) {
  if (std::isnan(r.gradient_norm)) return "no hypergradient was computed";
  std::string error;
  if (std::isfinite(r.error_estimate)) error = "about " + few_digits(r.error_estimate) + " (estimate)";
  if (std::isfinite(r.error_bound))
    error += (error.empty() ? "" : ", ") + ("at most " + few_digits(r.error_bound) + " (bound)");
  const std::string by = converged_by(r);
  return text("Phi = ", r.phi, ", |u| = ", few_digits(r.gradient_norm),
              error.empty() ? ", of unknown error" : ", its error " + error,
              by.empty()     ? ""
              : by == "rule" ? "; converged by the method's own rule"
                             : "; converged by the " + by);
}

std::string cost(const Result& r) {
  return text(r.counts.total(), " calls (", r.counts.f, " grad f, ", r.counts.g, " grad g, ", r.counts.jv,
              " d2g/dxdy v, ", r.counts.hv, " d2g/dy2 v), ", r.iterations, " iterations, ",
              r.restarts > 0 ? text(r.restarts, " restarts, ") : "", few_digits(r.seconds), " s");
}

}  // namespace

const char* converged_by(const Result& r) {
  if (r.status != Status::converged) return "";
  // Where the hypergradient at x ended the run there is no step beyond it.
  const bool ended_there = r.x.size() == r.last.size() && r.x == r.last;
  if (!ended_there || std::isinf(std::min(r.error_bound, r.error_estimate))) return "rule";
  return r.error_bound <= r.error_estimate ? "bound" : "estimate";
}

std::ostream& operator<<(std::ostream& out, const Result& result) {
  return out << why(result) + "\n" + where(result) + "\n" + cost(result);
}

}  // namespace hypertape
