#include "hypertape/oracle/one_thread.hpp"

#include <stdexcept>

#include "hypertape/core/require.hpp"

namespace hypertape {

OneThread::Entry::Entry(OneThread& place) : place_(&place) {
  thread_local const char me = 0;
  const void* inside = nullptr;
  if (place.inside_.compare_exchange_strong(inside, &me, std::memory_order_acquire, std::memory_order_relaxed)) return;
  if (inside != &me)
    throw std::logic_error("this oracle is in use by another thread: one oracle serves one thread at a time");
  place_ = nullptr;
}

OneThread::Entry::~Entry() {
  if (place_ != nullptr) place_->inside_.store(nullptr, std::memory_order_release);
}

void require_argument(const OneThread* place, std::string_view where, std::string_view name, const Vec& v,
                      Index expected) {
  if (place != nullptr && place->sizes_only)
    require_size(where, name, v, expected);
  else
    require_vector(where, name, v, expected);
}

}  // namespace hypertape
