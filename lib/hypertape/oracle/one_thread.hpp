#pragma once

#include <atomic>

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

  int threads = 1;  ///< on which long arguments are checked before the one thread goes on

 private:
  std::atomic<const void*> inside_{nullptr};  // the thread that is, by an address of its own
};

}  // namespace hypertape
