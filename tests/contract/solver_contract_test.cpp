// What every solver owes its users, run for every registered solver on every problem that it accepts.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "contract/allocations.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/outer/registry.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "problems/registry.hpp"
#include "support/faulty_oracle.hpp"
#include "support/throwing_oracle.hpp"

using namespace hypertape;
using testing::Call;
using testing::FaultyOracle;
using testing::ThrowingOracle;

namespace {

std::string exact(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

/// What is known of this problem, and `more`.
Settings settings(const SolverEntry& solver, const problems::Constants& constants, Settings more = {}) {
  Settings out, all{{"mu", exact(constants.mu)}, {"l", exact(constants.l)}, {"M", "2"}, {"L", "1"}};
  all.insert(all.end(), more.begin(), more.end());
  for (auto& setting : all)
    if (solver.has_option(setting.first)) out.push_back(setting);
  return out;
}

/// contract(solver, problem) for all pairs that fit.
template <class Contract>
void for_every_solver(const Contract& contract) {
  for (const auto& entry : problems::registry())
    for (const SolverEntry& solver : solvers()) {
      problems::Problem problem = problems::make_problem(entry.name);
      if (solver.minimax && !problem.minimax) continue;
      CAPTURE(entry.name);
      CAPTURE(solver.name);
      contract(solver, problem);
    }
}

}  // namespace

TEST_CASE("a budget of calls is kept to the call") {
  for_every_solver([](const SolverEntry& solver, problems::Problem& problem) {
    for (const int allowed : {0, 1, 2, 17, 200, 1000}) {
      CAPTURE(allowed);
      CountingOracle counted(*problem.oracle);
      const Result result = solver.solve(
          counted, settings(solver, problem.constants, {{"max_calls", std::to_string(allowed)}}), problem.start, {});
      CHECK(counted.counts().total() <= allowed);
      CHECK(counted.counts() == result.counts);
      if (result.status == Status::call_limit) CHECK(result.counts.total() == allowed);
      if (allowed < 17) CHECK(result.status == Status::call_limit);
      CHECK(result.x.allFinite());
      CHECK(result.x.size() == problem.start.x.size());
      CHECK(!result.message.empty());
    }
  });
}

TEST_CASE("budgets of iterations and time are kept") {
  for_every_solver([](const SolverEntry& solver, problems::Problem& problem) {
    const Result three = solver.solve(
        *problem.oracle,
        settings(solver, problem.constants, {{"max_iterations", "3"}, {"tolerance", "0"}, {"most", "300"}}),
        problem.start, {});
    CHECK(three.status == Status::iteration_limit);
    CHECK(three.iterations == 3);
    const Result none =
        solver.solve(*problem.oracle, settings(solver, problem.constants, {{"max_seconds", "0"}}), problem.start, {});
    CHECK(none.status == Status::time_limit);
    CHECK(none.counts.total() == 0);
  });
}

TEST_CASE("an oracle that is not finite ends with not_finite and a finite point") {
  struct Fault {
    Call call;
    bool value;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  int met = 0;
  for_every_solver([&](const SolverEntry& solver, problems::Problem& problem) {
    for (const Fault& fault : {Fault{Call::grad_f, true}, Fault{Call::grad_f, false}, Fault{Call::grad_y_g, false},
                               Fault{Call::curvature, false}, Fault{Call::cross_product, false}})
      for (const int from : {1, 60})
        for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
          CAPTURE(static_cast<int>(fault.call));
          CAPTURE(fault.value);
          CAPTURE(from);
          CAPTURE(wrong);
          FaultyOracle faulty(*problem.oracle, fault.call, fault.value, from, wrong);
          const Result result =
              solver.solve(faulty, settings(solver, problem.constants, {{"max_calls", "1500"}}), problem.start, {});
          CHECK(result.x.allFinite());
          if (!faulty.went_wrong()) continue;
          CHECK(result.status == Status::not_finite);
          ++met;
        }
  });
  CHECK(met > 500);
}

TEST_CASE("steps that are too long end with diverged and numbers in the message") {
  for (const SolverEntry& solver : solvers()) {
    if (solver.name == "auto") continue;  // makes them shorter
    CAPTURE(solver.name);
    problems::Problem problem = problems::make_problem(solver.minimax ? "synthetic_minimax" : "quadratic");
    Settings more{{"eta", "1000"}, {"max_calls", "1000000"}, {"perturb_start", "true"}, {"r", "0.1"}};
    if (solver.name == "imcn") more = {{"M", "1e-200"}, {"mu_s", "50"}, {"tolerance", "0"}, {"max_calls", "1000000"}};
    const Result result = solver.solve(*problem.oracle, settings(solver, problem.constants, more), problem.start, {});
    CHECK(result.status == Status::diverged);
    CHECK(result.message.find("grew from") != std::string::npos);
    CHECK(result.x.allFinite());
  }
}

TEST_CASE("a lower level that is not strongly convex is found out") {
  // g = y_0^2 / 2 - c y_1^2 / 2 - x'y, with f in place of -g for the minimax solvers.
  const auto g = [](const auto& x, const auto& y) {
    return 0.5 * y[0] * y[0] - 0.2 * y[1] * y[1] - x[0] * y[0] - x[1] * y[1];
  };
  const auto f = [](const auto& x, const auto& y) {
    return 0.5 * (y[0] - 1.0) * (y[0] - 1.0) + 0.5 * (y[1] + 2.0) * (y[1] + 2.0) + 0.5 * x[0] * x[0] +
           0.5 * x[1] * x[1];
  };
  const auto minus_g = [g](const auto& x, const auto& y) { return -g(x, y) + 0.5 * x[0] * x[0] + 0.5 * x[1] * x[1]; };
  for (const SolverEntry& solver : solvers()) {
    CAPTURE(solver.name);
    auto bilevel = make_bilevel({2, 2}, f, g);
    auto minimax = make_minimax({2, 2}, minus_g);
    BilevelOracle& oracle = solver.minimax ? minimax : bilevel;
    const Result result = solver.solve(oracle, settings(solver, {.mu = 0.5, .l = 1}, {{"max_calls", "100000"}}),
                                       {Vec{{1.0, 1.0}}, Vec{{0.0, 0.0}}}, {});
    CAPTURE(result.message);
    // Without products there is only y that runs away to be seen.
    const bool sees = solver.name != "pragda" && solver.name != "gda" && solver.name != "perturbed_gda";
    CHECK(result.status == (sees ? Status::indefinite : Status::diverged));
  }
}

TEST_CASE("the observer sees every iteration and can stop") {
  for_every_solver([](const SolverEntry& solver, problems::Problem& problem) {
    int seen = 0;
    OracleCounts last;
    const Observer observer = [&](const Iterate& i) {
      CHECK(i.iteration == ++seen);
      CHECK(i.counts.total() > last.total());
      CHECK(i.gradient_norm == doctest::Approx(i.u.norm()));
      last = i.counts;
      return seen < 2;
    };
    const Result result =
        solver.solve(*problem.oracle, settings(solver, problem.constants, {{"tolerance", "0"}, {"most", "300"}}),
                     problem.start, observer);
    CHECK(result.status == Status::interrupted);
    CHECK(result.iterations == 2);
    CHECK(seen == 2);
  });
}

TEST_CASE("an exception of the oracle or of the observer leaves with the result so far") {
  int carried = 0;
  for_every_solver([&](const SolverEntry& solver, problems::Problem& problem) {
    const Settings some =
        settings(solver, problem.constants, {{"tolerance", "0"}, {"most", "300"}, {"max_calls", "600"}});
    for (const int n : {1, 2, 30, 300}) {
      CAPTURE(n);
      ThrowingOracle throwing(*problem.oracle, n, [] { throw FrozenBranch("beyond"); });
      CountingOracle counted(throwing);
      int iterations = 0;
      const Observer observer = [&](const Iterate& i) { return iterations = i.iteration, true; };
      try {
        solver.solve(counted, some, problem.start, observer);
        CHECK_FALSE(throwing.has_thrown());
      } catch (const FrozenBranch& frozen) {
        CHECK(std::string(frozen.what()) == "beyond");
        const auto* failed = dynamic_cast<const RunFailed*>(&frozen);
        CHECK((failed != nullptr || iterations == 0));
        if (failed == nullptr) continue;
        ++carried;
        CHECK(failed->result.status == Status::failed);
        CHECK(failed->result.message == "beyond");
        CHECK(failed->result.iterations == iterations);
        CHECK(failed->result.counts == counted.counts());
        CHECK(failed->result.x.allFinite());
        CHECK(std::isfinite(failed->result.phi));
        CHECK(std::isfinite(failed->result.gradient_norm));
        CHECK_THROWS_AS(failed->rethrow_nested(), FrozenBranch);
      }
    }

    struct Stop {};
    const Observer stops = [](const Iterate& i) -> bool {
      if (i.iteration == 2) throw Stop();
      return true;
    };
    try {
      solver.solve(*problem.oracle, settings(solver, problem.constants, {{"tolerance", "0"}, {"most", "300"}}),
                   problem.start, stops);
      FAIL("the observer was not called");
    } catch (const RunFailed& failed) {
      CHECK(failed.result.iterations == 2);
      CHECK_THROWS_AS(failed.rethrow_nested(), Stop);
    }
  });
  CHECK(carried > 50);
}

TEST_CASE("the same seed gives the same bits") {
  for_every_solver([](const SolverEntry& solver, problems::Problem& problem) {
    const auto solve = [&](const char* seed) {
      return solver.solve(*problem.oracle, settings(solver, problem.constants, {{"max_calls", "2000"}, {"seed", seed}}),
                          problem.start, {});
    };
    const Result one = solve("7"), same = solve("7"), other = solve("8");
    CHECK(one.x == same.x);
    CHECK(one.y == same.y);
    CHECK(one.phi == same.phi);
    CHECK(one.counts == same.counts);
    if (solver.name.starts_with("pra")) CHECK(one.last != other.last);
  });
}

TEST_CASE("what a result says of its point is true") {
  for_every_solver([](const SolverEntry& solver, problems::Problem& problem) {
    if (!problem.closed_form.grad_phi) return;
    const Result result =
        solver.solve(*problem.oracle, settings(solver, problem.constants, {{"max_calls", "6000"}}), problem.start, {});
    const Vec gradient = problem.closed_form.grad_phi(result.x);
    CHECK(gradient.norm() <= result.gradient_norm + result.error_bound);
    if (result.status == Status::converged && solver.name != "imcn") CHECK(gradient.norm() <= 1e-6);
  });
}

TEST_CASE("rahgd and aid allocate nothing after the first iterations, but where constants are measured anew") {
#if defined(__SANITIZE_ADDRESS__)
  MESSAGE("skipped: the address sanitizer has its own allocator");
#else
  for (const std::string name : {"quadratic", "hypercleaning", "synthetic_minimax"})
    for (const std::string solver_name : {"rahgd", "prahgd", "aid", "paid"})
      for (const std::string steps : {"auto", "5"}) {
        CAPTURE(name);
        CAPTURE(solver_name);
        CAPTURE(steps);
        problems::Problem problem = problems::make_problem(name);
        const SolverEntry& entry = solver(solver_name);
        long last = 0;
        int with_allocations = 0;  // of the iterations from the tenth on
        const Observer observer = [&](const Iterate& i) {
          const long now = testing::allocations();
          if (i.iteration > 10 && now != last) ++with_allocations;
          last = now;
          return i.iteration < 50;
        };
        const Result result = entry.solve(
            *problem.oracle,
            settings(entry, problem.constants,
                     {{"tolerance", "1e-300"}, {"most", "100"}, {"steps", steps}, {"products", steps}, {"B", "0.5"}}),
            problem.start, observer);
        CHECK(result.status == Status::interrupted);
        CHECK(last > 0);
        CHECK(with_allocations <= (steps == "auto" ? 3 : 0));  // after 16, 32 and 64 hypergradients
      }
#endif
}

TEST_CASE("misuse is refused before anything is computed") {
  for_every_solver([](const SolverEntry& solver, problems::Problem& problem) {
    CountingOracle counted(*problem.oracle);
    const auto solve = [&](const Settings& more, const Point& start) {
      Settings all = settings(solver, problem.constants);
      all.insert(all.end(), more.begin(), more.end());
      return solver.solve(counted, all, start, {});
    };
    const auto message = [&](const char* text) { return solver.name + ": " + text; };
    CHECK_THROWS_WITH_AS(solve({{"tolerance", "-1"}}, problem.start),
                         message("tolerance = -1, must not be negative").c_str(), std::invalid_argument);
    CHECK_THROWS_WITH_AS(solve({{"max_calls", "many"}}, problem.start),
                         message("option max_calls = many, must be a whole number").c_str(), std::invalid_argument);
    CHECK_THROWS_AS(solve({{"no_such_option", "1"}}, problem.start), std::invalid_argument);
    CHECK_THROWS_AS(solve({{"mu", "fast"}}, problem.start), std::invalid_argument);
    Point bad = problem.start;
    bad.x[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(solve({}, bad), std::invalid_argument);
    bad.x.resize(1 + problem.start.x.size());
    CHECK_THROWS_AS(solve({}, bad), std::invalid_argument);
    CHECK(counted.counts().total() == 0);
  });
}

TEST_CASE("every option that is listed is read: it changes the run, or is refused") {
  // Some matter only beside others: a run is changed by an option if it is in one of these settings.
  const std::vector<Settings> contexts{
      {},
      {{"eta", "0.1"}, {"steps", "3"}, {"products", "3"}},
      {{"eta", "0.1"}, {"r", "0.1"}, {"threshold", "1000"}, {"perturb_start", "true"}, {"gap", "2"}, {"K", "3"}},
      {{"eta", "0.1"}, {"r", "0.1"}, {"tolerance", "1e-2"}},
      {{"eta", "0.1"}, {"cold_restart", "true"}, {"T_init", "5"}, {"B", "0.01"}, {"steps", "1"}, {"v_from_y", "true"}},
      {{"tolerance", "1e-300"}, {"max_calls", "2000"}},
      {{"eta", "0.01"}, {"theta", "0.01"}, {"B", "inf"}, {"steps", "5"}, {"products", "5"}},
      {{"eta", "0.1"}, {"tolerance", "100"}},
      {{"eta", "0.01"},
       {"theta", "1"},
       {"B", "inf"},
       {"r", "0.1"},
       {"tolerance", "1e9"},
       {"steps", "3"},
       {"products", "3"}},
      {{"tolerance", "0"}, {"rtol", "0.9"}, {"lambda", "1e3"}, {"eta", "0.01"}, {"steps", "30"}},
      {{"chebyshev", "true"}, {"sigma", "0.1"}},
      {{"start_at_optimum", "true"}},
  };
  const auto other_values = [](const SolverOption& option) -> std::vector<std::string> {
    if (option.value == "true" || option.value == "false") return {"true", "false"};
    return {"1", "2", "3", "7", "0.5", "0.05", "1e-3", "inf", "1000", "auto"};
  };
  for (const SolverEntry& solver : solvers()) {
    const auto run = [&](const Settings& given, bool at_optimum) {
      problems::Problem problem = problems::make_problem(solver.minimax ? "quadratic_minimax" : "quadratic");
      Settings all{{"max_calls", "4000"}, {"max_iterations", "150"}};
      all.insert(all.end(), given.begin(), given.end());
      Point start = problem.start;
      if (at_optimum && problem.optimum) start = {problem.optimum->x, problem.closed_form.y_star(problem.optimum->x)};
      const Result r = solver.solve(*problem.oracle, all, start, {});
      return std::tuple(r.last, r.counts.total(), r.iterations, r.status, r.message);
    };
    for (const SolverOption& option : solver.options) {
      CAPTURE(solver.name);
      CAPTURE(option.name);
      if (option.name == "max_seconds") continue;  // a run of its own, above
      bool matters = false;
      for (const Settings& context : contexts) {
        Settings base;
        for (const auto& setting : context)
          if (solver.has_option(setting.first)) base.push_back(setting);
        const bool at_optimum = !context.empty() && context[0].first == "start_at_optimum";
        const auto before = run(base, at_optimum);
        for (const std::string& value : other_values(option)) {
          Settings changed = base;
          changed.emplace_back(option.name, value);
          try {
            matters = matters || run(changed, at_optimum) != before;
          } catch (const std::invalid_argument& refused) {
            // Of numbers, some must be taken: that all are refused does not pass for being read.
            CHECK(std::string(refused.what()).find(option.name) != std::string::npos);
            matters = value == "true" || value == "false";
          }
          if (matters) break;
        }
        if (matters) break;
      }
      CHECK(matters);
    }
  }
}
