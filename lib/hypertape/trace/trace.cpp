#include "hypertape/trace/trace.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <ostream>

#include "hypertape/core/text.hpp"

namespace hypertape {

Observer Trace::observer(const std::string& solver) {
  struct State {
    int every = 1;
    std::size_t rows = 0;
  };
  constexpr std::size_t most = 2000;
  return [this, solver, state = std::make_shared<State>()](const Iterate& i) {
    if (i.iteration % state->every != 0) return true;
    TraceRow row{solver,          i.iteration,   i.seconds,        i.counts,   i.phi,
                 i.gradient_norm, i.error_bound, i.error_estimate, i.restarts, {}};
    for (const Metric& metric : metrics_) row.metrics.push_back(metric.value(i.point, i.y));
    rows_.push_back(std::move(row));
    if (++state->rows > most) {
      state->every *= 2;
      thin(solver, state->every);
      state->rows = static_cast<std::size_t>(
          std::count_if(rows_.begin(), rows_.end(), [&](const TraceRow& r) { return r.solver == solver; }));
    }
    return true;
  };
}

void Trace::thin(const std::string& solver, int every) {
  std::erase_if(rows_, [&](const TraceRow& r) { return r.solver == solver && r.iteration % every != 0; });
}

void Trace::write_csv(std::ostream& out) const {
  std::ostringstream csv = text_stream();
  csv << "solver,iteration,seconds,f,g,jv,hv,phi,gradient_norm,error_bound,error_estimate,restarts";
  for (const Metric& metric : metrics_) csv << ',' << metric.name;
  csv << '\n';
  csv.precision(std::numeric_limits<double>::max_digits10);
  for (const TraceRow& r : rows_) {
    csv << r.solver << ',' << r.iteration << ',' << r.seconds << ',' << r.counts.f << ',' << r.counts.g << ','
        << r.counts.jv << ',' << r.counts.hv << ',' << r.phi << ',' << r.gradient_norm << ',' << r.error_bound << ','
        << r.error_estimate << ',' << r.restarts;
    for (const double value : r.metrics) csv << ',' << value;
    csv << '\n';
  }
  out << csv.str();
}

}  // namespace hypertape
