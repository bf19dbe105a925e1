// The functions of the kernels, as a program on packs calls them. exp and log are in registers_test.cpp.
#include <doctest/doctest.h>

#include <numbers>
#include <string>

#include "support/every_set.hpp"
#include "support/pack_operation.hpp"

using namespace hypertape;
using namespace hypertape::testing;

namespace {

// lib/hypertape/simd/variant promises 1.5 ulp; what is allowed here is a tenth more than the largest error among
// millions of points, so that a digit that gets lost is noticed.
constexpr double pow_allowed_ulp = 1.05;
/// Where the true value is not to be had, from <cmath>, which may be four ulp off itself.
constexpr double allowed_steps = 6;

struct UnaryFunction {
  Op op;
  std::string name;
  double allowed_ulp;
  double (*reference)(double);
  long double (*exact)(long double);
  std::vector<double> hard;  ///< where digits are lost easily, formulas change, or the domain ends
};

constexpr double pi = std::numbers::pi, ln2 = std::numbers::ln2;

const std::vector<UnaryFunction>& functions() {
  static const std::vector<UnaryFunction> list = {
      {Op::sqrt, "sqrt", 0.501, std::sqrt, std::sqrt, {0, 1, 2}},
      {Op::abs, "abs", 0, std::fabs, std::fabs, {0}},
      {Op::exp, "exp", 0.95, std::exp, std::exp, {0, ln2 / 2, 709.78, -708.4, -745.1}},
      {Op::expm1, "expm1", 1.15, std::expm1, std::expm1, {0, ln2 / 2, -ln2 / 2, 1.5 * ln2, 709.78, -36.7, -37.5, -45}},
      {Op::log, "log", 1.05, std::log, std::log, {1, std::sqrt(0.5), std::sqrt(2), smallest_normal}},
      {Op::log1p, "log1p", 1.05, std::log1p, std::log1p, {0, -1, std::sqrt(0.5) - 1, std::sqrt(2) - 1}},
      {Op::sin, "sin", 0.95, std::sin, std::sin, {0, pi / 4, pi / 2, pi, 355, 0x1p20}},
      {Op::cos, "cos", 0.95, std::cos, std::cos, {0, pi / 4, pi / 2, pi, 5.5 * pi, 0x1p20}},
      {Op::tan, "tan", 1.15, std::tan, std::tan, {0, pi / 4, pi / 2, pi, 355, 0x1p20}},
      {Op::asin, "asin", 0.75, std::asin, std::asin, {0, 0.5, -0.5, 1, -1}},
      {Op::acos, "acos", 0.75, std::acos, std::acos, {0, 0.5, -0.5, 1, -1}},
      {Op::atan, "atan", 0.95, std::atan, std::atan, {0, std::sqrt(2) - 1, 1, std::sqrt(2) + 1, 0x1p100}},
      {Op::sinh, "sinh", 0.85, std::sinh, std::sinh, {0, 0x1p-27, ln2 / 2, 1.5 * ln2, 20, 710.47}},
      {Op::cosh, "cosh", 0.7, std::cosh, std::cosh, {0, ln2 / 2, 1.5 * ln2, 20, 710.47}},
      {Op::tanh, "tanh", 0.9, std::tanh, std::tanh, {0, ln2 / 4, 0.75 * ln2, 18.5, 22.5}},
      {Op::asinh, "asinh", 1.35, std::asinh, std::asinh, {0, 0.36, 1, 1.14, 0x1p28}},
      {Op::acosh, "acosh", 1.1, std::acosh, std::acosh, {1, 1.06, 2, 0x1p28}},
      {Op::atanh, "atanh", 1.1, std::atanh, std::atanh, {0, 3 - std::sqrt(8), 0.5, 1, -1, 0x1p-54}},
      {Op::erf, "erf", 1.5, std::erf, std::erf, {0, 0.5, 1, 2, 5.9}},
      {Op::erfc, "erfc", 1.35, std::erfc, std::erfc, {0, 0.5, -0.5, -1, 1, 4, 10, 26.54, 27.22}},
  };
  return list;
}

/// The worst of many results against the true values: a not-a-number or a sign where the other has none is infinitely
/// bad.
struct Worst {
  double error = 0, at = 0, at_second = 0;

  void look_at(double value, double reference, long double exact, double a, double b = 0) {
    double e = infinity;
    if (std::isnan(reference) || std::isinf(reference) || reference == 0 || !has_long_double())
      e = steps(value, reference) > allowed_steps ? infinity : 0;
    else if (std::isfinite(value))
      e = error_in_ulp(value, exact);
    else if (std::isinf(value) && std::abs(reference) == largest)
      e = 1;
    if (!std::isnan(reference) && std::signbit(value) != std::signbit(reference)) e = infinity;
    if (e > error) error = e, at = a, at_second = b;
  }
};

Worst worst_error(const UnaryFunction& f, InstructionSet set, const std::vector<double>& values) {
  const Operation operation{f.op, set};
  Worst worst;
  for (std::size_t i = 0; i < values.size(); i += pack_lanes) {
    const Pack pack = operation(values, i);
    for (std::size_t l = 0; l < pack_lanes; ++l) {
      const double t = values[(i + l) % values.size()];
      worst.look_at(pack.lane[l], f.reference(t), f.exact(t), t);
    }
  }
  return worst;
}

double sign_of(Random& random) { return random.below(2) ? 1 : -1; }

const std::vector<double> special_values = {0.0,
                                            -0.0,
                                            smallest,
                                            -smallest,
                                            smallest_normal,
                                            -smallest_normal,
                                            smallest_normal - smallest,
                                            1e-300,
                                            -1e-20,
                                            0x1p-54,
                                            0.5,
                                            -0.5,
                                            1,
                                            -1,
                                            2,
                                            -2,
                                            22.6,
                                            -46,
                                            711,
                                            -746.5,
                                            1e20,
                                            -1e200,
                                            largest,
                                            -largest,
                                            infinity,
                                            -infinity,
                                            not_a_number,
                                            -not_a_number};

}  // namespace

TEST_CASE(
    "functions are within 1.5 ulp of the true value: at any magnitude, where they are used, and where it is hard") {
  const InstructionSet set = every_set();
  Random random(1);
  for (const UnaryFunction& f : functions()) {
    CAPTURE(f.name);
    std::vector<double> any, usual, hard, subnormal, multiples;
    for (int i = 0; i < 10000; ++i) {
      any.push_back(sign_of(random) * any_positive(random));
      usual.push_back(sign_of(random) * 10 * random.uniform());
      usual.push_back(sign_of(random) * 760 * random.uniform());
      usual.push_back(1 + 2 * random.uniform());
      usual.push_back(sign_of(random) * std::exp2(-60 * random.uniform()));
      const double h = f.hard[random.below(f.hard.size())];
      hard.push_back(h + (h == 0 ? 1 : h) * random.normal() * std::exp2(-56 * random.uniform()));
      subnormal.push_back(sign_of(random) * std::bit_cast<double>(random.below(0x0020000000000000u)));
      // Next to zeros and poles of sin, cos and tan.
      const double m = std::nearbyint(667544 * std::pow(random.uniform(), 4)) * (pi / 2);
      multiples.push_back(std::nextafter(m, m + sign_of(random)));
      multiples.push_back(m);
    }
    for (const double h : f.hard)
      for (const double t : neighbours(h, 50)) hard.push_back(t);
    for (const auto* values : {&any, &usual, &hard, &subnormal, &multiples}) {
      const Worst worst = worst_error(f, set, *values);
      CAPTURE(worst.at);
      CHECK(worst.error <= f.allowed_ulp);
    }
  }
}

TEST_CASE("angles that are closest to multiples of pi/2 keep their digits") {
  // Numerators of the continued fraction of pi/2, and times powers of two: doubles that are nearly multiples of it.
  const InstructionSet set = every_set();
  std::vector<double> close;
  for (const double numerator :
       {11.0, 344.0, 355.0, 51819.0, 52174.0, 260515.0, 573204.0, 833719.0, 103993.0, 104348.0, 208341.0, 312689.0})
    for (double t = numerator; t < 0x1p22; t *= 2) close.push_back(t);
  close.push_back(0x1.921fb54442d18p+0);
  for (const UnaryFunction& f : functions())
    if (f.op == Op::sin || f.op == Op::cos || f.op == Op::tan) {
      const Worst worst = worst_error(f, set, close);
      CAPTURE(f.name);
      CAPTURE(worst.at);
      CHECK(worst.error <= f.allowed_ulp);
      // Beyond 2^20 they are those of cmath; the last one is the closest of all.
      for (const double t : {0x1.0000000000001p20, -1e9, 1e300, 0x1.6ac5b262ca1ffp+849})
        CHECK(Operation{f.op, set}(t) == f.reference(t));
    }
}

TEST_CASE("zeros with their signs, infinities, subnormal numbers and not-a-numbers are those of cmath") {
  const InstructionSet set = every_set();
  for (const UnaryFunction& f : functions())
    for (const double t : special_values) {
      CAPTURE(f.name);
      CAPTURE(t);
      const double value = Operation{f.op, set}(t), reference = f.reference(t);
      // Values that are exact must be so; the sign of a not-a-number says nothing.
      const bool must_equal = std::abs(reference) <= smallest_normal || std::abs(reference) == 1 ||
                              std::abs(reference) == 2 || std::isinf(reference) || std::isnan(reference);
      CHECK(steps(value, reference) <= (must_equal ? 0 : 2));
      if (!std::isnan(reference)) CHECK(std::signbit(value) == std::signbit(reference));
    }
  const Operation sign{Op::sign, set};
  for (const double t : special_values) CHECK(sign(t) == evaluate(Op::sign, {t}));
}

TEST_CASE("pow is next to the true value up to overflow and underflow") {
  const Operation power{Op::pow, every_set()};
  Random random(3);
  const auto worst_of = [&](const auto& base, const auto& exponent) {
    std::vector<double> a, b;
    for (int i = 0; i < 10016; ++i) {
      a.push_back(base());
      b.push_back(exponent(a.back()));
    }
    Worst worst;
    for (std::size_t i = 0; i < a.size(); i += pack_lanes) {
      const Pack pack = power(a, b, i);
      for (std::size_t l = 0; l < pack_lanes; ++l)
        worst.look_at(pack.lane[l], std::pow(a[i + l], b[i + l]),
                      std::pow(static_cast<long double>(a[i + l]), b[i + l]), a[i + l], b[i + l]);
    }
    return worst;
  };
  const auto whole_range = [&](double x) { return (2 * random.uniform() - 1) * 747 / std::abs(std::log(x)); };
  const auto integer = [&](double) { return static_cast<double>(random.below(401)) - 200; };
  const Worst worst[] = {
      worst_of([&] { return any_positive(random); }, whole_range),
      worst_of([&] { return 0.5 + random.uniform(); }, whole_range),
      worst_of([&] { return 1 + 0.5 * random.normal() * std::exp2(-50 * random.uniform()); }, whole_range),
      // The logarithm's series converges slowest here, and the exponent takes its error a thousand times.
      worst_of([&] { return std::sqrt(random.below(2) ? 2 : 0.5) * (1 + 1e-3 * random.normal()); }, whole_range),
      worst_of([&] { return std::bit_cast<double>(random.below(0x0020000000000000u)); },
               [&](double) { return 2.1 * random.uniform() - 1.05; }),
      worst_of([&] { return -10 * random.uniform(); }, integer),
      worst_of([&] { return static_cast<double>(random.below(21)) - 10; }, integer),
      worst_of([&] { return 100 * random.uniform(); }, [&](double) { return 4 * random.normal(); }),
  };
  for (const Worst& w : worst) {
    CAPTURE(w.at);
    CAPTURE(w.at_second);
    CHECK(w.error <= pow_allowed_ulp);
  }
  CHECK(power(3, 4) == 81);
  CHECK(power(10, -1) == 0.1);
  CHECK(power(2, -1074) == smallest);
  CHECK(power(-2, 1023) == -0x1p1023);
}

TEST_CASE("pow has all special cases of cmath") {
  const Operation power{Op::pow, every_set()};
  std::vector<double> values = special_values;
  for (const double t : {3.0, 4.0, 0x1p51 + 0.5, 0x1p52 + 1, 0x1p53 - 1, 0x1p53, 0x1p70, 1 + 0x1p-52, 1 - 0x1p-53})
    for (const double s : {1, -1}) values.push_back(s * t);
  for (const double a : values)
    for (const double b : values) {
      CAPTURE(a);
      CAPTURE(b);
      const double value = power(a, b), reference = std::pow(a, b);
      const bool must_equal = reference == 0 || std::abs(reference) == 1 || !std::isfinite(reference);
      CHECK(steps(value, reference) <= (must_equal ? 0 : 2));
      if (!std::isnan(reference)) CHECK(std::signbit(value) == std::signbit(reference));
    }
}

TEST_CASE("every lane is computed by itself, also where some are left to cmath, and in place") {
  const InstructionSet set = every_set();
  std::vector<double> values = special_values;
  for (const double t : {0.3, -0.7, 0.99, 3.3, 1e7, -1e6, 0x1p20, 0x1.0000000000001p20}) values.push_back(t);
  for (const UnaryFunction& f : functions()) {
    CAPTURE(f.name);
    const Operation operation{f.op, set};
    for (std::size_t first = 0; first < values.size(); ++first) {
      Pack pack = operation(values, first), in_place;
      for (std::size_t l = 0; l < pack_lanes; ++l) in_place.lane[l] = values[(first + l) % values.size()];
      const Instruction code{Instruction::Code::operation, f.op, 0, {}};
      const double* const slots[] = {in_place.lane};
      kernels(set).run(&code, 1, slots, nullptr);
      double largest_difference = 0;
      for (std::size_t l = 0; l < pack_lanes; ++l) {
        const double alone = operation(values[(first + l) % values.size()]);
        largest_difference = std::max({largest_difference, steps(pack.lane[l], alone), steps(in_place.lane[l], alone)});
      }
      CHECK(largest_difference == 0);
    }
  }
}
