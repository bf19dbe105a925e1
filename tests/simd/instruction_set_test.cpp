#include "hypertape/simd/instruction_set.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

using namespace hypertape;

namespace {

/// HYPERTAPE_ISA for the time of a test.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() { before_.empty() ? unsetenv(name) : setenv(name, before_.c_str(), 1); }

 private:
  static constexpr const char* name = "HYPERTAPE_ISA";
  std::string before_;
};

}  // namespace

TEST_CASE("there is always a set, the best one last, each with kernels of its own") {
  const auto& sets = instruction_sets();
  REQUIRE_FALSE(sets.empty());
  CHECK(sets.front() == InstructionSet::baseline);
  for (std::size_t k = 1; k < sets.size(); ++k) {
    CHECK(sets[k - 1] < sets[k]);
    CHECK(&kernels(sets[k]) != &kernels(sets[k - 1]));
  }
  const Environment unset("");
  CHECK(default_instruction_set() == sets.back());
  CHECK(&kernels() == &kernels(sets.back()));
}

TEST_CASE("the environment chooses, and what it cannot have is refused") {
  for (const InstructionSet set : instruction_sets()) {
    const Environment chosen(to_string(set));
    CHECK(default_instruction_set() == set);
    CHECK(&kernels() == &kernels(set));
    CHECK(instruction_set(to_string(set)) == set);
  }
  const Environment wrong("sse9");
  CHECK_THROWS_WITH_AS(kernels(), "HYPERTAPE_ISA = \"sse9\", must be baseline, avx2 or avx512", std::invalid_argument);
  CHECK_THROWS_WITH_AS(instruction_set("AVX2"), "instruction set = \"AVX2\", must be baseline, avx2 or avx512",
                       std::invalid_argument);
  for (const auto set : {InstructionSet::avx2, InstructionSet::avx512}) {
    if (set <= instruction_sets().back()) continue;
    const std::string words = std::string(" = ") + to_string(set) + ": this machine or build has baseline";
    CHECK_THROWS_WITH_AS(kernels(set), doctest::Contains(words.c_str()), std::invalid_argument);
    const Environment missing(to_string(set));
    CHECK_THROWS_WITH_AS(kernels(), doctest::Contains(words.c_str()), std::invalid_argument);
  }
}
