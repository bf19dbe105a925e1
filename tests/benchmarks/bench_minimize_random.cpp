// `auto` on random problems: weights of ridges from three starts, and five kinds of problems with random scales.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "bench_minimize.hpp"
#include "hypertape/hypertape.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "support/ridge_weight.hpp"

namespace hypertape::benchmarks {

using testing::ridge_weight;
using testing::true_gradient;

namespace {

Mat matrix(Index rows, Index columns, Random& random) {
  Mat out(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) out(i, j) = random.normal();
  return out;
}

/// Random problems of five kinds, with x, y, f and g scaled by factors from 1e-4 to 1e4.
class RandomProblems {
 public:
  explicit RandomProblems(std::uint64_t seed) : random_(seed) {}

  void run(int count) {
    for (int id = 0; id < count; ++id) {
      for (double* scale : {&x_, &y_, &f_, &g_}) *scale = std::pow(10.0, 8 * random_.uniform() - 4);
      switch (id % 5) {
        case 0:
          quadratic(id);
          break;
        case 1:
          least_squares();
          break;
        case 2:
          logistic();
          break;
        case 3:
          cosines(id);
          break;
        default:
          valley();
      }
    }
    for (const auto& [kind, ends] : ends_) {
      std::printf("  %-14s", kind.c_str());
      for (const auto& [status, n] : ends) std::printf(" %s %d", status.c_str(), n);
      std::printf("\n");
    }
    std::sort(calls_.begin(), calls_.end());
    std::printf("  calls: median %ld, nine tenths %ld, most %ld\n", calls_[calls_.size() / 2],
                calls_[calls_.size() * 9 / 10], calls_.back());
    std::sort(changes_.begin(), changes_.end());
    const auto large = std::count_if(changes_.begin(), changes_.end(), [](double change) { return change >= 0.1; });
    std::printf(
        "  with f times 10^k, k = -4 .. 4: calls change by %.1f %% (median), %.1f %% (most), 10 %% or more in %ld of "
        "%zu\n",
        100 * changes_[changes_.size() / 2], 100 * changes_.back(), static_cast<long>(large), changes_.size());
  }

 private:
  template <class F, class G>
  void solve(const char* kind, Dims dims, const Vec& start, const F& f, const G& g) {
    const auto scaled = [&](double more) {
      return make_bilevel(
          dims,
          [=, sx = x_, sy = y_, sf = more * f_](const auto& x, const auto& y) {
            return sf * f((x / sx).eval(), (y / sy).eval());
          },
          [=, sx = x_, sy = y_, sg = g_](const auto& x, const auto& y) {
            return sg * g((x / sx).eval(), (y / sy).eval());
          });
    };
    const Vec x0 = x_ * start;
    const auto minimized = [&](TapedProblem& problem) {
      return minimize(problem, {.x = x0}, {.tolerance = 0, .rtol = 1e-6, .max_calls = 100'000});
    };
    TapedProblem problem = scaled(1);
    const Result r = minimized(problem);
    const double first = true_gradient(problem, x0, Vec::Zero(dims.y)), last = true_gradient(problem, r.x, r.y);
    const bool untrue = r.status == Status::converged && !(last <= 3e-6 * first);
    ++ends_[kind][untrue ? "UNTRUE" : to_string(r.status)];
    const auto calls = static_cast<long>(r.counts.total());
    calls_.push_back(calls);
    for (const double factor : {1e-4, 1e-3, 1e-2, 1e-1, 1e1, 1e2, 1e3, 1e4}) {
      TapedProblem other = scaled(factor);
      const double now = static_cast<double>(minimized(other).counts.total());
      changes_.push_back(std::abs(now / static_cast<double>(calls) - 1));
    }
  }

  void quadratic(int id) {
    const double kappa = std::pow(10.0, 6 * random_.uniform());
    const auto q =
        problems::generate_quadratic({.dims = {6, 12}, .kappa = kappa, .seed = static_cast<std::uint64_t>(id) + 1});
    solve(
        "quadratic", {6, 12}, q.x0,
        [q](const auto& x, const auto& y) { return 0.5 * (y - q.d).squaredNorm() + 0.5 * x.dot(q.D * x); },
        [q](const auto& x, const auto& y) { return 0.5 * y.dot(q.A * y) - y.dot(q.C * x + q.b); });
  }

  void least_squares() {
    const Mat A = matrix(20, 6, random_), V = matrix(15, 6, random_);
    const Vec w = random_.normal(6), a = A * w + 0.5 * random_.normal(20), v = V * w + 0.5 * random_.normal(15);
    solve(
        "least_squares", {6, 6}, Vec::Zero(6),
        [=](const auto& x, const auto& y) { return (V * y - v).squaredNorm() / 15 + 0.01 * x.squaredNorm(); },
        [=](const auto& x, const auto& y) {
          using std::exp;
          auto sum = (A * y - a).squaredNorm() / 20;
          for (Index j = 0; j < 6; ++j) sum += exp(x[j]) * y[j] * y[j];
          return sum;
        });
  }

  void logistic() {
    const Mat A = matrix(30, 5, random_), V = matrix(20, 5, random_);
    const Vec w = random_.normal(5);
    const auto labels = [&](const Mat& data) {
      Vec out(data.rows());
      for (Index i = 0; i < out.size(); ++i) out[i] = data.row(i).dot(w) + random_.normal() > 0 ? 1 : -1;
      return out;
    };
    const Vec a = labels(A), v = labels(V);
    const auto loss = [](const Mat& data, const Vec& label, const auto& y) {
      const auto z = (data * y).eval();
      auto sum = 0.0 * y[0];
      for (Index i = 0; i < label.size(); ++i) sum += log1p_exp(-label[i] * z[i]);
      return sum / static_cast<double>(label.size());
    };
    solve(
        "logistic", {5, 5}, Vec::Constant(5, -1.0),
        [=](const auto& x, const auto& y) { return loss(V, v, y) + 0.005 * x.squaredNorm(); },
        [=](const auto& x, const auto& y) {
          using std::exp;
          auto sum = loss(A, a, y);
          for (Index j = 0; j < 5; ++j) sum += exp(x[j]) * y[j] * y[j];
          return sum;
        });
  }

  void cosines(int id) {
    const auto q =
        problems::generate_quadratic({.dims = {8, 8}, .kappa = 50, .seed = static_cast<std::uint64_t>(id) + 1});
    solve(
        "cosines above", {8, 8}, random_.normal(8),
        [](const auto& x, const auto& y) {
          using std::cos;
          auto sum = 0.05 * x.squaredNorm();
          for (Index j = 0; j < 8; ++j) sum += cos(y[j]) + 0.1 * y[j] * y[j];
          return sum;
        },
        [q](const auto& x, const auto& y) { return 0.5 * y.dot(q.A * y) - y.dot(q.C * x + q.b); });
  }

  void valley() {
    const Vec start = 0.5 * random_.normal(5);
    const Mat A = matrix(5, 5, random_);
    solve(
        "valley above", {5, 5}, start,
        [](const auto& x, const auto& y) {
          auto sum = 0.01 * x.squaredNorm();
          for (Index j = 0; j + 1 < 5; ++j) {
            const auto valley = y[j + 1] - y[j] * y[j], distance = 1.0 - y[j];
            sum += 5.0 * valley * valley + distance * distance;
          }
          return sum;
        },
        [A](const auto& x, const auto& y) {
          using std::sqrt;
          const auto z = (A * y - x).eval();
          auto sum = 0.1 * y.squaredNorm();
          for (Index j = 0; j < z.size(); ++j) sum += sqrt(1.0 + z[j] * z[j]);
          return sum;
        });
  }

  Random random_;
  double x_ = 1, y_ = 1, f_ = 1, g_ = 1;
  std::map<std::string, std::map<std::string, int>> ends_;
  std::vector<long> calls_;
  std::vector<double> changes_;  // of calls, relative, with another scale of f
};

}  // namespace

/// One weight of a ridge, with a minimum between -10 and 10, from three starts.
void ridge_weights(std::uint64_t seed) {
  Random random(seed);
  int found = 0, at_minimum = 0, elsewhere = 0;
  while (found < 72) {
    const Mat A = matrix(5, 3, random);
    const Vec b = random.normal(5), wanted = 0.5 * random.normal(3);
    auto problem = ridge_weight(A, b, wanted);
    const auto phi = [&](double x) {
      Vec y = Vec::Zero(3);
      newton(problem, Vec::Constant(1, x), y);
      return (y - wanted).squaredNorm();
    };
    std::vector<double> values;
    for (int i = 0; i <= 240; ++i) values.push_back(phi(-12 + 0.1 * i));
    const auto best = std::min_element(values.begin(), values.end());
    const bool interior = best - values.begin() >= 20 && values.end() - best > 20;
    if (!interior || *best > values.front() - 1e-3 || *best > values.back() - 1e-3) continue;
    ++found;
    for (const double start : {-4.0, 0.0, 4.0}) {
      const Result r = minimize(problem, {.x = Vec::Constant(1, start)}, {.max_calls = 20'000});
      const double x = r.x[0], h = 1e-2;
      const bool minimum = std::abs(x) < 11.5 && phi(x) < phi(x - h) && phi(x) < phi(x + h);
      at_minimum += minimum ? 1 : 0;
      elsewhere += !minimum && r.status == Status::converged ? 1 : 0;
    }
  }
  std::printf("weights of 72 random ridges, 3 starts each: at a minimum %d of 216, converged elsewhere %d\n",
              at_minimum, elsewhere);
}

void random_problems(std::uint64_t seed) {
  std::printf("200 random problems with scales of x, y, f and g from 1e-4 to 1e4, to 1e-6 of the first |u|\n");
  RandomProblems(seed).run(200);
}

}  // namespace hypertape::benchmarks
