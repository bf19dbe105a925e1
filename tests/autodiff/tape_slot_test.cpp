#include "hypertape/autodiff/tape_slot.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "hypertape/tape/taped_problem.hpp"

using namespace hypertape;

namespace {

TapedProblem scaled_problem(double a) {
  return make_bilevel(
      {2, 3}, [a]<class S>(const VecT<S>& x, const VecT<S>& y) -> S { return a * x[0] * y.squaredNorm() + x[1]; },
      [a]<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        return a * y.squaredNorm() + exp(x[1]) * y[0] * y[1] * y[2];
      });
}

/// Wrong answers of an oracle that should be scaled_problem(a), over many points.
int wrong_answers(TapedProblem& problem, double a, int rounds) {
  int wrong = 0;
  Vec gx, gy, Hv;
  for (int k = 0; k < rounds; ++k) {
    const Vec x{{0.1 * k, -0.05 * k}}, y{{1.0, 0.5 * k, -2.0}}, v{{1.0, -1.0, 0.5}};
    problem.grad_f(x, y, gx, gy);
    if (gx[0] != a * y.squaredNorm()) ++wrong;
    problem.curvature_at(x, y).apply(v, Hv);
    const double e = std::exp(x[1]);
    const double expected = 2 * a * v[0] + e * (y[2] * v[1] + y[1] * v[2]);
    if (std::abs(Hv[0] - expected) > 1e-12 * (1 + std::abs(expected))) ++wrong;
  }
  return wrong;
}

}  // namespace

TEST_CASE("oracles made in one thread work in others, all at the same time") {
  std::deque<TapedProblem> problems;
  for (int i = 0; i < 6; ++i) problems.push_back(scaled_problem(i + 1));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back([&, i] { wrong += wrong_answers(problems[i], i + 1, 300); });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("oracles are recorded, used and destroyed in many threads at once, and outlive the thread that made them") {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<TapedProblem>> kept(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        kept[i] = std::make_unique<TapedProblem>(scaled_problem(i + 0.5));
        wrong += wrong_answers(*kept[i], i + 0.5, 20);
      }
    });
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) wrong += wrong_answers(*kept[i], i + 0.5, 20);
  CHECK(wrong == 0);
}

TEST_CASE("there may be more oracles than CppAD has thread numbers") {
  std::deque<TapedProblem> problems;
  for (int i = 0; i < 120; ++i) problems.push_back(scaled_problem(i));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < 120; i += 3) wrong += wrong_answers(problems[i], i, 3);
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a function may use another oracle while it is evaluated") {
  TapedProblem inside = scaled_problem(2);
  TapedProblem outside = make_bilevel(
      {1, 1},
      [&inside]<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        const double constant = inside.f(Vec{{1, 0}}, Vec{{1, 1, 1}});
        return constant * x[0] + y[0] * y[0];
      },
      []<class S>(const VecT<S>& x, const VecT<S>& y) -> S { return y[0] * y[0] - x[0] * y[0]; });
  CHECK(outside.grad_f(Vec{{1}}, Vec{{1}}).x[0] == 6);
  CHECK(wrong_answers(inside, 2, 5) == 0);
}
