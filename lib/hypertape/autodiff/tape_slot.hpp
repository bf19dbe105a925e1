#pragma once

#include <cstddef>
#include <mutex>

namespace hypertape {

/// CppAD's memory and its recordings belong to a "thread number". Here that number belongs to an oracle, not to a
/// thread: an oracle enters its slot for the time of a call, whichever thread makes it. So an oracle can be made in one
/// thread and used in another, and separate oracles never share memory. CppAD has a fixed number of slots; oracles
/// beyond it share, and take turns.
class TapeSlot {
 public:
  /// Sets CppAD up on first use, then takes the slot that the fewest oracles use.
  TapeSlot();
  ~TapeSlot();
  TapeSlot(const TapeSlot&) = delete;
  TapeSlot& operator=(const TapeSlot&) = delete;

  /// While it lives, this thread works in the slot. Entering again, or another slot inside, is fine.
  class Entry {
   public:
    explicit Entry(const TapeSlot& slot);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    std::unique_lock<std::recursive_mutex> lock_;
    std::size_t outer_;
  };

  Entry enter() const { return Entry(*this); }

 private:
  std::size_t number_;
};

}  // namespace hypertape
