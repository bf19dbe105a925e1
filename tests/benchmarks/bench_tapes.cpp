// The cost of each oracle of a problem taped whole, relative to one evaluation of the untaped function in the same run.
//
// Three 200-dimensional quartic pairs, because the ratio says as much of the plain function as of the tape: a tape is
// interpreted operation by operation, while a compiler makes what it can of the plain loop.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "hypertape/core/random.hpp"
#include "hypertape/tape/taped_problem.hpp"

using namespace hypertape;

namespace {

constexpr Index n = 200;

/// Median seconds of one call, over samples of about a millisecond each.
double median_seconds(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [&](int calls) {
    const auto begin = Clock::now();
    for (int k = 0; k < calls; ++k) call();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  seconds(3);
  const int calls = std::max(1, static_cast<int>(1e-3 / std::max(seconds(1), 1e-8)));
  std::vector<double> samples(101);
  for (double& s : samples) s = seconds(calls) / calls;
  std::nth_element(samples.begin(), samples.begin() + 50, samples.end());
  return samples[50];
}

template <class F, class G>
void measure(const char* name, const F& f, const G& g) {
  TapedProblem problem = make_bilevel({n, n}, f, g);
  Random random(1);
  const Vec x = random.normal(n), y = random.normal(n), v = random.normal(n);
  const VecT<double> plain_x("x", x), plain_y("y", y);
  Vec gx, gy, out;
  double sink = 0;
  const double plain_f = median_seconds([&] { sink += f(plain_x, plain_y); });
  const double plain_g = median_seconds([&] { sink += g(plain_x, plain_y); });
  const double grad_f = median_seconds([&] { problem.grad_f(x, y, gx, gy); });
  const double grad_y_g = median_seconds([&] { problem.grad_y_g(x, y, out); });
  LinearOperator& H = problem.curvature_at(x, y);
  const double hessian = median_seconds([&] { H.apply(v, out); });
  const double linearise = median_seconds([&] { problem.curvature_at(x, y); });
  const double cross = median_seconds([&] { problem.cross_product(x, y, v, out); });
  const ProblemSize size = problem.size();
  std::printf("%-34s %9.2f %9.2f | %7.1f %7.1f %7.1f %7.1f %7.1f | %8zu %7.2f\n", name, plain_f * 1e6, plain_g * 1e6,
              grad_f / plain_f, grad_y_g / plain_g, hessian / plain_g, cross / plain_g, linearise / plain_g,
              size.g_y.operations, static_cast<double>(size.bytes()) / 1e6);
  if (!std::isfinite(sink))
    std::printf("(the plain functions overflowed)\n");  // and their calls are not optimised away
}

}  // namespace

int main() {
  std::printf("%-34s %9s %9s | %7s %7s %7s %7s %7s | %8s %7s\n", "200-dimensional quartic pair", "f (us)", "g (us)",
              "grad f", "grad_y g", "HV", "JV", "lineari.", "ops of g", "MB");

  measure(
      "sum of pow(., 4)",
      []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        S s = 0.0;
        for (Index i = 0; i < n; ++i) s += pow(y[i] - x[i], 4) + pow(x[i], 4);
        return s;
      },
      []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        S s = 0.0;
        for (Index i = 0; i < n; ++i) s += pow(y[i] - x[i], 4) + pow(y[(i + 1) % n] - 0.5 * y[i], 4) + y[i] * y[i];
        return s;
      });

  measure(
      "the same by multiplication",
      []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        S s = 0.0;
        for (Index i = 0; i < n; ++i) {
          const S a = (y[i] - x[i]) * (y[i] - x[i]), b = x[i] * x[i];
          s += a * a + b * b;
        }
        return s;
      },
      []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        S s = 0.0;
        for (Index i = 0; i < n; ++i) {
          const S a = (y[i] - x[i]) * (y[i] - x[i]), e = y[(i + 1) % n] - 0.5 * y[i], b = e * e;
          s += a * a + b * b + y[i] * y[i];
        }
        return s;
      });

  const Mat A = Random(2).normal(n, n);
  measure(
      "|y y' - A|^2, all pairs",
      []<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        S s = 0.0;
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            const S d = y[i] * y[j] - x[i] * x[j];
            s += d * d;
          }
        return s;
      },
      [&A]<class S>(const VecT<S>& x, const VecT<S>& y) -> S {
        S s = (y - x).squaredNorm();
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            const S d = y[i] * y[j] - A(i, j);
            s += d * d;
          }
        return s;
      });
}
