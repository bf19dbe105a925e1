// `auto`, which has nothing to tune, beside every other solver at the best setting of its grid for each problem.
//
// Calls until the true |grad Phi| <= 1e-6 at the newest iterate. Fair to the others: they are given mu, l, |d2g/dxdy|
// and c_y, measured apart at points along a run of `auto`, so that they pay for no estimates; the tolerance is 0, so
// that they pay for no certificates but those that steer their solves; nothing that is measured is counted; and tuning
// itself is free. The true gradient is taken at every iterate where it has a closed form; otherwise where |u| <= 1e-5,
// and of those at every iterate up to the hundredth, later at one of k / 100, so that calls are at most 1 % too many.
//
// A point counts where Phi fell by at least 0.99 of what it fell by in the run of `auto`. Otherwise a step that is long
// enough would win wherever Phi is flat far away, as it is where weights saturate: README's ridge weight would be found
// after 9 calls. The last column has the fewest calls of any setting of any solver to such a point at any height.
//
// A setting may take twice the calls of `auto` at first, and a thousand at least: all that is better, or not much
// worse, is found among all of the grid. Solvers of which no setting came so far go on with those that reached the
// lowest Phi: 100 of them with ten times the calls, then twelve with a hundred times those of `auto`, up to
// 200,000. A dash says that this was not enough. No setting takes more calls than the best before it.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

#include "bench_minimize_grids.hpp"
#include "drivers/common/settings.hpp"
#include "hypertape/core/parallel.hpp"
#include "hypertape/hypertape.hpp"

namespace hypertape::benchmarks {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// How one setting did.
struct Outcome {
  std::int64_t calls = never, anywhere = never;
  Point end;                                             // there
  double phi = std::numeric_limits<double>::infinity();  // the true one where the run ended
  bool over = false;                                     // more calls would not help
};

/// A problem and its truth, for one thread.
struct Bench {
  explicit Bench(const Case& c) : problem(c.make()), truth(c) {}
  problems::Problem problem;
  Truth truth;
  double highest = 0;  // Phi, at most, where a run is to end
};

/// What a solver is told of the problem, as far as it asks.
Settings known_to(const SolverEntry& entry, const Scale& scale) {
  Settings out{{"tolerance", "0"},
               {"max_iterations", "100000000"},
               {"mu", drivers::exact(scale.mu)},
               {"l", drivers::exact(scale.l)},
               {"cross", drivers::exact(scale.cross)},
               {"c_y", drivers::exact(scale.c_y)}};
  std::erase_if(out, [&](const auto& setting) { return !entry.has_option(setting.first); });
  return out;
}

/// One run, with later settings over earlier ones.
Outcome try_setting(const SolverEntry& entry, const Settings& settings, Bench& bench) {
  Outcome out;
  int next = 0;
  const Observer observer = [&](const Iterate& i) {
    if (!bench.truth.closed_form()) {
      if (i.gradient_norm > 10 * target || i.iteration < next) return true;
      next = i.iteration + 1 + i.iteration / 100;
    }
    if (!(bench.truth.norm(i.x, i.y) <= target)) return true;
    out.anywhere = std::min(out.anywhere, i.counts.total());
    if (!(bench.truth.phi(i.x, i.y) <= bench.highest)) return true;
    out.end = {i.x, i.y};
    out.calls = i.counts.total();
    return false;
  };
  const Result r = entry.solve(*bench.problem.oracle, settings, bench.problem.start, observer);
  out.over = r.status != Status::call_limit;
  if (const double phi = r.last.allFinite() ? bench.truth.phi(r.last, r.y) : NAN; std::isfinite(phi)) out.phi = phi;
  return out;
}

/// What no setting may take more than.
std::int64_t last_budget(std::int64_t calls_of_auto) {
  return calls_of_auto > 0 ? std::min(most_calls, 100 * calls_of_auto) : most_calls;
}

struct Best {
  std::int64_t calls = never, anywhere = never;
  Point end;
  Settings settings;
};

Best tune(const SolverEntry& entry, const std::vector<Settings>& grid, const Settings& known,
          std::vector<Bench>& benches, std::int64_t calls_of_auto) {
  std::vector<Outcome> outcomes(grid.size());
  std::vector<std::size_t> left(grid.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  const std::int64_t first = std::max<std::int64_t>(1000, 2 * calls_of_auto);
  struct Round {
    std::int64_t budget;
    std::size_t most;  // settings
  };
  std::atomic<std::int64_t> best = never;
  const std::int64_t last = last_budget(calls_of_auto);
  for (const Round& round : {Round{first, grid.size()}, {10 * first, 100}, {last, 12}}) {
    std::erase_if(left, [&](std::size_t i) { return outcomes[i].over; });
    std::stable_sort(left.begin(), left.end(),
                     [&](std::size_t a, std::size_t b) { return outcomes[a].phi < outcomes[b].phi; });
    left.resize(std::min(left.size(), round.most));
    for_each_chunk(static_cast<Index>(left.size()), static_cast<int>(benches.size()), [&](Index i, int worker) {
      const std::size_t at = left[static_cast<std::size_t>(i)];
      const std::int64_t budget = std::min({round.budget, most_calls, best.load()});
      Settings all = known;
      all.insert(all.end(), grid[at].begin(), grid[at].end());
      all.emplace_back("max_calls", std::to_string(budget));
      outcomes[at] = try_setting(entry, all, benches[static_cast<std::size_t>(worker)]);
      std::int64_t before = best.load();
      while (outcomes[at].calls < before && !best.compare_exchange_weak(before, outcomes[at].calls)) {
      }
    });
    if (best.load() < never || round.budget >= last) break;
  }
  // The first of the best; if none came there, the one that came closest.
  const auto winner = std::min_element(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) {
    return a.calls != b.calls ? a.calls < b.calls : a.calls == never && a.phi < b.phi;
  });
  Best out{winner->calls, never, winner->end, grid[static_cast<std::size_t>(winner - outcomes.begin())]};
  for (const Outcome& outcome : outcomes) out.anywhere = std::min(out.anywhere, outcome.anywhere);
  return out;
}

/// Points along a run of `auto`: its start, three on the way, its end.
std::vector<Point> points_along(const Case& c, const AutoRun& run) {
  problems::Problem problem = c.make();
  std::vector<Point> out{problem.start};
  minimize(*problem.oracle, problem.start, {.tolerance = target, .max_calls = most_calls}, [&](const Iterate& i) {
    if (i.iteration % std::max(1, run.result.iterations / 4) == 0) out.push_back({i.point, i.y});
    return true;
  });
  out.push_back({run.result.x, run.result.y});
  return out;
}

std::string shown(std::int64_t calls) { return calls == never ? "-" : with_commas(calls); }

/// In few digits.
std::string in_short(const Settings& settings) {
  std::string out;
  for (const auto& [option, value] : settings) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", number);
    out += (out.empty() ? "" : " ") + option + "=" + (*end == 0 ? digits : value);
  }
  return out;
}

/// One row of the table.
struct Compared {
  std::vector<std::string> row;
  double ratio = 0;  // calls of `auto` to those of the best other solver
};

Compared compare(const Case& c, const std::vector<std::string>& names) {
  std::vector<Bench> benches;
  for (int i = 0; i < usable_threads(0); ++i) benches.emplace_back(c);
  Truth& truth = benches[0].truth;
  const Point& start = benches[0].problem.start;
  const AutoRun run = run_auto(c, truth);
  const double lowest = truth.phi(run.result.x, run.result.y), fall = truth.phi(start.x, start.y) - lowest;
  for (Bench& bench : benches) bench.highest = lowest + 0.01 * fall;
  const Scale scale = measure(truth, points_along(c, run));
  const std::string calls = run.calls > 0 ? with_commas(run.calls) : "never";
  std::printf("%s: auto %s; mu %.2g (%.2g at the start), l %.3g, L %.3g to %.3g\n", c.name.c_str(), calls.c_str(),
              scale.mu, scale.mu_start, scale.l, scale.L_least, scale.L_most);

  Compared out{{c.name, calls + (run.saddle ? " s" : "")}};
  std::map<std::string, Best> found;
  std::string winner;
  std::int64_t anywhere = never;
  for (const std::string& name : names) {
    const SolverEntry& entry = solver(name);
    if (entry.minimax && !benches[0].problem.minimax) {
      out.row.push_back("");
      continue;
    }
    const auto base = found.find(perturbs(name));
    const auto settings = grid(name, scale, base == found.end() ? Settings{} : base->second.settings);
    const Best best = found[name] = tune(entry, settings, known_to(entry, scale), benches, run.calls);
    const bool saddle = best.calls < never && truth.is_saddle(best.end.x, best.end.y);
    out.row.push_back(shown(best.calls) + (saddle ? " s" : ""));
    if (winner.empty() || best.calls < found[winner].calls) winner = name;
    anywhere = std::min(anywhere, best.anywhere);
    std::printf("  %-14s %8s of %4zu settings: %s\n", name.c_str(), shown(best.calls).c_str(), settings.size(),
                in_short(best.settings).c_str());
    std::fflush(stdout);
  }
  const bool none = found[winner].calls == never;
  const auto best = static_cast<double>(none ? last_budget(run.calls) : found[winner].calls);
  out.ratio = run.calls > 0 ? static_cast<double>(run.calls) / best : std::numeric_limits<double>::infinity();
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", out.ratio);
  out.row.insert(out.row.end(), {none ? "-" : winner, digits, shown(anywhere)});
  return out;
}

}  // namespace

void tuned_solvers(const std::string& only) {
  std::vector<std::string> names;
  for (const SolverEntry& entry : solvers())
    if (entry.name != "auto") names.push_back(entry.name);
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return perturbs(name).empty(); });

  drivers::Table table{
      "calls until the true |grad Phi| <= 1e-6: auto untuned, the others at their best settings (s: a saddle)",
      {"problem", "auto"},
      {}};
  table.header.insert(table.header.end(), names.begin(), names.end());
  table.header.insert(table.header.end(), {"best", "ratio", "anywhere"});
  int fewer = 0;
  double worst = 0;
  for (const Case& c : cases(only)) {
    const Compared compared = compare(c, names);
    table.rows.push_back(compared.row);
    fewer += compared.ratio < 1;
    worst = std::max(worst, compared.ratio);
  }
  print_titled(table);
  std::printf("  auto needs fewer calls on %d of %zu, worst ratio %.2f\n", fewer, table.rows.size(), worst);
}

}  // namespace hypertape::benchmarks
