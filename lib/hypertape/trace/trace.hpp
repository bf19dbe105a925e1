#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hypertape/outer/solver.hpp"

namespace hypertape {

/// Something worth knowing of a point beside Phi: test accuracy, distance to the optimum. Not counted as oracle calls,
/// and its time is not the solver's.
struct Metric {
  std::string name;
  std::function<double(const Vec& x, const Vec& y)> value;
};

/// One recorded iteration.
struct TraceRow {
  std::string solver;
  int iteration = 0;
  double seconds = 0;
  OracleCounts counts;
  double phi = 0;
  double gradient_norm = 0;
  double error_bound = 0;     ///< of gradient_norm, as in Iterate; infinite if not known
  double error_estimate = 0;  ///< the same
  int restarts = 0;
  std::vector<double> metrics;
};

/// What several runs went through, for tables and plots.
class Trace {
 public:
  explicit Trace(std::vector<Metric> metrics = {}) : metrics_(std::move(metrics)) {}

  /// An observer that records the iterations of a run, of long runs ever fewer: at most about 1,000 rows, evenly
  /// spread. It refers to this object.
  Observer observer(const std::string& solver);

  const std::vector<TraceRow>& rows() const { return rows_; }

  /// The first line names the columns: solver, iteration, seconds, f, g, jv, hv, phi, gradient_norm, error_bound,
  /// error_estimate, restarts, and the metrics. Numbers have a point and all their digits, whatever the locale of
  /// `out`.
  void write_csv(std::ostream& out) const;

 private:
  void thin(const std::string& solver, int every);

  std::vector<Metric> metrics_;
  std::vector<TraceRow> rows_;
};

}  // namespace hypertape
