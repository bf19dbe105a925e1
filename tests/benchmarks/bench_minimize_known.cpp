// `auto` without a setting on known problems: status, calls until the true gradient is small, calls until it says so.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include "bench_minimize.hpp"
#include "drivers/common/report.hpp"
#include "hypertape/core/require.hpp"
#include "hypertape/hypertape.hpp"
#include "problems/dense.hpp"
#include "problems/quadratic/quadratic.hpp"
#include "problems/registry.hpp"
#include "support/forwarding_oracle.hpp"
#include "support/ridge_weight.hpp"

namespace hypertape::benchmarks {
namespace {

/// The better of the prototype's two stopping rules, algorithms.md D7; calls until |u| <= 1e-6.
struct Prototype {
  const char* name;
  double calls;
};
constexpr Prototype prototypes[] = {{"quadratic, kappa 10", 752},
                                    {"quadratic, kappa 100", 3'520},
                                    {"quadratic, kappa 300", 9'775},
                                    {"ridge", 540},
                                    {"hypercleaning", 12'009},
                                    {"hyperparameter_logistic", 10'977},
                                    {"hyper_representation", 1'064},
                                    {"strict_saddle", 1'134},
                                    {"quartic", 243},
                                    {"Rosenbrock, d 10, kappa 10", 1'026},
                                    {"Rosenbrock, d 10, kappa 100", 1'263},
                                    {"Rosenbrock, d 30, kappa 10", 1'850},
                                    {"Rosenbrock, d 30, kappa 100", 5'459},
                                    {"README's ridge weight", 150}};

problems::Problem as_problem(TapedProblem taped, const Vec& x) {
  problems::Problem out;
  out.plain = taped.plain();
  out.oracle = std::make_unique<TapedProblem>(std::move(taped));
  out.start = {.x = x, .y = Vec::Zero(out.oracle->dims().y)};
  return out;
}

problems::Problem rosenbrock(int d, double kappa) {
  const Mat A = problems::generate_quadratic({.dims = {d, d}, .kappa = kappa, .identity_coupling = true}).A;
  return as_problem(make_bilevel(
                        {d, d},
                        [d](const auto& x, const auto& y) {
                          auto sum = 0.001 * x.squaredNorm();
                          for (int i = 0; i + 1 < d; ++i) {
                            const auto valley = y[i + 1] - y[i] * y[i], distance = 1.0 - y[i];
                            sum += 10.0 * valley * valley + distance * distance;
                          }
                          return sum;
                        },
                        [A](const auto& x, const auto& y) { return 0.5 * y.dot(A * y) - y.dot(x); }),
                    Vec::Constant(d, -0.5));
}

/// f times a factor, g as it is.
class ScaledUpper final : public testing::ForwardingOracle {
 public:
  ScaledUpper(BilevelOracle& oracle, double factor)
      : testing::ForwardingOracle(oracle), oracle_(oracle), factor_(factor) {}

 private:
  double do_f(const Vec& x, const Vec& y) override { return factor_ * oracle_.f(x, y); }
  double do_grad_f(const Vec& x, const Vec& y, Vec& gx, Vec& gy) override {
    const double value = oracle_.grad_f(x, y, gx, gy);
    gx *= factor_;
    gy *= factor_;
    return factor_ * value;
  }
  BilevelOracle& oracle_;
  double factor_;
};

std::string ratio(double calls, double of) {
  char out[32];
  std::snprintf(out, sizeof out, "%.2f", calls / of);
  return of > 0 ? out : "";
}

std::string scientific(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1e", value);
  return out;
}

}  // namespace

std::string with_commas(std::int64_t n) {
  std::string out = std::to_string(n);
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) out.insert(static_cast<std::size_t>(at), ",");
  return out;
}

void print_titled(const drivers::Table& table) {
  std::printf("%s\n", table.title.c_str());
  std::fflush(stdout);  // the table goes another way
  drivers::print(table);
}

std::vector<Case> cases(const std::string& only) {
  std::vector<Case> out;
  const auto add = [&](const std::string& name, std::function<problems::Problem()> make) {
    if (name.find(only) == std::string::npos) return;
    const auto known = std::find_if(std::begin(prototypes), std::end(prototypes),
                                    [&](const Prototype& prototype) { return prototype.name == name; });
    out.push_back({name, std::move(make), known == std::end(prototypes) ? 0 : known->calls});
  };
  for (const int kappa : {10, 100, 300})
    add("quadratic, kappa " + std::to_string(kappa),
        [kappa] { return problems::make_problem("quadratic", {.kappa = static_cast<double>(kappa)}); });
  for (const auto& entry : problems::registry())
    if (entry.name != "quadratic") add(entry.name, [name = entry.name] { return problems::make_problem(name); });
  for (const int d : {10, 30})
    for (const int kappa : {10, 100})
      add("Rosenbrock, d " + std::to_string(d) + ", kappa " + std::to_string(kappa),
          [d, kappa] { return rosenbrock(d, kappa); });
  add("README's ridge weight", [] {
    return as_problem(testing::ridge_weight(Mat{{1, 2}, {3, 4}, {5, 7}}, Vec{{1, 2, 4}}, Vec{{0.2, 0.3}}),
                      Vec::Zero(1));
  });
  require(!out.empty(), "--only ", only, ": no problem has that in its name");
  return out;
}

Vec Truth::gradient(const Vec& x, const Vec& y_near) {
  if (closed_form()) return problem_.closed_form.grad_phi(x);
  Vec y = y_near;
  return testing::exact_gradient(*problem_.oracle, x, y);
}

double Truth::phi(const Vec& x, const Vec& y_near) {
  if (problem_.closed_form.phi) return problem_.closed_form.phi(x);
  Vec y = y_near;
  testing::exact_gradient(*problem_.oracle, x, y);
  return problem_.oracle->f(x, y);
}

bool Truth::is_saddle(const Vec& x, const Vec& y_near) {
  Mat hessian(x.size(), x.size());
  if (problem_.closed_form.hess_phi) {
    hessian = problem_.closed_form.hess_phi(x);
  } else {
    const double h = 1e-4 * (1 + x.norm());
    for (Index j = 0; j < x.size(); ++j) {
      const Vec step = h * Vec::Unit(x.size(), j);
      hessian.col(j) = (gradient(x + step, y_near) - gradient(x - step, y_near)) / (2 * h);
    }
  }
  const Vec eigenvalues = problems::symmetric_eigenvalues(0.5 * (hessian + hessian.transpose()));
  return eigenvalues.minCoeff() < -1e-2 * eigenvalues.cwiseAbs().maxCoeff();
}

AutoRun run_auto(const Case& c, Truth& truth) {
  problems::Problem problem = c.make();
  AutoRun out;
  out.result =
      minimize(*problem.oracle, problem.start, {.tolerance = target, .max_calls = most_calls}, [&](const Iterate& i) {
        if (out.calls == 0 && truth.norm(i.x, i.y) <= target) out.calls = i.counts.total();
        return true;
      });
  out.last = truth.norm(out.result.x, out.result.y);
  out.saddle = truth.is_saddle(out.result.x, out.result.y);
  return out;
}

void known_problems(const std::string& only) {
  drivers::Table table{"auto: calls until the true |grad Phi| <= 1e-6 and until it says so, beside D7's better column",
                       {"problem", "status", "calls", "D7", "ratio", "at the end", "ratio", "|grad Phi|", "f", "g",
                        "JV", "HV", "iterations"},
                       {}};
  int failed = 0, saddles = 0, compared = 0, fewer = 0;
  double worst = 0, worst_end = 0;
  for (const Case& c : cases(only)) {
    Truth truth(c);
    const AutoRun run = run_auto(c, truth);
    const Result& r = run.result;
    const auto calls = static_cast<double>(run.calls), end = static_cast<double>(r.counts.total());
    failed += run.calls == 0 || !(run.last <= target);
    saddles += run.saddle;
    if (c.prototype > 0) {
      ++compared;
      fewer += run.calls > 0 && calls < c.prototype;
      worst = std::max(worst, run.calls > 0 ? calls / c.prototype : std::numeric_limits<double>::infinity());
      worst_end = std::max(worst_end, end / c.prototype);
    }
    table.rows.push_back({c.name, text(to_string(r.status), run.saddle ? ", saddle" : ""),
                          run.calls > 0 ? with_commas(run.calls) : "never",
                          c.prototype > 0 ? with_commas(std::lround(c.prototype)) : "", ratio(calls, c.prototype),
                          with_commas(r.counts.total()), ratio(end, c.prototype), scientific(run.last),
                          with_commas(r.counts.f), with_commas(r.counts.g), with_commas(r.counts.jv),
                          with_commas(r.counts.hv), std::to_string(r.iterations)});
  }
  print_titled(table);
  std::printf(
      "  instructions %s; above 1e-6 at the end: %d, at a saddle: %d; fewer calls than D7 on %d of %d, worst ratio "
      "%.2f "
      "(%.2f at the end)\n\n",
      to_string(default_instruction_set()), failed, saddles, fewer, compared, worst, worst_end);
}

void scaled_problems(const std::string& only) {
  drivers::Table table{"auto: calls at the end with f times 10^k, k = -4 .. 4, to 1e-6 times 10^k",
                       {"problem", "k = 0", "fewest", "most", "spread"},
                       {}};
  double worst = 0;
  for (const Case& c : cases(only)) {
    std::int64_t plain = 0, fewest = most_calls, most = 0;
    std::string others;  // how else it ended
    for (int k = -4; k <= 4; ++k) {
      problems::Problem problem = c.make();
      const double factor = std::pow(10.0, k);
      ScaledUpper scaled(*problem.oracle, factor);
      const Result r = minimize(scaled, problem.start, {.tolerance = target * factor, .max_calls = most_calls});
      const auto calls = r.counts.total();
      if (r.status != Status::converged && r.status != Status::flat)
        others += text(", k = ", k, ": ", to_string(r.status));
      if (k == 0) plain = calls;
      fewest = std::min(fewest, calls);
      most = std::max(most, calls);
    }
    const double spread = static_cast<double>(most) / static_cast<double>(fewest) - 1;
    worst = std::max(worst, spread);
    table.rows.push_back({c.name, with_commas(plain), with_commas(fewest), with_commas(most),
                          text(std::lround(100 * spread), " %", others)});
  }
  print_titled(table);
  std::printf("  largest spread %.0f %%\n\n", 100 * worst);
}

}  // namespace hypertape::benchmarks
