#include "hypertape/oracle/one_thread.hpp"

#include <stdexcept>

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

}  // namespace hypertape
