#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "hypertape/core/options.hpp"
#include "hypertape/core/status.hpp"
#include "hypertape/oracle/counting_oracle.hpp"

namespace hypertape {

/// When a run ends. Budgets are kept to the call: a call beyond them is not made.
struct StopRule {
  double tolerance = 1e-6;       ///< epsilon: converged when |u| + its error bound <= tolerance; 0: never
  int max_iterations = 100'000;  ///< outer iterations
  std::int64_t max_calls = std::numeric_limits<std::int64_t>::max();  ///< Gc(f) + Gc(g) + JV + HV
  double max_seconds = std::numeric_limits<double>::infinity();

  void describe(OptionList& list);
};

/// One outer iteration, as an observer sees it. References are valid during the call only.
struct Iterate {
  int iteration = 0;  ///< outer iterations done
  const Vec& x;       ///< the next iterate
  const Vec& point;   ///< where the hypergradient was taken: what follows is about this point
  const Vec& y;       ///< near y*(point)
  const Vec& u;       ///< near grad Phi(point)
  double phi = 0;
  double gradient_norm = 0;  ///< |u|
  double error_bound = 0;    ///< of |u - grad Phi(point)|
  OracleCounts counts;
  double seconds = 0;
  int restarts = 0;
};

/// Called once for each outer iteration, and once more at the point where a run converged; returning false ends the run
/// with Status::interrupted. Its time is neither measured nor limited.
using Observer = std::function<bool(const Iterate&)>;

/// How a run ended, and where.
struct Result {
  Status status = Status::iteration_limit;
  std::string message;
  Vec x;        ///< the last point where the hypergradient was computed; the start if there is none
  Vec y;        ///< near y*(x)
  Vec last;     ///< the last iterate: a step beyond x unless the hypergradient at x ended the run
  Vec average;  ///< the paper's averaged output w-hat of the last epoch that was long enough; empty unless K is given
  double phi = std::numeric_limits<double>::quiet_NaN();            ///< estimate of Phi(x)
  double gradient_norm = std::numeric_limits<double>::quiet_NaN();  ///< |u| at x
  double error_bound = std::numeric_limits<double>::infinity();     ///< of |u - grad Phi(x)|
  OracleCounts counts;
  double seconds = 0;
  int iterations = 0;  ///< outer iterations
  int restarts = 0;    ///< or perturbations, for methods without restarts
};

}  // namespace hypertape
