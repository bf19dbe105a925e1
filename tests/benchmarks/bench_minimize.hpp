#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drivers/common/report.hpp"
#include "hypertape/outer/solver.hpp"
#include "problems/problem.hpp"

// The parts of bench_minimize. Calls are those of CountingOracle; the same wherever the arithmetic is.

namespace hypertape::benchmarks {

inline constexpr double target = 1e-6;               // |grad Phi|, the true one
inline constexpr std::int64_t most_calls = 200'000;  // of any run

/// A problem that `minimize` is judged on.
struct Case {
  std::string name;
  std::function<problems::Problem()> make;  ///< equal ones, each with an oracle of its own
  double prototype = 0;                     ///< calls of the prototype that was to be beaten, 0: not known
};

/// Every shipped problem, quadratics of three condition numbers, Rosenbrock functions above, README's ridge weight;
/// of these the ones whose name contains `only`.
std::vector<Case> cases(const std::string& only);

/// grad Phi by closed form where there is one, otherwise by testing::exact_gradient. The problem is its own, so that
/// nothing it does is counted or disturbs a solver.
class Truth {
 public:
  explicit Truth(const Case& of) : problem_(of.make()) {}
  Vec gradient(const Vec& x, const Vec& y_near);
  double norm(const Vec& x, const Vec& y_near) { return gradient(x, y_near).norm(); }
  double phi(const Vec& x, const Vec& y_near);
  /// Whether Hess Phi has an eigenvalue below zero, by more than a hundredth of the largest.
  bool is_saddle(const Vec& x, const Vec& y_near);
  bool closed_form() const { return static_cast<bool>(problem_.closed_form.grad_phi); }
  problems::Problem& problem() { return problem_; }

 private:
  problems::Problem problem_;
};

/// `auto` as it comes on a case, and the calls until the true gradient was first at most `target` (0: never).
struct AutoRun {
  Result result;
  std::int64_t calls = 0;
  double last = 0;      ///< the true |grad Phi| at the end
  bool saddle = false;  ///< what the end is
};
AutoRun run_auto(const Case& c, Truth& truth);

// What can be asked for by name, each with its own table; the comments are where the code is.

void known_problems(const std::string& only);
void tuned_solvers(const std::string& only);
void scaled_problems(const std::string& only);
void ridge_weights(std::uint64_t seed);
void random_problems(std::uint64_t seed);
void checked_bounds(std::uint64_t seed, const std::string& only);

/// "12,345"
std::string with_commas(std::int64_t n);

void print_titled(const drivers::Table& table);

}  // namespace hypertape::benchmarks
