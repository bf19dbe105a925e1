#include "drivers/common/parallel.hpp"

#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace hypertape::drivers {

void parallel_for(std::size_t count, int jobs, const std::function<void(std::size_t, int)>& body) {
  std::exception_ptr failure;
#pragma omp parallel for num_threads(jobs) schedule(dynamic, 1) if (jobs > 1)
  for (std::size_t i = 0; i < count; ++i) {
    try {
#ifdef _OPENMP
      body(i, omp_get_thread_num());
#else
      body(i, 0);
#endif
    } catch (...) {
#pragma omp critical(hypertape_parallel_for)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

int cores() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

}  // namespace hypertape::drivers
