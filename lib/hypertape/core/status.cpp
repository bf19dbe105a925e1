#include "hypertape/core/status.hpp"

namespace hypertape {

const char* to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::call_limit:
      return "call_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::not_finite:
      return "not_finite";
    case Status::indefinite:
      return "indefinite";
    case Status::diverged:
      return "diverged";
    case Status::flat:
      return "flat";
    case Status::stagnated:
      return "stagnated";
    case Status::interrupted:
      return "interrupted";
    case Status::failed:
      return "failed";
  }
  return "unknown";
}

}  // namespace hypertape
