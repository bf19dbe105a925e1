#pragma once

#include <atomic>
#include <string_view>

#include "hypertape/core/types.hpp"

namespace hypertape {

/// Notices a second thread in what serves one thread at a time.
class OneThread {
 public:
  /// The calling thread is inside while this lives; std::logic_error if another one is. The same thread may go in
  /// again: an oracle may call its own public functions. Costs one atomic exchange.
  class Entry {
   public:
    explicit Entry(OneThread& place);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    OneThread* place_;  // to leave; null if this thread was inside before
  };

  bool sizes_only = false;  ///< of arguments are checked at the entrance: entries are looked at where they are read

 private:
  std::atomic<const void*> inside_{nullptr};  // the thread that is, by an address of its own
};

/// require_vector, or require_size where the place asks for no more; there may be no place.
void require_argument(const OneThread* place, std::string_view where, std::string_view name, const Vec& v,
                      Index expected);

}  // namespace hypertape
