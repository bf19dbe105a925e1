// Random functions, with the engine of rows against CppAD's sweeps: random_functions --runs 10000 [--first SEED]

#include "tape/random_functions.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  std::uint64_t runs = 1000, first = 0;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::string(argv[k]) == "--runs") runs = std::strtoull(argv[k + 1], nullptr, 10);
    if (std::string(argv[k]) == "--first") first = std::strtoull(argv[k + 1], nullptr, 10);
  }
  int differences = 0;
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    std::string what;
    try {
      if (const auto found = hypertape::testing::difference_of(seed, hypertape::Engine::rows, 1e-12)) what = *found;
    } catch (const std::exception& error) {
      what = hypertape::text("seed ", seed, ": ", error.what());
    }
    if (what.empty()) continue;
    ++differences;
    std::printf("%s\n", what.c_str());
  }
  std::printf("%llu functions, %d differences\n", static_cast<unsigned long long>(runs), differences);
  return differences == 0 ? 0 : 1;
}
