#include "hypertape/core/parallel.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hypertape;

namespace {

/// Sums over all chunks, by chunk and by worker; true if every chunk was done once, by a worker that there is.
bool done_once(std::ptrdiff_t count, int threads) {
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(count));
  std::atomic<int> strangers = 0;
  for_each_chunk(count, threads, [&](std::ptrdiff_t chunk, int worker) {
    ++times[static_cast<std::size_t>(chunk)];
    strangers += worker < 0 || worker >= threads;
  });
  for (const auto& t : times)
    if (t != 1) return false;
  return strangers == 0;
}

}  // namespace

TEST_CASE("every chunk is done once, for any number of chunks and threads, many times over") {
  for (int round = 0; round < 200; ++round)
    for (const std::ptrdiff_t count : {0, 1, 2, 3, 16, 100})
      for (const int threads : {1, 2, 3, 16}) REQUIRE(done_once(count, threads));
  CHECK(done_once(1000, 66000));
}

TEST_CASE("several threads are at work at the same time") {
  std::latch all(4);
  for_each_chunk(4, 4, [&](std::ptrdiff_t, int) { all.arrive_and_wait(); });  // would hang with fewer
  CHECK(all.try_wait());
}

TEST_CASE("a call inside a call, and a call beside a call, are done by their own threads") {
  std::atomic<int> inner = 0;
  for_each_chunk(8, 3, [&](std::ptrdiff_t, int) {
    for_each_chunk(5, 3, [&](std::ptrdiff_t, int worker) { inner += 1 + 1000 * (worker != 0); });
  });
  CHECK(inner == 40);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) wrong += !done_once(16, 4);
    });
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("an exception from any chunk is passed on, and the threads go on working") {
  for (const int threads : {1, 4})
    for (int chunk = 0; chunk < 20; ++chunk) {
      CHECK_THROWS_WITH_AS(for_each_chunk(20, threads,
                                          [&](std::ptrdiff_t c, int) {
                                            if (c == chunk) throw std::runtime_error("here");
                                          }),
                           "here", std::runtime_error);
      CHECK(done_once(20, threads));
    }
}

TEST_CASE("a child process works with threads of its own") {
  CHECK(done_once(16, 4));  // the parent has its threads
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // a child that hangs is ended
    bool right = true;
    for (int round = 0; round < 20; ++round) right = done_once(16, 4) && right;
    std::latch all(2);
    for_each_chunk(2, 2, [&](std::ptrdiff_t, int) { all.arrive_and_wait(); });
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(done_once(16, 4));
}

TEST_CASE("threads are as many as asked for, as there are cores, and as are of use") {
  CHECK(usable_threads(1) == 1);
  CHECK(usable_threads(2) == 2);
  CHECK(usable_threads(66000) == max_threads);
  CHECK(usable_threads(0) >= 1);
  CHECK(usable_threads(0) <= max_threads);
  setenv("OMP_NUM_THREADS", "1", 1);
  CHECK(usable_threads(0) == 1);
  CHECK(usable_threads(3) == 3);
  setenv("OMP_NUM_THREADS", "nonsense", 1);
  CHECK(usable_threads(0) >= 1);
  unsetenv("OMP_NUM_THREADS");
  CHECK_THROWS_WITH_AS(usable_threads(-1), "threads = -1, must not be negative", std::invalid_argument);
}
