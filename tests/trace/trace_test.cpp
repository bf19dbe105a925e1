#include "hypertape/trace/trace.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "support/comma_locale.hpp"

namespace hypertape {
namespace {

void feed(const Observer& observer, int iterations) {
  const Vec x = Vec::Constant(2, 1.5), y = Vec::Constant(3, 0.25);
  for (int k = 1; k <= iterations; ++k)
    CHECK(observer({k, x, x, y, x, 1.0 / k, 0.5, 0.125, {k, 2 * k, 3 * k, 4 * k}, 0.25 * k, k / 10, 0.0625}));
}

}  // namespace

TEST_CASE("rows are what the observer saw, and metrics are taken there") {
  Trace trace({{"size", [](const Vec& x, const Vec& y) { return static_cast<double>(x.size() + y.size()); }},
               {"first", [](const Vec& x, const Vec&) { return x[0]; }}});
  feed(trace.observer("rahgd"), 2);
  feed(trace.observer("aid"), 1);
  std::ostringstream out;
  trace.write_csv(out);
  CHECK(out.str() ==
        "solver,iteration,seconds,f,g,jv,hv,phi,gradient_norm,error_bound,error_estimate,restarts,size,first\n"
        "rahgd,1,0.25,1,2,3,4,1,0.5,0.125,0.0625,0,5,1.5\n"
        "rahgd,2,0.5,2,4,6,8,0.5,0.5,0.125,0.0625,0,5,1.5\n"
        "aid,1,0.25,1,2,3,4,1,0.5,0.125,0.0625,0,5,1.5\n");
}

TEST_CASE("the CSV is the same in a locale with commas, and the stream stays as it was") {
  Trace trace;
  feed(trace.observer("rahgd"), 2);
  std::ostringstream plain;
  trace.write_csv(plain);
  const testing::CommaLocale locale;
  std::ostringstream out;
  trace.write_csv(out);
  CHECK(out.str() == plain.str());
  out.str("");
  out << 1234.5;
  CHECK(out.str() == "1.234,5");
}

TEST_CASE("long runs are thinned evenly, each solver by itself") {
  Trace trace;
  feed(trace.observer("short"), 30);
  feed(trace.observer("long"), 50'000);
  int rows = 0, first = 0, before = 0, step = 0;
  for (const TraceRow& row : trace.rows()) {
    if (row.solver == "short") {
      CHECK(row.iteration == ++first);
      continue;
    }
    if (rows >= 2) CHECK(row.iteration - before == step);
    step = row.iteration - before;
    before = row.iteration;
    ++rows;
  }
  CHECK(first == 30);
  CHECK(rows >= 900);
  CHECK(rows <= 2000);
  CHECK(before > 49'900);
}

}  // namespace hypertape
