#include "contract/allocations.hpp"

#include <cstddef>

namespace {
thread_local long count = 0;
}

// malloc itself is replaced, so that operator new and Eigen's own allocations are both seen.
extern "C" void* __libc_malloc(std::size_t size);

#if !defined(__SANITIZE_ADDRESS__)
extern "C" void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
#endif

namespace hypertape::testing {

long allocations() { return count; }

}  // namespace hypertape::testing
