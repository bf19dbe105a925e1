// The share of a solver's time that is spent outside oracles, for dimensions of about 10,000.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "hypertape/outer/registry.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/hypercleaning/hypercleaning.hpp"
#include "support/forwarding_oracle.hpp"

using namespace hypertape;
using Clock = std::chrono::steady_clock;

namespace {

class TimingOracle final : public testing::ForwardingOracle {
 public:
  using ForwardingOracle::ForwardingOracle;
  Clock::duration inside{};

 private:
  void before() override { begin_ = Clock::now(); }
  void after(testing::Call, double*, Vec*) override { inside += Clock::now() - begin_; }
  Clock::time_point begin_;
};

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// Iterations of the solver alone: estimates at the start are not part of it.
double share_outside(BilevelOracle& oracle, const Point& start, const char* name) {
  TimingOracle timing(oracle);
  Clock::time_point begin;
  Clock::duration inside{}, total{};
  const auto observer = [&](const Iterate& i) {
    if (i.iteration == 5) {
      begin = Clock::now();
      inside = timing.inside;
    }
    total = Clock::now() - begin;
    return true;
  };
  const Settings settings{{"mu", "0.01"},    {"l", "1"},        {"alpha", "0.01"}, {"beta", "0.5"},
                          {"steps", "10"},   {"products", "5"}, {"eta", "1e-3"},   {"max_iterations", "55"},
                          {"tolerance", "0"}};
  const SolverEntry& entry = solver(name);
  Settings known;
  for (const auto& setting : settings)
    if (entry.has_option(setting.first)) known.push_back(setting);
  entry.solve(timing, known, start, observer);
  return 1 - seconds(timing.inside - inside) / seconds(total);
}

void report(const char* problem, BilevelOracle& oracle, const Point& start) {
  for (const char* name : {"auto", "rahgd", "prahgd", "aid", "ba"}) {
    std::vector<double> shares;
    for (int i = 0; i < 5; ++i) shares.push_back(share_outside(oracle, start, name));
    std::sort(shares.begin(), shares.end());
    std::printf("  %-28s %-8s %.2f %% of the time outside oracles\n", problem, name, 100 * shares[2]);
  }
}

}  // namespace

int main() {
  std::printf("50 iterations of 10 steps for y and 5 for v, median of 5 runs\n");
  auto cleaning = problems::make_hypercleaning(
      problems::generate_hypercleaning({.training = 10'000, .validation = 2'000, .features = 784, .classes = 10}).data);
  report("hypercleaning, rows", *cleaning.oracle, cleaning.start);

  constexpr Index n = 10'000;
  TapedProblem chain = make_bilevel(
      {n, n},
      [](const auto& x, const auto& y) { return (y.array() - 1.0).square().sum() * 0.5 + 0.05 * x.squaredNorm(); },
      [](const auto& x, const auto& y) {
        auto sum = 0.5 * y.squaredNorm() - 0.5 * y.dot(x);
        for (Index i = 1; i < n; ++i) sum += 0.1 * (y[i] - y[i - 1]) * (y[i] - y[i - 1]);
        return sum;
      });
  report("chain of 10,000, taped", chain, {Vec::Zero(n), Vec::Zero(n)});
}
