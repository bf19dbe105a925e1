#pragma once

namespace hypertape::testing {

/// Allocations made by this thread so far, through operator new or malloc (Eigen's).
long allocations();

}  // namespace hypertape::testing
