// Leaving a strict saddle, with lower levels solved so accurately that their errors are no perturbation.

#include <doctest/doctest.h>

#include "hypertape/outer/aid.hpp"
#include "hypertape/outer/pragda.hpp"
#include "hypertape/outer/rahgd.hpp"
#include "problems/dense.hpp"
#include "problems/strict_saddle/strict_saddle.hpp"
#include "problems/synthetic_minimax/synthetic_minimax.hpp"

namespace hypertape {
namespace {

using problems::SaddleStart;

constexpr double accuracy = 1e-12;
const LowerOptions lower_options{.mu = 0.1, .l = 1, .cross = 1, .c_y = 3};  // Phi is 2-smooth near its minima

/// Calls until Phi - min Phi <= 1e-6, or nothing.
struct Watch {
  explicit Watch(const problems::Problem& watched) : problem(watched) {}
  const problems::Problem& problem;
  std::int64_t calls = 0;
  Observer observer() {
    return [this](const Iterate& i) {
      if (problem.closed_form.phi(i.x) - problem.optimum->phi > 1e-6) return true;
      calls = i.counts.total();
      return false;
    };
  }
};

problems::Problem at_saddle() { return problems::make_strict_saddle({}, SaddleStart::saddle); }

RahgdOptions prahgd_options() {
  return {.stop = {.tolerance = accuracy, .max_calls = 400'000},
          .lower = lower_options,
          .outer = {.eta = 0.5, .theta = 0.2, .B = 1, .r = 0.01, .ctol = accuracy}};
}

AidOptions paid_options() {
  return {.stop = {.tolerance = accuracy, .max_calls = 400'000},
          .lower = lower_options,
          .outer = {.eta = 0.5, .r = 0.01, .threshold = 1e-6, .ctol = accuracy}};
}

}  // namespace

TEST_CASE("prahgd leaves the saddle at least 2.5 times cheaper than aid and paid") {
  auto problem = at_saddle();
  Watch prahgd(problem), paid(problem), paid_accelerated(problem), aid_alone(problem);
  rahgd(*problem.oracle, prahgd_options(), problem.start, prahgd.observer());
  REQUIRE(prahgd.calls > 0);

  AidOptions options = paid_options();
  options.lower.beta = 0;
  aid(*problem.oracle, options, problem.start, paid.observer());
  CHECK(2 * paid.calls > 5 * prahgd.calls);

  options.lower.beta = std::nullopt;  // more than its definition gives it
  aid(*problem.oracle, options, problem.start, paid_accelerated.observer());
  CHECK(paid_accelerated.calls > prahgd.calls);
  options.lower.beta = 0;

  options.outer.r = 0;
  options.stop = {.tolerance = 0, .max_calls = 25 * prahgd.calls / 10};
  const Result unperturbed = aid(*problem.oracle, options, problem.start, aid_alone.observer());
  CHECK(unperturbed.status == Status::call_limit);
  CHECK(aid_alone.calls == 0);
}

TEST_CASE("prahgd ends at a minimum, not at the saddle where its gradient is certified") {
  auto problem = at_saddle();
  const Result result = rahgd(*problem.oracle, prahgd_options(), problem.start);
  CHECK(result.status == Status::converged);
  CHECK(result.phi - problem.optimum->phi < 1e-12);
  CHECK(problems::symmetric_eigenvalues(problem.closed_form.hess_phi(result.x))[0] > 0);
}

TEST_CASE("as printed, with the start unperturbed, prahgd returns the saddle") {
  auto problem = at_saddle();
  RahgdOptions options = prahgd_options();
  options.outer.perturb_start = false;
  options.outer.strict_paper = true;
  options.outer.K = 50;
  const Result result = rahgd(*problem.oracle, options, problem.start);
  CHECK(result.status == Status::converged);
  CHECK(result.restarts == 0);
  CHECK((result.average - problem.start.x).norm() < 1e-10);
  CHECK(result.phi - problem.optimum->phi > 0.05);
}

TEST_CASE("without perturbation rahgd is certified to be stationary at the saddle") {
  auto problem = at_saddle();
  RahgdOptions options = prahgd_options();
  options.outer.r = 0;
  const Result result = rahgd(*problem.oracle, options, problem.start);
  CHECK(result.status == Status::converged);
  CHECK(result.phi - problem.optimum->phi > 0.05);
}

TEST_CASE("K decides whether a perturbed run waits long enough") {
  // With K = 1 the first certified point is taken; the perturbation there has not grown yet.
  auto problem = at_saddle();
  RahgdOptions options = prahgd_options();
  options.stop.tolerance = 1e-2;
  options.outer.r = 1e-3;
  options.outer.K = 1;
  const Result hasty = rahgd(*problem.oracle, options, problem.start);
  CHECK(hasty.status == Status::converged);
  CHECK(hasty.phi - problem.optimum->phi > 0.05);
  options.outer.K = std::nullopt;  // by the formula
  const Result patient = rahgd(*problem.oracle, options, problem.start);
  CHECK(patient.status == Status::converged);
  CHECK(patient.phi - problem.optimum->phi < 1e-3);
}

TEST_CASE("pragda finds the basin of the minimax problem from both starts, for 21 seeds") {
  for (const auto start : {problems::MinimaxStart::near_saddle, problems::MinimaxStart::far})
    for (std::uint64_t seed = 1; seed <= 21; ++seed) {
      CAPTURE(seed);
      auto problem = problems::make_synthetic_minimax({}, start);
      const Result result = pragda(*problem.oracle,
                                   {.stop = {.tolerance = 1e-7, .max_calls = 20'000},
                                    .lower = {.mu = 10, .l = 20, .steps = 1},
                                    .outer = {.eta = 0.5, .theta = 0.1, .B = 0.3, .r = 1e-3, .seed = seed}},
                                   problem.start);
      CHECK(result.status == Status::converged);
      CHECK(problem.closed_form.phi(result.x) - problem.optimum->phi < 1e-6);
      CHECK(result.counts.hv == 0);
      CHECK(result.counts.jv == 0);
    }
}

}  // namespace hypertape
