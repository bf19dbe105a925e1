#include "bench_minimize_grids.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "drivers/common/comparison.hpp"
#include "drivers/common/settings.hpp"
#include "hypertape/core/random.hpp"
#include "hypertape/core/require.hpp"
#include "problems/dense.hpp"
#include "support/true_gradient.hpp"

namespace hypertape::benchmarks {
namespace {

using drivers::all_combinations;
using drivers::exact;
using Values = std::vector<std::string>;
using Grid = std::vector<Settings>;

/// The Lipschitz constant of grad Phi near x, by power iteration on differences.
double lipschitz(Truth& truth, const Point& at) {
  const double h = 1e-4 * (1 + at.x.norm());
  const Vec here = truth.gradient(at.x, at.y);
  Vec d = Random(1).direction(at.x.size());
  double L = 0;
  for (int i = 0; i < 15; ++i) {
    const Vec there = truth.gradient(at.x + h * d, at.y);
    d = (there - here) / h;
    if (!d.allFinite() || d.norm() == 0) break;
    L = d.norm();
    d /= L;
  }
  return L;
}

/// |d2g/dxdy|.
double cross_norm(BilevelOracle& oracle, const Point& at) {
  Mat out(at.x.size(), at.y.size());
  for (Index j = 0; j < at.y.size(); ++j) out.col(j) = oracle.cross_product(at.x, at.y, Vec::Unit(at.y.size(), j));
  return problems::norm2(out);
}

/// The Lipschitz constant of the hypergradient in y, by differences.
double lipschitz_in_y(BilevelOracle& oracle, const Point& at) {
  const double h = 1e-5 * (1 + at.y.norm());
  Mat out(at.x.size(), at.y.size());
  for (Index j = 0; j < at.y.size(); ++j) {
    const Vec step = h * Vec::Unit(at.y.size(), j), there = at.y + step, back = at.y - step;
    const testing::LowerFactor H(oracle, at.x, there), before(oracle, at.x, back);
    if (!H.valid() || !before.valid()) return 0;
    out.col(j) =
        (testing::implicit_gradient(oracle, at.x, there, H) - testing::implicit_gradient(oracle, at.x, back, before)) /
        (2 * h);
  }
  return out.allFinite() ? problems::norm2(out) : 0;
}

/// Every one of `a` with every one of `b`.
Grid times(const Grid& a, const Grid& b) {
  Grid out;
  for (const Settings& left : a)
    for (const Settings& right : b) {
      out.push_back(left);
      out.back().insert(out.back().end(), right.begin(), right.end());
    }
  return out;
}

Grid together(std::initializer_list<Grid> parts) {
  Grid out;
  for (const Grid& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

/// From a third of 1/L where grad Phi bends most, with the 1.8/L of plain descent on a quadratic, by threes to three
/// hundred times 1/L where it bends least: a v that is far from solved has little in the directions that bend most.
/// And left open.
Grid etas(const Scale& s, double shortest = 0.3) {
  Values out{exact(1.8 / s.L_most)};
  const double longest = 310 / std::max(s.L_least, 1e-4 * s.L_most);
  for (double eta = shortest / s.L_most; eta <= longest; eta *= std::sqrt(10.0)) out.push_back(exact(eta));
  return together({all_combinations({{"eta", out}}), {Settings{}}});
}

/// Momentum for y follows from mu and l.
Grid curvatures(const Scale& s) {
  Values mu{exact(s.mu)};
  if (s.mu_start > 2 * s.mu) mu.push_back(exact(s.mu_start));
  return all_combinations({{"mu", mu}});
}

/// Where `steps` and `products` are left open a certificate decides.
Grid certified(bool products) {
  std::vector<std::pair<std::string, Values>> out{{"steps", {"auto"}}, {"ctol", {"0.1", "0.3", "1"}}};
  if (products) out.emplace_back("products", Values{"auto"});
  return all_combinations(out);
}

Grid momenta() {
  return together(
      {all_combinations({{"theta", {"0.3", "0.1", "0.03"}}, {"B", {"inf"}}}),
       all_combinations({{"theta", {"0.3", "0.1", "0.03"}}}),  // B is left open
       all_combinations({{"theta", {"auto", "0.1", "0.03"}}, {"gradient_restart", {"true"}}, {"B", {"inf"}}})});
}

Grid rahgd_grid(const Scale& s) {
  const Grid counted =
      all_combinations({{"steps", {"1", "3", "10", "30", "100"}}, {"products", {"1", "3", "10", "30"}}});
  return times(times(times(together({counted, certified(true)}), curvatures(s)), momenta()), etas(s));
}

/// Plain descent below may take steps up to 2/l.
Grid alphas(const Scale& s) { return all_combinations({{"alpha", {exact(1.8 / s.l), exact(1 / s.l)}}}); }

Grid aid_grid(const Scale& s) {
  const Grid counted = times(
      all_combinations({{"steps", {"1", "3", "10", "30", "100"}}, {"products", {"1", "3", "10", "30"}}}), alphas(s));
  return times(together({counted, times(certified(true), curvatures(s))}), etas(s));
}

Grid ba_grid(const Scale& s) {
  return times(
      times(all_combinations({{"c", {"0.5", "2", "8", "32"}}, {"products", {"1", "3", "10", "30"}}}), alphas(s)),
      etas(s));
}

Grid itd_grid(const Scale& s) {
  return times(times(all_combinations({{"steps", {"3", "10", "30", "100", "300"}}}), alphas(s)), etas(s));
}

/// The penalty's bias falls with lambda.
Grid f2ba_grid(const Scale& s) {
  const Grid counted = all_combinations({{"steps", {"3", "10", "30", "100"}}});
  return times(times(times(together({counted, certified(false)}), curvatures(s)), etas(s)),
               all_combinations({{"lambda", {"1e3", "1e5", "1e7"}}}));
}

Grid pragda_grid(const Scale& s) {
  const Grid lower = together({all_combinations({{"steps", {"1", "3", "10", "30"}}}), certified(false)});
  const Grid noise = all_combinations({{"r", {"1e-6", "1e-3"}}});
  return times(times(times(lower, momenta()), noise), etas(s));
}

Grid gda_grid(const Scale& s) { return times(alphas(s), etas(s, 0.003)); }

Grid imcn_grid(const Scale& s) {
  Values lengths;
  for (const double factor : {0.3, 1.0, 1.8}) lengths.push_back(exact(factor / s.L_most));
  return times(
      all_combinations({{"M", {"0.01", "0.1", "0.5", "2", "8"}}, {"J", {"2", "5", "10", "50"}}}),
      all_combinations(
          {{"L", {exact(s.L_most)}}, {"mu_s", lengths}, {"steps", {"1", "3", "10"}}, {"products", {"1", "3", "10"}}}));
}

}  // namespace

std::string perturbs(const std::string& solver) {
  if (solver == "prahgd") return "rahgd";
  if (solver == "paid") return "aid";
  if (solver == "perturbed_gda") return "gda";
  return {};
}

Grid grid(const std::string& solver, const Scale& scale, const Settings& base) {
  if (solver == "rahgd") return rahgd_grid(scale);
  if (solver == "aid") return aid_grid(scale);
  if (solver == "ba") return ba_grid(scale);
  if (solver == "itd") return itd_grid(scale);
  if (solver == "f2ba") return f2ba_grid(scale);
  if (solver == "pragda") return pragda_grid(scale);
  if (solver == "gda") return gda_grid(scale);
  if (solver == "imcn") return imcn_grid(scale);
  require(!perturbs(solver).empty(), "bench_minimize: no grid for ", solver);
  Grid noise = all_combinations({{"r", {"1e-2", "1e-4", "1e-6"}}});
  if (solver != "prahgd")
    noise = times(noise, all_combinations({{"threshold", {"1e-2", "1e-4"}}, {"gap", {"10", "50"}}}));
  return times({base}, noise);
}

Scale measure(Truth& truth, const std::vector<Point>& points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Scale out{0, infinity, 0, 0, 0, infinity, 0};
  BilevelOracle& oracle = *truth.problem().oracle;
  for (const Point& point : points) {
    Point at = point;
    testing::exact_gradient(oracle, at.x, at.y);
    const Vec eigenvalues = problems::symmetric_eigenvalues(testing::lower_hessian(oracle, at.x, at.y));
    const double l = eigenvalues.maxCoeff(), mu = std::max(eigenvalues.minCoeff(), 1e-12 * l);
    if (out.l == 0) out.mu_start = mu;
    out.mu = std::min(out.mu, mu);
    out.l = std::max(out.l, l);
    out.cross = std::max(out.cross, cross_norm(oracle, at));
    out.c_y = std::max(out.c_y, lipschitz_in_y(oracle, at));
    const double L = lipschitz(truth, at);
    if (!(L > 0)) continue;
    out.L_least = std::min(out.L_least, L);
    out.L_most = std::max(out.L_most, L);
  }
  return out;
}

}  // namespace hypertape::benchmarks
