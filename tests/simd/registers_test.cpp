// exp and log of the kernels, as a program on packs calls them, and what looks for entries that are not finite.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/every_set.hpp"
#include "support/pack_operation.hpp"

using namespace hypertape;
using namespace hypertape::testing;

namespace {

/// The largest errors over all values, in steps from the function of <cmath> and in ulp of the true value.
struct Worst {
  double steps = 0, ulp = 0, at = 0;
};

template <class Reference, class Exact>
Worst worst_error(const std::vector<double>& values, const Operation& f, const Reference& reference,
                  const Exact& exact) {
  Worst worst;
  for (std::size_t i = 0; i < values.size(); i += pack_lanes) {
    const Pack pack = f(values, i);
    for (std::size_t l = 0; l < pack_lanes; ++l) {
      const double t = values[(i + l) % values.size()], value = pack.lane[l];
      if (const double s = steps(value, reference(t)); s > worst.steps) worst.steps = s, worst.at = t;
      if (const long double e = exact(t); std::isfinite(static_cast<double>(e)) && e != 0 && std::isfinite(value))
        worst.ulp = std::max(worst.ulp, error_in_ulp(value, e));
    }
  }
  return worst;
}

Worst worst_exp(const Operation& exp_of, const std::vector<double>& values) {
  return worst_error(
      values, exp_of, [](double t) { return std::exp(t); },
      [](double t) { return std::exp(static_cast<long double>(t)); });
}

Worst worst_log(const Operation& log_of, const std::vector<double>& values) {
  return worst_error(
      values, log_of, [](double t) { return std::log(t); },
      [](double t) { return std::log(static_cast<long double>(t)); });
}

}  // namespace

TEST_CASE("exp is the double next to that of cmath, or the same, over its whole range") {
  const Operation exp_of{Op::exp, every_set()};
  Random random(1);
  std::vector<double> wide, around_zero, halfway;
  for (int i = 0; i < 40000; ++i) {
    wide.push_back(-746 + 1456 * random.uniform());
    around_zero.push_back((random.below(2) ? 1 : -1) * std::exp2(-60 * random.uniform()));
    // Close to (n + 1/2) log 2, where the reduced argument is largest.
    halfway.push_back((std::floor(2000 * random.uniform() - 1000) + 0.5 + 1e-9 * random.normal()) * std::log(2.0));
  }
  for (const auto* values : {&wide, &around_zero, &halfway}) {
    const Worst worst = worst_exp(exp_of, *values);
    CAPTURE(worst.at);
    CHECK(worst.steps <= 1);
    if (has_long_double()) CHECK(worst.ulp < 1.25);
  }
}

TEST_CASE("exp of tiny, huge and arbitrary doubles is that of cmath") {
  const Operation exp_of{Op::exp, every_set()};
  Random random(2);
  std::vector<double> any;
  for (int i = 0; i < 20000; ++i) any.push_back((random.below(2) ? 1 : -1) * any_positive(random));
  CHECK(worst_exp(exp_of, any).steps <= 1);
  for (const double t : {0.0, -0.0, smallest, -smallest, smallest_normal, -smallest_normal, 1e-300, -1e-20}) {
    CAPTURE(t);
    CHECK(exp_of(t) == 1);
  }
  CHECK(exp_of(infinity) == infinity);
  CHECK(exp_of(-infinity) == 0);
  CHECK(exp_of(largest) == infinity);
  CHECK(exp_of(-largest) == 0);
  CHECK_FALSE(std::signbit(exp_of(-infinity)));
  CHECK(std::isnan(exp_of(not_a_number)));
  CHECK(std::isnan(exp_of(-not_a_number)));
}

TEST_CASE("exp overflows and underflows where cmath does") {
  const Operation exp_of{Op::exp, every_set()};
  for (const double t : neighbours(709.782712893384, 20)) {
    CAPTURE(t - 709.782712893384);
    CHECK(std::isinf(exp_of(t)) == std::isinf(std::exp(t)));
    CHECK(steps(exp_of(t), std::exp(t)) <= 1);
  }
  CHECK(std::isfinite(exp_of(709.782712893384)));
  CHECK(exp_of(709.79) == infinity);
  CHECK(exp_of(710.5) == infinity);
  for (const double t : neighbours(-745.1332191019412, 20)) {
    CAPTURE(t + 745.1332191019412);
    CHECK(exp_of(t) == std::exp(t));  // the smallest number, or zero
  }
  CHECK(exp_of(-745.13) == smallest);
  CHECK(exp_of(-745.14) == 0);
  CHECK(exp_of(-746.5) == 0);
  // Among the subnormal numbers each result is the true one, rounded once.
  std::vector<double> subnormal;
  for (int i = 0; i < 4000; ++i) subnormal.push_back(-745.1 + i * (745.1 - 708.3) / 4000);
  const Worst worst = worst_exp(exp_of, subnormal);
  CAPTURE(worst.at);
  CHECK(worst.steps <= 1);
}

TEST_CASE("log is within one ulp for every exponent, near one, and where exponents change") {
  const Operation log_of{Op::log, every_set()};
  Random random(3);
  std::vector<double> any, around_one, at_powers, at_the_seam;
  for (int i = 0; i < 40000; ++i) {
    any.push_back(any_positive(random));
    around_one.push_back(1 + (random.below(2) ? 1 : -1) * std::exp2(-1.2 - 51 * random.uniform()));
    at_powers.push_back(std::ldexp(1 + 1e-6 * random.normal(), static_cast<int>(random.below(2040)) - 1020));
    at_the_seam.push_back(
        std::ldexp(std::sqrt(0.5) * (1 + 1e-6 * random.normal()), static_cast<int>(random.below(8)) - 4));
  }
  for (const auto* values : {&any, &around_one, &at_powers, &at_the_seam}) {
    const Worst worst = worst_log(log_of, *values);
    CAPTURE(worst.at);
    CHECK(worst.steps <= 1);
    if (has_long_double()) CHECK(worst.ulp < 1);
  }
  for (const double t : neighbours(1, 30)) {
    CAPTURE(t - 1);
    CHECK(steps(log_of(t), std::log(t)) <= 1);
  }
}

TEST_CASE("log of subnormal numbers and of the ends of the range is that of cmath") {
  const Operation log_of{Op::log, every_set()};
  Random random(4);
  std::vector<double> subnormal{smallest, 2 * smallest, 3 * smallest, smallest_normal - smallest};
  for (int i = 0; i < 20000; ++i) subnormal.push_back(std::bit_cast<double>(random.below(0x0010000000000000u)));
  const Worst worst = worst_log(log_of, subnormal);
  CAPTURE(worst.at);
  CHECK(worst.steps <= 1);
  for (const double t : neighbours(smallest_normal, 10)) CHECK(steps(log_of(t), std::log(t)) <= 1);
  CHECK(steps(log_of(largest), std::log(largest)) <= 1);
}

TEST_CASE("log outside its domain is what cmath says") {
  const Operation log_of{Op::log, every_set()};
  CHECK(log_of(1) == 0);
  CHECK_FALSE(std::signbit(log_of(1)));
  CHECK(log_of(0.0) == -infinity);
  CHECK(log_of(-0.0) == -infinity);
  CHECK(log_of(infinity) == infinity);
  for (const double t : {-smallest, -smallest_normal, -1.0, -largest, -infinity, not_a_number, -not_a_number}) {
    CAPTURE(t);
    CHECK(std::isnan(log_of(t)));
  }
}

TEST_CASE("every lane is computed by itself, whatever stands in the others") {
  const InstructionSet set = every_set();
  const Operation exp_of{Op::exp, set}, log_of{Op::log, set};
  const std::vector<double> values{0.5,     not_a_number, 2.0,      -infinity, 700.0,  -1.0, infinity,
                                   0.0,     -0.0,         smallest, 710.0,     -746.0, 3.0,  smallest_normal,
                                   largest, -745.0};
  for (std::size_t shift = 0; shift < values.size(); ++shift) {
    const Pack exps = exp_of(values, shift), logs = log_of(values, shift);
    for (std::size_t l = 0; l < pack_lanes; ++l) {
      const double t = values[(shift + l) % values.size()];
      CAPTURE(t);
      CAPTURE(l);
      CHECK(steps(exps.lane[l], std::exp(t)) <= 1);
      CHECK(steps(logs.lane[l], std::log(t)) <= 1);
      CHECK(steps(exps.lane[l], exp_of(t)) == 0);
      CHECK(steps(logs.lane[l], log_of(t)) == 0);
    }
  }
}

TEST_CASE("one entry that is not finite is noticed, wherever it stands; huge, tiny and negative ones are not") {
  const Kernels& k = kernels(every_set());
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t size = 0; size <= 40; ++size) {
    CAPTURE(size);
    std::vector<double> v(size, -std::numeric_limits<double>::max());
    for (std::size_t i = 0; i < size; i += 3) v[i] = std::numeric_limits<double>::denorm_min();
    CHECK(k.all_finite(v.data(), static_cast<std::ptrdiff_t>(size)));
    int missed = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (const double bad : {inf, -inf, nan, -nan}) {
        const double kept = std::exchange(v[i], bad);
        missed += k.all_finite(v.data(), static_cast<std::ptrdiff_t>(size)) ? 1 : 0;
        v[i] = kept;
      }
    CHECK(missed == 0);
  }
}
