#include "hypertape/tape/local_derivatives.hpp"

#include <cmath>

namespace hypertape {
namespace {

LocalDerivatives of_one(double first, double second) { return {.a = first, .aa = second}; }

/// Of a^b. What has a factor zero is zero, also where a logarithm of zero stands beside it.
LocalDerivatives of_power(double a, double b, double result) {
  const double log_a = a > 0 ? std::log(a) : 0;
  LocalDerivatives d;
  d.a = b == 0 ? 0 : b * std::pow(a, b - 1);
  d.aa = b == 0 || b == 1 ? 0 : b * (b - 1) * std::pow(a, b - 2);
  d.b = result == 0 ? 0 : result * log_a;
  d.bb = d.b * log_a;
  d.ab = (b == 0 ? 1 / a : std::pow(a, b - 1)) * (1 + b * log_a);
  return d;
}

}  // namespace

LocalDerivatives local_derivatives(Op op, double a, double b, double r) {
  const double sqrt_pi = std::sqrt(std::acos(-1.0));
  switch (op) {
    case Op::add:
      return {.a = 1, .b = 1};
    case Op::sub:
      return {.a = 1, .b = -1};
    case Op::mul:
      return {.a = b, .b = a, .ab = 1};
    case Op::div:
      return {.a = 1 / b, .b = -r / b, .ab = -1 / (b * b), .bb = 2 * r / (b * b)};
    case Op::pow:
      return of_power(a, b, r);
    case Op::neg:
      return of_one(-1, 0);
    case Op::abs:
      return of_one(a > 0 ? 1 : a == 0 ? 0 : -1, 0);
    case Op::exp:
      return of_one(r, r);
    case Op::expm1:
      return of_one(r + 1, r + 1);
    case Op::log:
      return of_one(1 / a, -1 / (a * a));
    case Op::log1p:
      return of_one(1 / (1 + a), -1 / ((1 + a) * (1 + a)));
    case Op::sqrt:
      return of_one(0.5 / r, -0.25 / (r * a));
    case Op::sin:
      return of_one(std::cos(a), -r);
    case Op::cos:
      return of_one(-std::sin(a), -r);
    case Op::tan:
      return of_one(1 + r * r, 2 * r * (1 + r * r));
    case Op::asin: {
      const double c = 1 / std::sqrt(1 - a * a);
      return of_one(c, a * c * c * c);
    }
    case Op::acos: {
      const double c = 1 / std::sqrt(1 - a * a);
      return of_one(-c, -a * c * c * c);
    }
    case Op::atan: {
      const double c = 1 / (1 + a * a);
      return of_one(c, -2 * a * c * c);
    }
    case Op::sinh:
      return of_one(std::cosh(a), r);
    case Op::cosh:
      return of_one(std::sinh(a), r);
    case Op::tanh:
      return of_one(1 - r * r, -2 * r * (1 - r * r));
    case Op::asinh: {
      const double c = 1 / std::sqrt(a * a + 1);
      return of_one(c, -a * c * c * c);
    }
    case Op::acosh: {
      const double c = 1 / std::sqrt(a * a - 1);
      return of_one(c, -a * c * c * c);
    }
    case Op::atanh: {
      const double c = 1 / (1 - a * a);
      return of_one(c, 2 * a * c * c);
    }
    case Op::erf: {
      const double c = 2 / sqrt_pi * std::exp(-a * a);
      return of_one(c, -2 * a * c);
    }
    case Op::erfc: {
      const double c = -2 / sqrt_pi * std::exp(-a * a);
      return of_one(c, -2 * a * c);
    }
    default:  // constant where it has derivatives: sign, detach
      return {};
  }
}

}  // namespace hypertape
