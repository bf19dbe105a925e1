// Error bounds and estimates beside the truth. A hundred random problems in which d2g/dy2 loses its convexity along the
// run: regularisation weights exp(x) above least squares or logistic regression with few rows, from
// weights a thousand times too large. There a bound that was made of constants at the start is made of wrong ones.
// Every iterate is looked at: |u - grad Phi| <= error_bound wherever that is finite, with grad Phi by dense Newton
// steps. A bound that is infinite was declared void, and promises nothing.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

#include "bench_minimize.hpp"
#include "drivers/common/settings.hpp"
#include "hypertape/core/parallel.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/hypertape.hpp"
#include "problems/dense.hpp"
#include "support/ridge_weight.hpp"

namespace hypertape::benchmarks {
namespace {

constexpr int problems_of_each_kind = 34;
constexpr std::int64_t budget = 20'000;  // calls of a run

struct Falling {
  const char* kind = "";
  std::function<std::unique_ptr<BilevelOracle>()> make;
  Vec start;
};

Mat matrix(Index rows, Index columns, Random& random) {
  Mat out(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) out(i, j) = random.normal();
  return out;
}

/// A weight for each feature: `loss(y)` below, and above the distance from what is predicted with weights a thousand
/// to ten thousand times smaller than those of the start, give or take some noise.
template <class Loss>
Falling weights_for_features(const char* kind, Index features, const Loss& loss, Random& random) {
  const Mat V = matrix(15, features, random);
  const Vec start = Vec::Constant(features, 2 * random.uniform());
  Vec hidden = start;
  for (Index k = 0; k < features; ++k) hidden[k] -= std::log(1e3) * (1 + random.uniform() / 3);
  const auto g = [=](const auto& x, const auto& y) {
    using std::exp;
    auto sum = loss(y);
    for (Index k = 0; k < y.size(); ++k) sum += 0.5 * exp(x[k]) * y[k] * y[k];
    return sum;
  };
  const Dims dims{features, features};
  TapedProblem below = make_bilevel(
      dims, [](const auto&, const auto& y) { return y.squaredNorm(); }, g);
  Vec fitted = Vec::Zero(features);
  testing::exact_gradient(below, hidden, fitted);
  const double noise = random.uniform() < 0.5 ? 0 : 0.1 * fitted.norm();
  const Vec wanted = V * fitted + noise * random.normal(15);
  const auto f = [=](const auto& x, const auto& y) {
    return (V * y - wanted).squaredNorm() / 30 + 1e-4 * (x - hidden).squaredNorm();
  };
  return {kind, [=] { return std::make_unique<TapedProblem>(make_bilevel(dims, f, g)); }, start};
}

std::vector<Falling> falling_problems(std::uint64_t seed) {
  Random random(seed);
  std::vector<Falling> out;
  for (int id = 0; id < problems_of_each_kind; ++id) {
    const Mat A = matrix(6, 8, random), B = matrix(10, 8, random);
    const Vec b = A * random.normal(8) + 0.2 * random.normal(6);
    const auto squares = [A, b](const auto& y) { return (A * y - b).squaredNorm() / 12; };
    out.push_back(weights_for_features("least squares", 8, squares, random));

    const Vec label = (B * random.normal(8) + random.normal(10)).cwiseSign();
    const auto logistic = [B, label](const auto& y) {
      const auto z = (B * y).eval();
      auto sum = 0.0 * y[0];
      for (Index i = 0; i < label.size(); ++i) sum += log1p_exp(-label[i] * z[i]);
      return sum / 10;
    };
    out.push_back(weights_for_features("logistic", 8, logistic, random));

    // One weight for all: y is wanted as it is with a weight a thousand times smaller, or near there.
    const Mat C = matrix(4, 5, random);
    const Vec c = C * random.normal(5), start = Vec::Constant(1, 2 + 2 * random.uniform());
    const double weight = std::exp(start[0]) / 1e3;
    const Vec y = problems::Cholesky(C.transpose() * C + weight * Mat::Identity(5, 5)).solve(C.transpose() * c);
    const Vec wanted = y + 0.01 * y.norm() * random.normal(5);
    out.push_back(
        {"one weight", [=] { return std::make_unique<TapedProblem>(testing::ridge_weight(C, c, wanted)); }, start});
  }
  out.resize(100);
  return out;
}

double smallest_curvature(BilevelOracle& oracle, const Vec& x, const Vec& y) {
  return problems::symmetric_eigenvalues(testing::lower_hessian(oracle, x, y)).minCoeff();
}

/// What numbers that are to be at least |u - grad Phi| came to.
struct Promise {
  int made = 0, broken = 0, voided = 0;  // void: infinite
  double worst = 0, at_end = 0;          // error / promise, the largest and the last
  std::vector<double> over;              // promise / error

  /// `seen`: what of the error is not rounding of the truth.
  void check(double promised, double error, double seen) {
    at_end = 0;
    if (!std::isfinite(promised)) {
      ++voided;
      return;
    }
    ++made;
    broken += seen > promised;
    at_end = seen > 0 ? seen / promised : 0;
    worst = std::max(worst, at_end);
    if (seen > 0) over.push_back(promised / error);
  }
};

/// One run.
struct Checked {
  const char* kind = "";  // of problem
  Status status = Status::converged;
  bool untrue = false;  // `converged` above the tolerance
  double fall = 1;      // of mu, from the start to where it was smallest
  int unknown = 0;      // iterates at which arithmetic does not tell the truth
  Promise bound, estimate;

  /// `doubt`: what of the error may be rounding of the gradient that is taken for the truth.
  void check(const Iterate& i, const Vec& gradient, double doubt) {
    const double error = (i.u - gradient).norm();
    if (!std::isfinite(doubt) || !std::isfinite(error)) {
      ++unknown;
      return;
    }
    const double seen = error - doubt;
    bound.check(i.error_bound, error, seen);
    estimate.check(i.error_estimate, error, seen);
  }
};

Checked run_checked(const Falling& problem, const std::string& name, bool mu_given) {
  const auto oracle = problem.make(), apart = problem.make();
  Vec y;
  testing::exact_gradient(*apart, problem.start, y);
  const double mu = smallest_curvature(*apart, problem.start, y);
  Settings settings{{"max_calls", std::to_string(budget)}, {"tolerance", drivers::exact(target)}};
  if (mu_given) settings.emplace_back("mu", drivers::exact(mu));
  Checked out;
  out.kind = problem.kind;
  const Result r = solver(name).solve(*oracle, settings, {.x = problem.start}, [&](const Iterate& i) {
    y = i.y;
    double digits = 0;
    const Vec gradient = testing::exact_gradient(*apart, i.point, y, &digits);
    const Vec upper = apart->grad_f(i.point, y).x;  // and the rest of the gradient may cancel
    const double doubt = 10 * std::pow(10.0, -digits) * (upper.norm() + (upper - gradient).norm()) + 1e-13;
    out.check(i, gradient, digits >= 5 ? doubt : std::numeric_limits<double>::infinity());
    out.fall = std::max(out.fall, mu / smallest_curvature(*apart, i.point, y));
    return true;
  });
  out.status = r.status;
  y = r.y;
  out.untrue = r.status == Status::converged && !(testing::exact_gradient(*apart, r.x, y).norm() <= 1.001 * target);
  return out;
}

double median(std::vector<double> v) {
  if (v.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

std::string brief(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.3g", value);
  return std::isnan(value) ? "" : out;
}

std::string listed(const std::map<std::string, int>& counts) {
  std::string out;
  for (const auto& [name, n] : counts) out += text(out.empty() ? "" : ", ", name, " ", n);
  return out;
}

/// A row of the table: the promises of all runs together.
std::vector<std::string> summary(const std::string& name, const std::vector<Checked>& runs, Promise Checked::*of) {
  int made = 0, broken = 0, voided = 0, runs_broken = 0, ends_broken = 0;
  double worst = 0, worst_end = 0;
  std::vector<double> over;
  std::map<std::string, int> kinds;
  for (const Checked& run : runs) {
    const Promise& p = run.*of;
    if (p.broken > 0) ++kinds[run.kind];
    made += p.made;
    broken += p.broken;
    voided += p.voided;
    runs_broken += p.broken > 0;
    ends_broken += p.at_end > 1;
    worst = std::max(worst, p.worst);
    worst_end = std::max(worst_end, p.at_end);
    over.insert(over.end(), p.over.begin(), p.over.end());
  }
  return {name,
          std::to_string(made),
          std::to_string(voided),
          std::to_string(broken),
          std::to_string(runs_broken),
          brief(worst),
          std::to_string(ends_broken),
          brief(worst_end),
          brief(median(std::move(over))),
          listed(kinds)};
}

/// Where grad Phi has a closed form: how much larger than the error a bound is, and an estimate.
void closed_forms(const std::string& only) {
  drivers::Table table{"problems with closed form: median of bound / error and of estimate / error, broken ones",
                       {"problem", "rahgd: bound", "broken", "auto: bound", "broken", "auto: estimate", "broken", "by"},
                       {}};
  std::vector<double> all[3];
  for (const Case& c : cases(only)) {
    Truth truth(c);
    if (!truth.closed_form()) continue;
    Checked seen[2];
    for (const bool automatic : {false, true}) {
      problems::Problem problem = c.make();
      solver(automatic ? "auto" : "rahgd")
          .solve(*problem.oracle, {{"max_calls", std::to_string(budget)}}, problem.start, [&](const Iterate& i) {
            const Vec gradient = truth.gradient(i.point, i.y);
            seen[automatic].check(i, gradient, 1e-12 * (1 + gradient.norm()));
            return true;
          });
    }
    const Promise* const promises[] = {&seen[0].bound, &seen[1].bound, &seen[1].estimate};
    std::vector<std::string> row{c.name};
    for (int k = 0; k < 3; ++k) {
      row.push_back(brief(median(promises[k]->over)));
      row.push_back(text(promises[k]->broken, " of ", promises[k]->made));
      all[k].insert(all[k].end(), promises[k]->over.begin(), promises[k]->over.end());
    }
    row.push_back(brief(seen[1].estimate.worst));
    table.rows.push_back(row);
  }
  table.rows.push_back({"all", brief(median(all[0])), "", brief(median(all[1])), "", brief(median(all[2])), "", ""});
  print_titled(table);
}

}  // namespace

void checked_bounds(std::uint64_t seed, const std::string& only) {
  const std::vector<Falling> problems = falling_problems(seed);
  struct Kind {
    std::string solver;
    bool mu_given;
  };
  drivers::Table ends{"100 runs each in which mu falls: by how much, and how they ended",
                      {"solver", "mu falls (median)", "1000 times in", "untruly converged", "ended"},
                      {}};
  drivers::Table promises{
      "of these, error bounds and estimates: how many, infinite ones, broken ones; runs with a broken one and the "
      "largest error / bound; runs whose last one is broken and the largest of those; median of bound / error",
      {"promise", "made", "void", "broken", "runs", "by", "at the end", "by", "median", "runs of"},
      {}};
  for (const Kind& kind : {Kind{"rahgd", false}, {"rahgd", true}, {"aid", false}, {"aid", true}, {"auto", false}}) {
    std::vector<Checked> runs(problems.size());
    for_each_chunk(static_cast<Index>(runs.size()), usable_threads(0), [&](Index i, int) {
      const auto at = static_cast<std::size_t>(i);
      runs[at] = run_checked(problems[at], kind.solver, kind.mu_given);
    });
    const std::string name = kind.solver + (kind.mu_given ? ", mu given" : "");
    int fell = 0, untrue = 0, unknown = 0;
    std::vector<double> falls;
    std::map<std::string, int> statuses;
    for (const Checked& run : runs) {
      fell += run.fall >= 1000;
      untrue += run.untrue;
      unknown += run.unknown;
      falls.push_back(run.fall);
      ++statuses[to_string(run.status)];
    }
    ends.rows.push_back({name, brief(median(falls)), std::to_string(fell), std::to_string(untrue), listed(statuses)});
    promises.rows.push_back(summary(name + ": bound", runs, &Checked::bound));
    if (kind.solver == "auto") promises.rows.push_back(summary(name + ": estimate", runs, &Checked::estimate));
    if (unknown > 0) std::printf("%s: %d iterates left out, where arithmetic does not tell\n", name.c_str(), unknown);
  }
  print_titled(ends);
  print_titled(promises);
  closed_forms(only);
}

}  // namespace hypertape::benchmarks
