#include "hypertape/outer/acceleration.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/hand_written_oracle.hpp"

using namespace hypertape;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Hypergradients that grow from call to call, so that each is the longest so far, whatever the point. The last bit of
/// every entry goes up or down as `nudge` says, -1, 0 or 1 for each.
class Scripted final : public HypergradientEstimator {
 public:
  Scripted(BilevelOracle& oracle, const Point& start, const std::array<int, 3>& nudge)
      : HypergradientEstimator(oracle, {.alpha = 1, .beta = 0, .steps = 1}, start, false, 1), nudge_(nudge) {}

 private:
  void estimate(const Vec&, double) override {
    const double t = ++calls_;
    result_.u = Vec{{0.1 * t, std::sin(t) / 3, 0.7 + 0.01 * t}};
    for (Index i = 0; i < 3; ++i)
      if (const int n = nudge_[static_cast<std::size_t>(i)]; n != 0)
        result_.u[i] = std::nextafter(result_.u[i], n * infinity);
  }

  std::array<int, 3> nudge_;
  int calls_ = 0;
};

/// The number of restarts after each of some iterations.
std::vector<int> restarts(const Acceleration& options, const std::array<int, 3>& nudge = {}) {
  testing::HandWrittenOracle oracle;
  const Point start{Vec{{10, -700, 0.3}}, Vec::Zero(3)};
  std::vector<int> out;
  const Observer observer = [&](const Iterate& i) {
    out.push_back(i.restarts);
    return true;
  };
  run(oracle, {.tolerance = 0, .max_iterations = 12}, start, observer, [&](Run& run) {
    Scripted estimator(run.oracle(), start, nudge);
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
