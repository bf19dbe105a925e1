#include "hypertape/outer/print.hpp"

#include <doctest/doctest.h>

#include <iomanip>
#include <sstream>

#include "hypertape/outer/imcn.hpp"
#include "hypertape/outer/minimize.hpp"
#include "hypertape/outer/rahgd.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"
#include "support/comma_locale.hpp"

namespace hypertape {
namespace {

/// A run that converged by both errors, and numbers that every machine prints alike.
Result converged() {
  Result r;
  r.status = Status::converged;
  r.message = "|u| = 5e-07 with an error of about 1.25e-08";
  r.x = r.last = Vec{{1.0, 2.0}};
  r.y = Vec{{3.0}};
  r.phi = 1234.5;
  r.gradient_norm = 5e-7;
  r.gradient = Vec{{3e-7, 4e-7}};
  r.error_estimate = 1.25e-8;
  r.error_bound = 0.25;
  r.counts = {11, 1222, 33, 444};
  r.seconds = 0.5;
  r.iterations = 10;
  return r;
}

std::string printed(const Result& r) {
  std::ostringstream out;
  out << r;
  return out.str();
}

std::string line(const Result& r, int number) {
  std::istringstream in(printed(r));
  std::string out;
  for (int i = 0; i < number; ++i) std::getline(in, out);
  return out;
}

}  // namespace

TEST_CASE("a result in three lines") {
  CHECK(printed(converged()) ==
        "converged: |u| = 5e-07 with an error of about 1.25e-08\n"
        "Phi = 1234.5, |u| = 5e-07, its error about 1.25e-08 (estimate), at most 0.25 (bound); converged by the "
        "estimate\n"
        "1710 calls (11 grad f, 1222 grad g, 33 d2g/dxdy v, 444 d2g/dy2 v), 10 iterations, 0.5 s");
}

TEST_CASE("the text is the same in a locale with commas and whatever the flags of the stream, which stay") {
  const std::string plain = printed(converged());
  const testing::CommaLocale locale;
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << converged();
  CHECK(out.str() == plain);
  out.str("");
  out << 1234.56;
  CHECK(out.str() == "1.234,6");
}

TEST_CASE("only what is known is said") {
  Result r = converged();
  r.error_bound = std::numeric_limits<double>::infinity();
  CHECK(line(r, 2) == "Phi = 1234.5, |u| = 5e-07, its error about 1.25e-08 (estimate); converged by the estimate");
  r.error_bound = 1e-9;
  r.error_estimate = std::numeric_limits<double>::infinity();
  r.restarts = 3;
  CHECK(line(r, 2) == "Phi = 1234.5, |u| = 5e-07, its error at most 1e-09 (bound); converged by the bound");
  CHECK(line(r, 3) ==
        "1710 calls (11 grad f, 1222 grad g, 33 d2g/dxdy v, 444 d2g/dy2 v), 10 iterations, 3 restarts, 0.5 s");
  r.status = Status::stagnated;
  CHECK(line(r, 2) == "Phi = 1234.5, |u| = 5e-07, its error at most 1e-09 (bound)");
  r.error_bound = std::numeric_limits<double>::infinity();
  r.message = "";
  CHECK(line(r, 1) == "stagnated");
  CHECK(line(r, 2) == "Phi = 1234.5, |u| = 5e-07, of unknown error");
}

TEST_CASE("three lines whatever the message, and before there is anything to tell") {
  Result r;
  r.status = Status::failed;
  r.message = "the disk\nis full";
  CHECK(printed(r) ==
        "failed: the disk is full\n"
        "no hypergradient was computed\n"
        "0 calls (0 grad f, 0 grad g, 0 d2g/dxdy v, 0 d2g/dy2 v), 0 iterations, 0 s");
}

TEST_CASE("which error a run converged by") {
  auto quadratic = problems::make_quadratic(problems::generate_quadratic({.kappa = 10, .seed = 1}));
  const auto solved = minimize(*quadratic.oracle, quadratic.start);
  REQUIRE(solved.status == Status::converged);
  CHECK(converged_by(solved) == std::string("estimate"));
  RahgdOptions options;
  const auto certified = rahgd(*quadratic.oracle, options, quadratic.start);
  REQUIRE(certified.status == Status::converged);
  CHECK(converged_by(certified) == std::string("bound"));
  options.stop.max_calls = 30;
  CHECK(converged_by(rahgd(*quadratic.oracle, options, quadratic.start)) == std::string());

  // K steps without a restart, and what the cubic model promises, say nothing of errors, even if these are known.
  const RahgdOptions printed{.outer = {.eta = 0.01, .theta = 0.5, .B = 1e6, .K = 5, .strict_paper = true}};
  const auto strict = rahgd(*quadratic.oracle, printed, quadratic.start);
  REQUIRE(strict.status == Status::converged);
  CHECK(converged_by(strict) == std::string("rule"));
  auto minimax = problems::make_synthetic_minimax();
  const auto cubic =
      imcn(*minimax.oracle, {.lower = {.mu = 10, .l = 20, .steps = 3, .products = 2}, .M = 2, .L = 0.2, .mu_s = 1},
           minimax.start);
  REQUIRE(cubic.status == Status::converged);
  CHECK(converged_by(cubic) == std::string("rule"));
}

}  // namespace hypertape
