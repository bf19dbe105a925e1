#include "hypertape/theory/complexity.hpp"

#include <algorithm>
#include <cmath>

#include "hypertape/core/require.hpp"

namespace hypertape::theory {

namespace {

constexpr auto none = std::nullopt;

struct Row {
  std::string_view method;
  Complexity calls;
};

constexpr Row rows[] = {
    // table 1: first-order points
    {"ba", {Exponents{4, -2}, Exponents{5, -2.5}, Exponents{4, -2}, Exponents{4.5, -2}}},
    {"aid", {Exponents{3, -2}, Exponents{4, -2}, Exponents{3, -2}, Exponents{3.5, -2}}},
    {"itd", {Exponents{3, -2}, Exponents{4, -2}, Exponents{4, -2}, Exponents{4, -2}}},
    {"rahgd", {Exponents{2.75, -1.75}, Exponents{3.25, -1.75}, Exponents{2.75, -1.75}, Exponents{3.25, -1.75}}},
    // table 2: second-order points
    {"paid", {Exponents{3, -2}, Exponents{4, -2}, Exponents{3, -2}, Exponents{3.5, -2}}},
    {"prahgd", {Exponents{2.75, -1.75}, Exponents{3.25, -1.75}, Exponents{2.75, -1.75}, Exponents{3.25, -1.75}}},
    // theorem 5.2 and the text after it: second-order points of minimax problems
    {"pragda", {none, Exponents{1.75, -1.75}, none, none}},
    {"imcn", {none, Exponents{2, -1.5}, Exponents{1, -2}, Exponents{1.5, -2}}},
};

}  // namespace

const Complexity& complexity(std::string_view method) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.method == method; });
  require(row != std::end(rows), "complexity: method = ", method,
          ", must be ba, aid, itd, rahgd, paid, prahgd, pragda or imcn");
  return row->calls;
}

std::vector<std::string> methods() {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.method);
  return names;
}

PredictedCalls predicted(std::string_view method, double kappa, double epsilon) {
  require(kappa >= 1 && std::isfinite(kappa), "predicted: kappa = ", kappa, ", must be finite and at least 1");
  require(epsilon > 0 && std::isfinite(epsilon), "predicted: epsilon = ", epsilon, ", must be finite and positive");
  const Complexity& calls = complexity(method);
  const auto value = [&](const std::optional<Exponents>& e) {
    return e ? std::pow(kappa, e->kappa) * std::pow(epsilon, e->epsilon) : 0.0;
  };
  return {.gc_f = value(calls.gc_f), .gc_g = value(calls.gc_g), .jv = value(calls.jv), .hv = value(calls.hv)};
}

Slope fit_slope(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size(), "fit_slope: x has ", x.size(), " entries and y ", y.size(), ", must be as many");
  require(x.size() >= 2, "fit_slope: ", x.size(), " points, must be at least 2");
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    require(x[i] > 0 && std::isfinite(x[i]), "fit_slope: x[", i, "] = ", x[i], ", must be finite and positive");
    require(y[i] > 0 && std::isfinite(y[i]), "fit_slope: y[", i, "] = ", y[i], ", must be finite and positive");
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    xx += dx * dx;
    xy += dx * std::log(y[i]);
  }
  const auto [smallest, largest] = std::minmax_element(x.begin(), x.end());
  require(*smallest < *largest, "fit_slope: every x = ", x[0], ", must take at least 2 values");
  Slope fit{.slope = xy / xx, .error = NAN, .points = static_cast<int>(x.size())};
  if (x.size() > 2) {
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double residual = std::log(y[i]) - mean_y - fit.slope * (std::log(x[i]) - mean_x);
      squares += residual * residual;
    }
    fit.error = std::sqrt(squares / (n - 2) / xx);
  }
  return fit;
}

}  // namespace hypertape::theory
