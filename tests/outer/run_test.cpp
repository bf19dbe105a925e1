#include "hypertape/outer/run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

#include "hypertape/outer/rahgd.hpp"
#include "support/hand_written_oracle.hpp"
#include "support/scripted_estimator.hpp"
#include "support/throwing_oracle.hpp"

using namespace hypertape;
using testing::HandWrittenOracle;
using testing::ScriptedEstimator;
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

TEST_CASE("warm_up: a first look for nothing, then as accurate as |u| is worth, and no more than it takes") {
  HandWrittenOracle oracle;
  // The first |u| is wrong; errors are what is asked for.
  ScriptedEstimator estimator(
      [](const Vec&, double sigma, int call, Hypergradient& out) {
        out.u = Vec::Constant(1, call == 1 ? 100.0 : 1.0);
        out.error_bound = call == 1 ? std::numeric_limits<double>::infinity() : sigma;
      },
      /*adapts=*/true);
  run("test", oracle, {.tolerance = 1e-6}, start, {}, [&](Run& run) {
    CHECK(warm_up(run, estimator, start.x, 0.3, true));
    CHECK(run.result().gradient_norm == 1);
  });
  REQUIRE(estimator.sigmas.size() == 4);
  CHECK(std::isinf(estimator.sigmas[0]));
  CHECK(estimator.sigmas[1] == doctest::Approx(0.3 * 100));
  CHECK(estimator.sigmas[2] == doctest::Approx(0.1 * 30));  // a tenth of the error, not at once 0.3 |u|
  CHECK(estimator.sigmas[3] == doctest::Approx(0.3));
}

TEST_CASE("warm_up: an exactly stationary start ends the run at the first hypergradient") {
  HandWrittenOracle oracle;
  ScriptedEstimator estimator(
      [](const Vec&, double, int, Hypergradient& out) {
        out.u = Vec::Zero(3);
        out.error_bound = 0;
      },
      /*adapts=*/true);
  const Result result =
      run("test", oracle, {}, start, {}, [&](Run& run) { CHECK_FALSE(warm_up(run, estimator, start.x, 0.3, true)); });
  CHECK(result.status == Status::converged);
  CHECK(estimator.sigmas.size() == 1);
}

TEST_CASE("a bound is put to the test before it ends a run, and found out where it is not known") {
  HandWrittenOracle oracle;
  for (const double first : {1e-8, std::numeric_limits<double>::infinity()})
    for (const double renewed : {1e-8, 1e-3}) {
      CAPTURE(first);
      CAPTURE(renewed);
      ScriptedEstimator estimator([&](const Vec&, double, int, Hypergradient& out) {
        out.u = Vec::Constant(3, 1e-7);
        out.error_bound = first;
      });
      estimator.renewed_bound = renewed;
      const Result result = run("test", oracle, {.max_iterations = 1}, start, {}, [&](Run& run) {
        estimator.at(start.x, 0);
        CHECK(run.accept(start.x, estimator, false));  // not asked for
        CHECK(estimator.certified == 0);
        if (run.accept(start.x, estimator)) run.step(start.x);
      });
      CHECK(estimator.certified == 1);
      CHECK(result.error_bound == renewed);
      CHECK((result.status == Status::converged) == (renewed == 1e-8));
    }
}

TEST_CASE("stagnated: the error bound, not u, stands between a run and its tolerance") {
  HandWrittenOracle oracle;
  ScriptedEstimator estimator([](const Vec&, double, int, Hypergradient& out) {
    out.u = Vec::Constant(3, 1e-7);
    out.error_bound = 1e-3;
  });
  const Result result = run("test", oracle, {}, start, {}, [&](Run& run) {
    do {
      estimator.at(start.x, 0);
    } while (run.accept(start.x, estimator) && run.step(start.x));
  });
  CHECK(result.status == Status::stagnated);
  CHECK(result.iterations == 1000);
  CHECK(result.message.find("but its error, of at most about 0.001, does not fall below 1e-06") != std::string::npos);
}
