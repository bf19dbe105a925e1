#pragma once

#include <optional>
#include <string>

#include "tape/compare_engines.hpp"
#include "tape/random_function.hpp"

namespace hypertape::testing {

/// Makes the function of a seed with both engines and compares them at points other than the recorded one. Returns what
/// differs, or nothing.
inline std::optional<std::string> difference_of(std::uint64_t seed, Engine engine, double tolerance) {
  const RandomFunction function(seed);
  const Dims dims = function.dims();
  Random random(seed + 7);
  TapeOptions options{.record_x = random.normal(dims.x), .record_y = random.normal(dims.y), .engine = engine};
  TapedProblem problem = make_bilevel(dims, function, function, options);
  options.engine = Engine::cppad;
  TapedProblem reference = make_bilevel(dims, function, function, options);
  for (int point = 0; point < 3; ++point) {
    const Vec x = random.normal(dims.x), y = random.normal(dims.y);
    bool frozen = false, reference_frozen = false;
    try {
      problem.f(x, y);
    } catch (const FrozenBranch&) {
      frozen = true;
    }
    try {
      reference.f(x, y);
    } catch (const FrozenBranch&) {
      reference_frozen = true;
    }
    if (frozen != reference_frozen) return text("seed ", seed, ": a changed branch is noticed by one engine only");
    if (frozen) continue;
    EngineComparison comparison(problem, reference);
    const double difference = comparison.at(x, y, random);
    if (!(difference <= tolerance)) return text("seed ", seed, ": ", comparison.worst(), ", differs by ", difference);
  }
  return {};
}

}  // namespace hypertape::testing
