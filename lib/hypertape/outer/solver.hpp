#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "hypertape/core/options.hpp"
#include "hypertape/core/status.hpp"
#include "hypertape/oracle/counting_oracle.hpp"

namespace hypertape {

/// When a run ends. Budgets are kept to the call: a call beyond them is not made.
struct StopRule {
  double tolerance = 1e-6;       ///< epsilon: converged when |u| + its error <= tolerance; 0: never
  double rtol = 0;               ///< or when |u| + its error <= rtol times the first |u|
  int max_iterations = 100'000;  ///< outer iterations
  std::int64_t max_calls = std::numeric_limits<std::int64_t>::max();  ///< Gc(f) + Gc(g) + JV + HV
  double max_seconds = std::numeric_limits<double>::infinity();

  void describe(OptionList& list);
  void check(std::string_view who) const;
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
  double error_bound = 0;    ///< of |u - grad Phi(point)|; infinite if not known
  OracleCounts counts;
  double seconds = 0;
  int restarts = 0;
  double error_estimate = std::numeric_limits<double>::infinity();  ///< as error_bound, from what the run saw
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
  Vec gradient;                                                     ///< u at x; empty if there is none
  double error_bound = std::numeric_limits<double>::infinity();     ///< of |u - grad Phi(x)|
  double error_estimate = std::numeric_limits<double>::infinity();  ///< of the same, from what the run saw
  OracleCounts counts;
  double seconds = 0;
  int iterations = 0;  ///< outer iterations
  int restarts = 0;    ///< or perturbations, for methods without restarts; of `auto` also epochs of RAHGD
};

/// Leaves a solver in place of an exception of the oracle or of the observer, with what the run had reached. What is
/// thrown is also a FrozenBranch, a std::logic_error or else a std::runtime_error, as that exception is one, with its
/// what(). The exception itself is nested: rethrow_nested() throws it again. Before its first hypergradient a run has
/// reached nothing, and exceptions leave it as they are; so does misuse of its options.
class RunFailed : public std::nested_exception {
 public:
  explicit RunFailed(Result so_far) : result(std::move(so_far)) {}
  Result result;  ///< the status is failed, the message what() of the exception
};

}  // namespace hypertape
