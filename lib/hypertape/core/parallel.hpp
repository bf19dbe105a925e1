#pragma once

#include <cstddef>
#include <type_traits>

namespace hypertape {

/// More threads than this are of no use to for_each_chunk.
inline constexpr int max_threads = 16;

/// The threads that a request for `asked` gets: at most max_threads; for 0, as many as there are cores for this
/// process, or OMP_NUM_THREADS where it says less. Throws std::invalid_argument for a negative number.
int usable_threads(int asked);

/// Calls f(chunk, worker) for every chunk < count, on at most `threads` threads of which the caller is one. Workers are
/// numbered from 0 (the caller). An exception is thrown again when no chunk is being worked on any more.
///
/// The other threads are kept asleep between calls, and the caller does not wait for one that has not begun: on a busy
/// machine it does all the work itself. While they are at work, a second call, from another thread or from inside f,
/// uses its own thread alone. A child process after fork() gets threads of its own.
template <class F>
void for_each_chunk(std::ptrdiff_t count, int threads, F&& f);

namespace detail {
using ChunkFunction = void (*)(void* context, std::ptrdiff_t chunk, int worker);
void for_each_chunk(std::ptrdiff_t count, int threads, ChunkFunction f, void* context);
}  // namespace detail

template <class F>
void for_each_chunk(std::ptrdiff_t count, int threads, F&& f) {
  using Callable = std::remove_reference_t<F>;
  detail::for_each_chunk(
      count, threads,
      [](void* context, std::ptrdiff_t chunk, int worker) { (*static_cast<Callable*>(context))(chunk, worker); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace hypertape
