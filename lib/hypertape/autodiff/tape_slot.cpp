#include "hypertape/autodiff/tape_slot.hpp"

#include <algorithm>
#include <array>

#include "hypertape/autodiff/cppad.hpp"

namespace hypertape {

template <int threads>
void built_with_CPPAD_MAX_NUM_THREADS() {}
template void built_with_CPPAD_MAX_NUM_THREADS<CPPAD_MAX_NUM_THREADS>();

namespace {

constexpr std::size_t slots = CPPAD_MAX_NUM_THREADS;

thread_local std::size_t current_slot = 0;  // 0: a user's own CppAD code, outside any oracle

// CppAD asks this only in its own checks, to refuse what the slots make safe.
bool in_parallel() { return false; }
std::size_t current() { return current_slot; }

struct Registry {
  std::mutex mutex;
  std::array<int, slots> users{};
  std::array<std::recursive_mutex, slots> locks;

  Registry() {
    CppAD::thread_alloc::parallel_setup(slots, in_parallel, current);
    CppAD::thread_alloc::hold_memory(true);
    CppAD::parallel_ad<double>();
    CppAD::parallel_ad<Symbol>();
  }
};

Registry& registry() {
  // Never destroyed: an oracle may be destroyed after the statics of this file.
  static auto* const the_registry = new Registry;
  return *the_registry;
}

}  // namespace

TapeSlot::TapeSlot() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  number_ = static_cast<std::size_t>(std::min_element(r.users.begin() + 1, r.users.end()) - r.users.begin());
  ++r.users[number_];
}

TapeSlot::~TapeSlot() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (--r.users[number_] == 0) {  // nobody else is in it: give its memory back to the system
    const Entry entry(*this);
    CppAD::thread_alloc::free_available(number_);
  }
}

TapeSlot::Entry::Entry(const TapeSlot& slot) : lock_(registry().locks[slot.number_]), outer_(current_slot) {
  current_slot = slot.number_;
}

TapeSlot::Entry::~Entry() { current_slot = outer_; }

}  // namespace hypertape
