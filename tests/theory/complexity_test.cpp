#include "hypertape/theory/complexity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

using namespace hypertape::theory;
using doctest::Approx;

namespace {

constexpr auto none = std::nullopt;

/// Relative to the value alone: doctest's own comparison takes everything below its scale of 1 for equal to 0.
Approx about(double value, double relative = 1e-12) { return Approx(value).epsilon(relative).scale(0); }

void check(const std::string& method, std::optional<Exponents> gc_f, std::optional<Exponents> gc_g,
           std::optional<Exponents> jv, std::optional<Exponents> hv) {
  CAPTURE(method);
  const auto& calls = complexity(method);
  CHECK((calls.gc_f == gc_f));
  CHECK((calls.gc_g == gc_g));
  CHECK((calls.jv == jv));
  CHECK((calls.hv == hv));
}

}  // namespace

TEST_CASE("the tables of the paper") {
  using E = Exponents;
  check("ba", E{4, -2}, E{5, -2.5}, E{4, -2}, E{4.5, -2});
  check("aid", E{3, -2}, E{4, -2}, E{3, -2}, E{3.5, -2});
  check("itd", E{3, -2}, E{4, -2}, E{4, -2}, E{4, -2});
  check("rahgd", E{2.75, -1.75}, E{3.25, -1.75}, E{2.75, -1.75}, E{3.25, -1.75});
  check("paid", E{3, -2}, E{4, -2}, E{3, -2}, E{3.5, -2});
  check("prahgd", E{2.75, -1.75}, E{3.25, -1.75}, E{2.75, -1.75}, E{3.25, -1.75});
  check("pragda", none, E{1.75, -1.75}, none, none);
  check("imcn", none, E{2, -1.5}, E{1, -2}, E{1.5, -2});
  CHECK(methods() == std::vector<std::string>{"ba", "aid", "itd", "rahgd", "paid", "prahgd", "pragda", "imcn"});
  CHECK_THROWS_WITH(complexity("gda"),
                    "complexity: method = gda, must be ba, aid, itd, rahgd, paid, prahgd, pragda or imcn");
}

TEST_CASE("predicted calls") {
  const auto imcn = predicted("imcn", 4, 0.25);
  CHECK(imcn.gc_f == 0);
  CHECK(imcn.gc_g == about(16 * 8));
  CHECK(imcn.jv == about(4 * 16));
  CHECK(imcn.hv == about(8 * 16));
  CHECK(imcn.total() == about(128 + 64 + 128));
  const auto ba = predicted("ba", 4, 0.25);
  CHECK(ba.gc_f == about(256 * 16));
  CHECK(ba.gc_g == about(1024 * 32));
  CHECK(ba.total() == about(4096 + 32768 + 4096 + 8192));

  // The comparison after theorem 5.2: PRAGDA is never above iMCN (both sides up to constants), and equal at 1/epsilon.
  for (const double kappa : {1.0, 10.0, 100.0, 1e4})
    CHECK(predicted("pragda", kappa, 0.01).total() <= predicted("imcn", kappa, 0.01).total());
  CHECK(predicted("pragda", 100, 0.01).gc_g == about(predicted("imcn", 100, 0.01).gc_g));

  CHECK_THROWS_WITH(predicted("aid", 0.5, 0.1), "predicted: kappa = 0.5, must be finite and at least 1");
  CHECK_THROWS_WITH(predicted("aid", 2, 0), "predicted: epsilon = 0, must be finite and positive");
}

TEST_CASE("a slope is recovered from the calls it predicts") {
  const std::vector<double> kappa{10, 30, 100, 300};
  std::vector<double> calls;
  for (const double k : kappa) calls.push_back(5 * predicted("rahgd", k, 0.1).gc_g);
  const auto fit = fit_slope(kappa, calls);
  CHECK(fit.slope == about(3.25));
  CHECK(fit.error < 1e-12);
  CHECK(fit.points == 4);
}

TEST_CASE("slope and its standard error, by hand") {
  // log x = 0, 1, 2, 3 and log y = 0, 2, 1, 3: slope 4 / 5, residuals -0.3, 0.9, -0.9, 0.3.
  const auto e = [](double t) { return std::exp(t); };
  const auto fit = fit_slope(std::vector{1.0, e(1), e(2), e(3)}, std::vector{1.0, e(2), e(1), e(3)});
  CHECK(fit.slope == about(0.8));
  CHECK(fit.error == about(std::sqrt(1.8 / 2 / 5)));

  // log x = -1, 0, 1 and log y = 1, 0, 2: slope 1/2, residuals 1/2, -1, 1/2.
  const auto three = fit_slope(std::vector{e(-1), 1.0, e(1)}, std::vector{e(1), 1.0, e(2)});
  CHECK(three.slope == about(0.5));
  CHECK(three.error == about(std::sqrt(1.5 / 2)));

  const auto two = fit_slope(std::vector{1.0, 2.0}, std::vector{3.0, 12.0});
  CHECK(two.slope == about(2));
  CHECK(std::isnan(two.error));
  CHECK(two.points == 2);
}

TEST_CASE("what no slope can be fitted to") {
  using V = std::vector<double>;
  CHECK_THROWS_WITH(fit_slope(V{1}, V{1}), "fit_slope: 1 points, must be at least 2");
  CHECK_THROWS_WITH(fit_slope(V{1, 2}, V{1}), "fit_slope: x has 2 entries and y 1, must be as many");
  CHECK_THROWS_WITH(fit_slope(V{1, 0}, V{1, 2}), "fit_slope: x[1] = 0, must be finite and positive");
  CHECK_THROWS_WITH(fit_slope(V{1, 2}, V{-1, 2}), "fit_slope: y[0] = -1, must be finite and positive");
  CHECK_THROWS_WITH(fit_slope(V{2, 2}, V{1, 2}), "fit_slope: every x = 2, must take at least 2 values");
}
