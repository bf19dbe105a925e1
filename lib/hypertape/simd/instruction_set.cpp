#include "hypertape/simd/instruction_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "hypertape/core/require.hpp"

namespace hypertape {

namespace baseline {
extern const Kernels kernels;
}
#if defined(HYPERTAPE_HAS_X86_VARIANTS)
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}
#endif

namespace {

constexpr const char* names[] = {"baseline", "avx2", "avx512"};

bool runs_here(InstructionSet set) {
  switch (set) {
    case InstructionSet::baseline:
      return true;
#if defined(HYPERTAPE_HAS_X86_VARIANTS)
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case InstructionSet::avx512:
      return runs_here(InstructionSet::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl");
#endif
    default:
      return false;
  }
}

std::string list_of_sets() {
  std::string list;
  for (const InstructionSet set : instruction_sets()) list += (list.empty() ? "" : ", ") + std::string(to_string(set));
  return list;
}

InstructionSet require_runs_here(InstructionSet set, const char* who) {
  require(runs_here(set), who, " = ", to_string(set), ": this machine or build has ", list_of_sets(), " only");
  return set;
}

}  // namespace

const char* to_string(InstructionSet set) { return names[static_cast<int>(set)]; }

InstructionSet instruction_set(const std::string& name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  require(found != std::end(names), "instruction set = \"", name, "\", must be baseline, avx2 or avx512");
  return static_cast<InstructionSet>(found - names);
}

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> out;
    for (const auto set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512})
      if (runs_here(set)) out.push_back(set);
    return out;
  }();
  return sets;
}

InstructionSet default_instruction_set() {
  const char* const name = std::getenv("HYPERTAPE_ISA");
  if (name == nullptr || *name == '\0') return instruction_sets().back();
  require(std::find(std::begin(names), std::end(names), std::string(name)) != std::end(names), "HYPERTAPE_ISA = \"",
          name, "\", must be baseline, avx2 or avx512");
  return require_runs_here(instruction_set(name), "HYPERTAPE_ISA");
}

const Kernels& kernels(std::optional<InstructionSet> set) {
  switch (set ? require_runs_here(*set, "instruction set") : default_instruction_set()) {
#if defined(HYPERTAPE_HAS_X86_VARIANTS)
    case InstructionSet::avx2:
      return avx2::kernels;
    case InstructionSet::avx512:
      return avx512::kernels;
#endif
    default:
      return baseline::kernels;
  }
}

}  // namespace hypertape
