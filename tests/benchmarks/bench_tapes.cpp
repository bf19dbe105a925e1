// The cost of each oracle of a plain function, relative to one evaluation of the function itself in the same run:
//
//   bench_tapes [--engine automatic|rows|runs|cppad] [--threads N] [--only NAME] [--json FILE]
//
// Medians of samples taken in turns, so that a busy moment of the machine meets all of them. `prepare` is the time of
// making a problem and asking for each derivative once, relative to CppAD's.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "hypertape/core/random.hpp"
#include "hypertape/tape/taped_problem.hpp"
#include "plain_suite.hpp"

using namespace hypertape;

namespace {

using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& call, int calls = 1) {
  const auto begin = Clock::now();
  for (int k = 0; k < calls; ++k) call();
  return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

/// Median seconds of one call of each, over samples of about a millisecond taken in turns.
std::vector<double> median_seconds(const std::vector<std::function<void()>>& calls) {
  std::vector<int> repeats;
  for (const auto& call : calls) {
    seconds(call, 3);
    repeats.push_back(std::max(1, static_cast<int>(1e-3 / std::max(seconds(call), 1e-8))));
  }
  std::vector<std::vector<double>> samples(calls.size());
  for (int round = 0; round < 51; ++round)
    for (std::size_t k = 0; k < calls.size(); ++k) samples[k].push_back(seconds(calls[k], repeats[k]));
  std::vector<double> medians;
  for (const auto& s : samples) medians.push_back(median(s));
  return medians;
}

struct Problem {
  TapedProblem problem;
  Vec x, y, v, gx, gy, out_x, out_y;

  Problem(TapedProblem made, const Vec& start)
      : problem(std::move(made)), x(Vec{{0.7}}), y(start), v(Random(1).normal(start.size())) {}
  void gradient() { problem.grad_f(x, y, gx, gy); }
  void inner_gradient() { problem.grad_y_g(x, y, out_y); }
  void linearise() { problem.curvature_at(x, y); }
  void cross() { problem.cross_product(x, y, v, out_x); }
};

/// Seconds of making the problem and its derivatives.
template <class F>
double seconds_to_prepare(const F& f, const TapeOptions& options) {
  const auto once = [&] {
    return seconds([&] {
      Problem p(make_bilevel({1, f.start().size()}, f, f, options), f.start());
      p.gradient();
      p.inner_gradient();
      LinearOperator& h = p.problem.curvature_at(p.x, p.y);
      h.apply(p.v, p.out_y);
      p.cross();
    });
  };
  return median({once(), once(), once()});
}

const char* name_of(Engine engine) {
  return engine == Engine::rows ? "rows" : engine == Engine::runs ? "runs" : engine == Engine::cppad ? "cppad" : "";
}

template <class F>
nlohmann::json measure(const std::string& name, const F& f, Engine engine, int threads) {
  const TapeOptions options{.engine = engine, .threads = threads};
  Problem p(make_bilevel({1, f.start().size()}, f, f, options), f.start());
  LinearOperator& h = p.problem.curvature_at(p.x, p.y);
  double sink = 0;
  const auto t = median_seconds({[&] { sink += f(p.x, p.y); }, [&] { p.gradient(); }, [&] { p.inner_gradient(); },
                                 [&] { p.linearise(); }, [&] { h.apply(p.v, p.out_y); }, [&] { p.cross(); }});
  const ProblemSize size = p.problem.size();
  const double prepare = seconds_to_prepare(f, options) / seconds_to_prepare(f, {.engine = Engine::cppad});
  const double operations = static_cast<double>(std::max<std::size_t>(1, size.g_engine.operations));
  const double rows = static_cast<double>(size.g_engine.operations_in_rows) / operations;
  const double bytes = static_cast<double>(size.bytes()) / (2 * operations);  // f and g are the same function
  std::printf("%-5s %-9s %8.1f | %6.2f %6.2f %6.2f %6.2f %6.2f | %6.2f %8.0f %5.2f %6.1f%s\n", name.c_str(),
              name_of(size.g_engine.engine), t[0] * 1e6, t[1] / t[0], t[2] / t[0], t[4] / t[0], t[5] / t[0],
              t[3] / t[0], prepare, operations, rows, bytes, std::isfinite(sink) ? "" : " (overflow)");
  std::fflush(stdout);
  return {{"engine", name_of(size.g_engine.engine)},
          {"plain_seconds", t[0]},
          {"gradient", t[1] / t[0]},
          {"inner_gradient", t[2] / t[0]},
          {"hessian_product", t[4] / t[0]},
          {"cross_product", t[5] / t[0]},
          {"linearise", t[3] / t[0]},
          {"prepare", prepare},
          {"bytes_per_operation", bytes}};
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int k = 1; k + 1 < argc; k += 2) given[argv[k]] = argv[k + 1];
  const std::map<std::string, Engine> engines{{"", Engine::automatic},
                                              {"automatic", Engine::automatic},
                                              {"rows", Engine::rows},
                                              {"runs", Engine::runs},
                                              {"cppad", Engine::cppad}};
  const Engine engine = engines.at(given["--engine"]);
  const int threads = given["--threads"].empty() ? 1 : std::stoi(given["--threads"]);
  nlohmann::json all;
  std::printf("%-5s %-9s %8s | %6s %6s %6s %6s %6s | %6s %8s %5s %6s\n", "", "engine", "f (us)", "grad", "grad_y", "HV",
              "JV", "linear", "prep", "ops", "rows", "B/op");
  suite::for_each_function([&](const char* name, const auto& f) {
    if (given["--only"].empty() || given["--only"] == name) all[name] = measure(name, f, engine, threads);
  });
  if (!given["--json"].empty()) std::ofstream(given["--json"]) << all.dump(2) << "\n";
}
