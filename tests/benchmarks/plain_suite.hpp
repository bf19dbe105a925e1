#pragma once

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "hypertape/core/random.hpp"
#include "hypertape/core/types.hpp"

// Functions of (x, y) as somebody writes them who knows nothing of tapes. x is one number that scales or weighs
// something. They take any vectors, so that the plain function can be timed without checked indices.
namespace hypertape::suite {

inline Vec uniform(Index n, double low, double high, std::uint64_t seed) {
  Random random(seed);
  Vec v(n);
  for (double& entry : v) entry = low + (high - low) * random.uniform();
  return v;
}

template <class V>
using ScalarOf = std::decay_t<decltype(std::declval<const V&>()[0])>;

/// A separable quartic by multiplication.
struct Quartic {
  Index n;
  Vec c = uniform(n, -1, 1, 1), w = uniform(n, 0.5, 2, 2);
  Vec start() const { return uniform(n, -1, 1, 3); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    ScalarOf<V> sum = 0.0;
    for (Index i = 0; i < n; ++i) {
      const ScalarOf<V> d = y[i] - x[0] * c[i], d2 = d * d;
      sum += w[i] * (d2 * d2);
    }
    return sum;
  }
};

/// |y y' - x A|^2, all pairs.
struct Factor {
  Index n;
  Vec A = uniform(n * n, -1, 1, 4);
  Vec start() const { return uniform(n, -1, 1, 5); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    ScalarOf<V> sum = 0.0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        const ScalarOf<V> r = y[i] * y[j] - x[0] * A[i * n + j];
        sum += r * r;
      }
    return sum;
  }
};

/// Ridge regression: |A y - b|^2 + exp(x) |y|^2.
struct Ridge {
  Index m, n;
  Vec A = uniform(m * n, -1, 1, 6), b = uniform(m, -1, 1, 7);
  Vec start() const { return uniform(n, -1, 1, 8); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    using std::exp;
    ScalarOf<V> sum = 0.0, norm = 0.0;
    for (Index i = 0; i < m; ++i) {
      ScalarOf<V> r = -b[i];
      for (Index j = 0; j < n; ++j) r += A[i * n + j] * y[j];
      sum += r * r;
    }
    for (Index j = 0; j < n; ++j) norm += y[j] * y[j];
    return ScalarOf<V>(sum + exp(x[0]) * norm);
  }
};

/// The logistic loss by loops, with a penalty.
struct Logistic {
  Index m, n;
  Vec A = uniform(m * n, -1, 1, 9), b = uniform(m, -1, 1, 10);
  Vec start() const { return uniform(n, -0.5, 0.5, 11); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    using std::exp, std::log;
    ScalarOf<V> sum = 0.0, norm = 0.0;
    for (Index i = 0; i < m; ++i) {
      ScalarOf<V> t = 0.0;
      for (Index j = 0; j < n; ++j) t += A[i * n + j] * y[j];
      sum += log(1.0 + exp((b[i] > 0 ? -1.0 : 1.0) * t));
    }
    for (Index j = 0; j < n; ++j) norm += y[j] * y[j];
    return ScalarOf<V>(sum + 0.5 * exp(x[0]) * norm);
  }
};

/// A penalised pendulum: angle, speed and torque of each step, neighbours coupled; x weighs the torque.
struct Chain {
  Index steps;
  Vec start() const { return uniform(3 * steps, -1, 1, 12); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    using std::cos, std::sin;
    const double h = 0.05, rho = 10;
    ScalarOf<V> sum = 0.0;
    for (Index k = 0; k + 1 < steps; ++k) {
      const ScalarOf<V>&angle = y[3 * k], &speed = y[3 * k + 1], &torque = y[3 * k + 2];
      const ScalarOf<V> r1 = y[3 * k + 3] - angle - h * speed;
      const ScalarOf<V> r2 = y[3 * k + 4] - speed - h * (torque * cos(angle) - sin(angle));
      sum += rho * (r1 * r1 + r2 * r2) + x[0] * torque * torque + angle * angle;
    }
    return sum;
  }
};

/// A small network, one hidden layer, squared loss with a penalty on its weights.
struct Network {
  Index in, hidden, samples;
  Vec data = uniform(samples * in, -1, 1, 13), target = uniform(samples, -1, 1, 14);
  Vec start() const { return uniform(hidden * in + 2 * hidden + 1, -0.5, 0.5, 15); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    using std::tanh;
    ScalarOf<V> sum = 0.0;
    for (Index s = 0; s < samples; ++s) {
      ScalarOf<V> out = y[hidden * in + 2 * hidden];
      for (Index k = 0; k < hidden; ++k) {
        ScalarOf<V> a = y[hidden * in + k];
        for (Index j = 0; j < in; ++j) a += y[k * in + j] * data[s * in + j];
        out += y[hidden * in + hidden + k] * tanh(a);
      }
      const ScalarOf<V> r = out - x[0] * target[s];
      sum += r * r;
    }
    return sum;
  }
};

/// The chained Rosenbrock function; x is how steep its valley is.
struct Rosenbrock {
  Index n;
  Vec start() const { return uniform(n, -1, 1, 16); }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    ScalarOf<V> sum = 0.0;
    for (Index i = 0; i + 1 < n; ++i) {
      const ScalarOf<V> t = y[i + 1] - y[i] * y[i], u = 1.0 - y[i];
      sum += x[0] * (t * t) + u * u;
    }
    return sum;
  }
};

/// A random expression graph without rows.
struct Irregular {
  Index n, operations;
  struct Item {
    int operation;
    std::size_t a, b;
  };
  std::vector<Item> items = make_items();
  Vec start() const { return uniform(n, -1, 1, 18); }
  std::vector<Item> make_items() const {
    Random random(17);
    std::vector<Item> out;
    for (Index k = 0; k < operations; ++k) {
      const auto pick = [&] {  // anything so far, with a preference for what is recent
        const auto have = static_cast<std::uint64_t>(n + k);
        const std::uint64_t window = random.below(2) == 1 ? have : std::min<std::uint64_t>(have, 500);
        return static_cast<std::size_t>(have - 1 - random.below(window));
      };
      const auto roll = random.below(100);
      const int operation = roll < 30 ? 0 : roll < 50 ? 1 : roll < 85 ? 2 : roll < 93 ? 3 : 4;
      const std::size_t a = pick();
      out.push_back({operation, a, pick()});
    }
    return out;
  }
  template <class V>
  auto operator()(const V& x, const V& y) const {
    using std::sin;
    std::vector<ScalarOf<V>> v;
    v.reserve(static_cast<std::size_t>(n + operations));
    for (Index i = 0; i < n; ++i) v.push_back(y[i]);
    for (const Item& i : items) {
      const ScalarOf<V>&a = v[i.a], &b = v[i.b];
      switch (i.operation) {
        case 0:
          v.push_back(0.7 * a + 0.3 * b);
          break;
        case 1:
          v.push_back(a - 0.5 * b);
          break;
        case 2:
          v.push_back(0.5 * (a * b));
          break;
        case 3:
          v.push_back(sin(a + b));
          break;
        default:
          v.push_back(a / (1.0 + b * b));
      }
    }
    ScalarOf<V> sum = x[0] * y[0];
    for (std::size_t k = 1; k <= 200; ++k) sum += v[v.size() - k] * v[v.size() - k];
    return sum;
  }
};

/// A controlled Lorenz system, Runge-Kutta steps, cost along the way. y: the initial state, then the controls.
struct RungeKutta {
  Index steps;
  Vec start() const {
    Vec y = uniform(3 + steps, -0.5, 0.5, 19);
    y[0] += 1;
    y[1] += 1;
    y[2] += 20;
    return y;
  }
  template <class S>
  static void slope(const S& x, const S& y, const S& z, const S& u, S& dx, S& dy, S& dz) {
    dx = 10.0 * (y - x) + u;
    dy = x * (28.0 - z) - y;
    dz = x * y - (8.0 / 3) * z;
  }
  template <class V>
  auto operator()(const V& weight, const V& p) const {
    using S = ScalarOf<V>;
    const double h = 0.01;
    S x = p[0], y = p[1], z = p[2], cost = 0.0;
    for (Index k = 0; k < steps; ++k) {
      const S& u = p[3 + k];
      S a1, b1, c1, a2, b2, c2, a3, b3, c3, a4, b4, c4;
      slope<S>(x, y, z, u, a1, b1, c1);
      slope<S>(x + 0.5 * h * a1, y + 0.5 * h * b1, z + 0.5 * h * c1, u, a2, b2, c2);
      slope<S>(x + 0.5 * h * a2, y + 0.5 * h * b2, z + 0.5 * h * c2, u, a3, b3, c3);
      slope<S>(x + h * a3, y + h * b3, z + h * c3, u, a4, b4, c4);
      x += h / 6 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
      y += h / 6 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
      z += h / 6 * (c1 + 2.0 * c2 + 2.0 * c3 + c4);
      cost += 0.01 * (x * x + y * y) + weight[0] * u * u;
    }
    return S(cost + z * z);
  }
};

/// f(name, function) for each function of the suite.
template <class F>
void for_each_function(const F& f) {
  f("a200", Quartic{200});
  f("a", Quartic{20'000});
  f("b", Factor{200});
  f("c", Ridge{500, 200});
  f("d", Logistic{2'000, 50});
  f("e", Chain{10'000});
  f("f", Network{20, 50, 100});
  f("g", Rosenbrock{100'000});
  f("h1", Irregular{200, 20'000});
  f("h2", RungeKutta{200});
}

}  // namespace hypertape::suite
