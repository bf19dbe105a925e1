#include "hypertape/core/parallel.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "hypertape/core/require.hpp"

namespace hypertape {
namespace {

int cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// How often a thread looks for news before it goes to sleep: some ten microseconds, about what waking it costs, so
/// that work that follows at once finds it awake.
constexpr int looks = 1000;

/// Waits until the number is no longer `old`.
void wait_for_change(const std::atomic<int>& number, int old) {
  for (int k = 0; k < looks; ++k) {
    if (number.load(std::memory_order_acquire) != old) return;
    pause();
  }
  number.wait(old, std::memory_order_acquire);
}

/// Threads that help with one job at a time. A job is open while its caller has chunks left; helpers enter it while it
/// is open, and its caller returns when it is closed and the last has left.
class Crew {
 public:
  /// False if another job has the helpers.
  bool run(std::ptrdiff_t count, int threads, detail::ChunkFunction f, void* context) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    hire(threads - 1);
    f_ = f;
    context_ = context;
    count_ = count;
    next_chunk_ = 0;
    next_worker_ = 1;
    workers_ = threads;
    failure_ = nullptr;
    state_.store(open, std::memory_order_release);
    rounds_.fetch_add(1, std::memory_order_release);
    for (int k = 0; k < std::min(threads - 1, hired_); ++k) rounds_.notify_one();
    work(0);
    int state = state_.fetch_and(~open, std::memory_order_acq_rel) & ~open;
    while (state != 0) {  // helpers at work
      wait_for_change(state_, state);
      state = state_.load(std::memory_order_acquire);
    }
    const std::exception_ptr failure = failure_;
    busy_.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
    return true;
  }

 private:
  static constexpr int open = 1 << 30;  // in state_; the rest of it counts helpers at work

  void hire(int wanted) {
    for (; hired_ < wanted; ++hired_) {
      try {
        std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {
        return;  // the system has no more threads: fewer will do
      }
    }
  }

  [[noreturn]] void help() {
    for (int round = 0;;) {
      wait_for_change(rounds_, round);
      round = rounds_.load(std::memory_order_acquire);
      int state = state_.load(std::memory_order_acquire);
      while ((state & open) != 0 && !state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) {
      }
      if ((state & open) == 0) continue;
      const int worker = next_worker_.fetch_add(1, std::memory_order_relaxed);
      if (worker < workers_) work(worker);
      if (state_.fetch_sub(1, std::memory_order_acq_rel) == 1) state_.notify_one();
    }
  }

  void work(int worker) {
    for (std::ptrdiff_t chunk; (chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
      try {
        f_(context_, chunk, worker);
      } catch (...) {
        const std::scoped_lock lock(failing_);
        if (!failure_) failure_ = std::current_exception();
      }
    }
  }

  std::atomic<bool> busy_{false};
  int hired_ = 0;
  std::atomic<int> rounds_{0}, state_{0};

  // The job.
  detail::ChunkFunction f_ = nullptr;
  void* context_ = nullptr;
  std::ptrdiff_t count_ = 0;
  int workers_ = 0;
  std::atomic<std::ptrdiff_t> next_chunk_{0};
  std::atomic<int> next_worker_{0};
  std::mutex failing_;
  std::exception_ptr failure_;
};

/// The crew of this process. Never destroyed: its threads may outlive static variables. A child process after fork()
/// has the memory of its parent's crew without its threads, so it starts with a new one in the same place.
Crew& crew() {
  alignas(Crew) static unsigned char place[sizeof(Crew)];
  static Crew* const the_crew = [] {
    pthread_atfork(nullptr, nullptr, [] { new (place) Crew; });
    return new (place) Crew;
  }();
  return *the_crew;
}

}  // namespace

int usable_threads(int asked) {
  require(asked >= 0, "threads = ", asked, ", must not be negative");
  if (asked > 0) return std::min(asked, max_threads);
  int threads = cores();
  if (const char* const limit = std::getenv("OMP_NUM_THREADS"))
    if (const int n = std::atoi(limit); n > 0) threads = std::min(threads, n);
  return std::min(threads, max_threads);
}

void detail::for_each_chunk(std::ptrdiff_t count, int threads, ChunkFunction f, void* context) {
  threads = static_cast<int>(std::min<std::ptrdiff_t>(std::min(threads, max_threads), count));
  if (threads > 1 && crew().run(count, threads, f, context)) return;
  for (std::ptrdiff_t chunk = 0; chunk < count; ++chunk) f(context, chunk, 0);
}

}  // namespace hypertape
