#pragma once

#include <cstddef>
#include <functional>

namespace hypertape::drivers {

/// Calls body(i, job) for every i < count, as many at the same time as there are jobs, each job by its number. What the
/// body calls runs on one thread where jobs > 1. The first exception is thrown again when all calls have ended.
void parallel_for(std::size_t count, int jobs, const std::function<void(std::size_t, int)>& body);

/// The threads that OpenMP would use, 1 without it.
int cores();

}  // namespace hypertape::drivers
