#include "hypertape/outer/run.hpp"

#include <doctest/doctest.h>

#include <new>
#include <stdexcept>

#include "hypertape/outer/rahgd.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/throwing_oracle.hpp"

using namespace hypertape;
using testing::HandWrittenOracle;
using testing::ThrowingOracle;

namespace {

const Point start{Vec::Zero(3), Vec::Zero(3)};
constexpr int late = 200;  // a call in the middle of the run below

Result solve(BilevelOracle& oracle, const Observer& observer = {}) {
  return rahgd(oracle, {.stop = {.tolerance = 1e-10}, .outer = {.eta = 0.05}}, start, observer);
}

/// Runs until the oracle throws; the exception that comes out must be both an Outer and a RunFailed.
template <class Outer>
void check_failure(const std::function<void()>& throws, const char* message) {
  HandWrittenOracle oracle;
  ThrowingOracle throwing(oracle, late, throws);
  try {
    solve(throwing);
    FAIL("no exception");
  } catch (const Outer& error) {
    CHECK(std::string(error.what()) == message);
    const auto* failed = dynamic_cast<const RunFailed*>(&error);
    REQUIRE(failed != nullptr);
    CHECK(failed->result.status == Status::failed);
    CHECK(failed->result.message == message);
    CHECK(failed->result.iterations > 0);
    CHECK(failed->result.counts.total() > late / 2);
  }
}

struct Mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("an exception in a run is caught by its kind, or with the result so far") {
  check_failure<FrozenBranch>([] { throw FrozenBranch("y < 0"); }, "y < 0");
  check_failure<std::logic_error>([] { throw std::invalid_argument("no such row"); }, "no such row");
  check_failure<std::runtime_error>([] { throw Mine("disk full"); }, "disk full");
  check_failure<std::runtime_error>([] { throw std::bad_alloc(); }, std::bad_alloc().what());
  check_failure<std::exception>([] { throw 7; }, "an exception that is not a std::exception");
}

TEST_CASE("the exception itself is nested") {
  HandWrittenOracle oracle;
  ThrowingOracle throwing(oracle, late, [] { throw Mine("disk full"); });
  try {
    solve(throwing);
    FAIL("no exception");
  } catch (const RunFailed& failed) {
    CHECK_THROWS_WITH_AS(failed.rethrow_nested(), "disk full", Mine);
  }
}

TEST_CASE("before the first hypergradient there is nothing to carry, and an exception leaves as it is") {
  HandWrittenOracle oracle;
  ThrowingOracle throwing(oracle, 1, [] { throw Mine("no data"); });
  CHECK_THROWS_AS(solve(throwing), Mine);
}

TEST_CASE("the run can go on from where it failed") {
  HandWrittenOracle oracle;
  const Result whole = solve(oracle);
  REQUIRE(whole.status == Status::converged);
  Result so_far;
  try {
    solve(oracle, [](const Iterate& i) -> bool {
      if (i.iteration == 5) throw Mine("disk full");
      return true;
    });
  } catch (const RunFailed& failed) {
    so_far = failed.result;
  }
  CHECK(so_far.iterations == 5);
  CHECK(so_far.phi > whole.phi);
  const Result rest = rahgd(oracle, {.stop = {.tolerance = 1e-10}, .outer = {.eta = 0.05}}, {so_far.x, so_far.y});
  CHECK(rest.status == Status::converged);
  CHECK((rest.x - whole.x).norm() < 1e-8);
}
