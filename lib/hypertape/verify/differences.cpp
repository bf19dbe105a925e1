#include "hypertape/verify/differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace hypertape {

Estimate extrapolate(const std::function<double(double)>& phi, double h0, double noise, int order) {
  constexpr int rows = 16;
  std::array<double, rows> previous{}, row{};
  Estimate best{0, std::numeric_limits<double>::infinity()};
  double h = h0;
  for (int i = 0; i < rows; ++i, h /= 2) {
    row[0] = phi(h);
    const double rounding = noise / std::pow(h, order);
    double power = 4;  // phi is even: its error series has h^2, h^4, ...
    for (int j = 1; j <= i; ++j, power *= 4) {
      row[j] = (power * row[j - 1] - previous[j - 1]) / (power - 1);
      const double error = std::max({std::abs(row[j] - row[j - 1]), std::abs(row[j] - previous[j - 1]), rounding});
      if (error < best.error) best = {row[j], error};
    }
    previous = row;
  }
  return best;
}

double noise_level(const std::function<double(double)>& F, double step) {
  constexpr int samples = 9;
  std::array<double, samples> d;
  for (int i = 0; i < samples; ++i) d[i] = F((i - samples / 2) * step);
  const double unit = std::numeric_limits<double>::epsilon() * std::abs(d[samples / 2]);
  double level = 0, gamma = 1;  // gamma_k = (k!)^2 / (2k)!
  for (int k = 1; k <= 6; ++k) {
    double squares = 0;
    for (int i = 0; i + k < samples; ++i) {
      d[i] = d[i + 1] - d[i];
      squares += d[i] * d[i];
    }
    gamma *= 0.5 * k / (2 * k - 1.0);
    if (k >= 4) level = std::max(level, std::sqrt(gamma * squares / (samples - k)));
  }
  return std::max(level, unit);
}

double observed_order(const std::function<double(double)>& remainder, double h0, double noise) {
  std::vector<double> log_r;  // at h0, h0 / 2, h0 / 4, ... while clear of the noise
  double h = h0;
  for (int k = 0; k < 30; ++k, h /= 2) {
    const double r = std::abs(remainder(h));
    if (!std::isfinite(r)) continue;  // h0 reaches outside the domain of the function
    if (r <= 100 * noise) break;
    log_r.push_back(std::log2(r));
  }
  const auto n = log_r.size();
  if (n < 3) return std::numeric_limits<double>::quiet_NaN();
  return (log_r[n - 3] - log_r[n - 1]) / 2;  // least squares through three equidistant points
}

namespace {

/// A first step that suits the size of the variables.
double first_step(const Point& z) {
  return 0.05 * (1 + std::hypot(z.x.norm(), z.y.norm()) / std::sqrt(static_cast<double>(z.x.size() + z.y.size())));
}

}  // namespace

Differences::Differences(const Value& F, const Point& at) : F_(F), at_(at), h0_(first_step(at)) {}

double Differences::value(double a, const Point& d) const { return F_(at_.x + a * d.x, at_.y + a * d.y); }

double Differences::value(double a, const Point& d, double b, const Point& e) const {
  return F_(at_.x + a * d.x + b * e.x, at_.y + a * d.y + b * e.y);
}

double Differences::noise(const Point& d) const {
  // Two steps: the smaller sees fine noise under steep functions, the larger sees noise that comes in wide steps.
  const auto along = [&](double t) { return value(t, d); };
  return std::max(noise_level(along, 1e-8 * h0_), noise_level(along, 1e-5 * h0_));
}

Estimate Differences::first(const Point& d, double noise) const {
  return extrapolate([&](double h) { return (value(h, d) - value(-h, d)) / (2 * h); }, h0_, noise, 1);
}

Estimate Differences::second(const Point& d, const Point& e, double noise) const {
  const auto quotient = [&](double h) {
    return (value(h, d, h, e) - value(h, d, -h, e) - value(-h, d, h, e) + value(-h, d, -h, e)) / (4 * h * h);
  };
  return extrapolate(quotient, h0_, noise, 2);
}

double Differences::first_order(const Point& d, double claimed, double noise) const {
  const double here = F_(at_.x, at_.y);
  return observed_order([&](double h) { return value(h, d) - here - h * claimed; }, h0_, 2 * noise);
}

double Differences::second_order(const Point& d, const Point& e, double claimed, double noise) const {
  const double here = F_(at_.x, at_.y);
  const auto remainder = [&](double h) {
    return value(h, d, h, e) - value(h, d) - value(h, e) + here - h * h * claimed;
  };
  return observed_order(remainder, h0_, 4 * noise);
}

double Differences::floor(int order, double noise) const { return 100 * noise / std::pow(h0_, order); }

}  // namespace hypertape
