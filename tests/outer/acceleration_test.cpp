#include "hypertape/outer/acceleration.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/hand_written_oracle.hpp"
#include "support/scripted_estimator.hpp"

using namespace hypertape;
using testing::ScriptedEstimator;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Hypergradients that grow from call to call, so that each is the longest so far, whatever the point. The last bit of
/// every entry goes up or down as `nudge` says, -1, 0 or 1 for each.
ScriptedEstimator growing(const std::array<int, 3>& nudge) {
  return ScriptedEstimator([nudge](const Vec&, double, int call, Hypergradient& out) {
    const double t = call;
    out.u = Vec{{0.1 * t, std::sin(t) / 3, 0.7 + 0.01 * t}};
    for (Index i = 0; i < 3; ++i)
      if (const int n = nudge[static_cast<std::size_t>(i)]; n != 0) out.u[i] = std::nextafter(out.u[i], n * infinity);
  });
}

/// The number of restarts after each of some iterations.
std::vector<int> restarts(const Acceleration& options, const std::array<int, 3>& nudge = {}) {
  testing::HandWrittenOracle oracle;
  const Point start{Vec{{10, -700, 0.3}}, Vec::Zero(3)};
  std::vector<int> out;
  const Observer observer = [&](const Iterate& i) {
    out.push_back(i.restarts);
    return true;
  };
  run("test", oracle, {.tolerance = 0, .max_iterations = 12}, start, observer, [&](Run& run) {
    ScriptedEstimator estimator = growing(nudge);
    accelerate(run, estimator, options);
  });
  return out;
}

const std::vector<int> every_step{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
    every_other_step{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6};

}  // namespace

TEST_CASE("the last bits of the hypergradients do not decide on restarts") {
  // With B = eta max|u| the first step of an epoch is as long as B, and the second goes beyond.
  for (const double eta : {0.15, 1e-3})
    for (int first = -1; first <= 1; ++first)
      for (int second = -1; second <= 1; ++second)
        for (int third = -1; third <= 1; ++third)
          CHECK(restarts({.eta = eta, .B_factor = 1}, {first, second, third}) == every_other_step);
}

TEST_CASE("a first step that is longer than B is followed by a restart, as printed") {
  CHECK(restarts({.eta = 0.1, .B = 0.01}) == every_step);
  CHECK(restarts({.eta = 0.1, .B_factor = 0.9}) == every_step);
  CHECK(restarts({.eta = 0.1, .B = 0.01, .K = 100, .strict_paper = true}) == every_step);
  CHECK(restarts({.eta = 0.1, .B = infinity}) == std::vector<int>(12, 0));
}

TEST_CASE("gradient restart: the epoch ends where a step goes uphill") {
  // u turns round at every third call: the momentum of the two before carries on against it.
  testing::HandWrittenOracle oracle;
  const Point start{Vec::Zero(3), Vec::Zero(3)};
  for (const bool restart : {false, true}) {
    std::vector<int> seen;
    run(
        "test", oracle, {.tolerance = 0, .max_iterations = 9}, start,
        [&](const Iterate& i) { return seen.push_back(i.restarts), true; },
        [&](Run& run) {
          ScriptedEstimator estimator([](const Vec&, double, int call, Hypergradient& out) {
            out.u = (call % 3 == 0 ? -0.1 : 1.0) * Vec{{1, 0, 0}};
          });
          accelerate(run, estimator, {.eta = 0.1, .B = infinity, .gradient_restart = restart});
        });
    CHECK(seen == (restart ? std::vector<int>{0, 0, 1, 1, 1, 2, 2, 2, 3} : std::vector<int>(9, 0)));
  }
}

TEST_CASE("restarts that lead nowhere end the run, and what may be wrong is said") {
  testing::HandWrittenOracle oracle;
  const Point start{Vec::Zero(3), Vec::Zero(3)};
  const Result result = run("test", oracle, {.tolerance = 0}, start, {}, [&](Run& run) {
    ScriptedEstimator estimator([](const Vec&, double, int, Hypergradient& out) { out.u = Vec{{1, 0, 0}}; });
    accelerate(run, estimator, {.eta = 0.1, .B = 0.01, .r = 1});
  });
  CHECK(result.status == Status::stagnated);
  CHECK(result.restarts == 1001);
  CHECK(result.message.find("1000 restarts without a Phi below 0 or a |u| below 1; is the radius r") == 0);
}

TEST_CASE("misuse is refused with solver and option") {
  const auto refused = [](const Acceleration& bad, const char* message) {
    CHECK_THROWS_WITH_AS(bad.check("test"), message, std::invalid_argument);
  };
  refused({.eta = 0}, "test: eta = 0, must be positive, or auto");
  refused({.theta = 0}, "test: theta = 0, must satisfy 0 < theta <= 1, or auto");
  refused({.B = -1}, "test: B = -1, must be positive, or auto");
  refused({.B_factor = 0}, "test: B_factor = 0, must be positive");
  refused({.strict_paper = true}, "test: K = 0, must be at least 1 with strict_paper");
  refused({.cold_restart = true}, "test: T_init = auto, must be given with cold_restart");
  refused({.T_init = 3}, "test: T_init = 3, is of use with cold_restart only");
  refused({.r = -1}, "test: r = -1, must not be negative");
  CHECK_NOTHROW(Acceleration{}.check("test"));
}
