#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hypertape/simd/kernels.hpp"

namespace hypertape {

/// Instructions that kernels may use: what every x86-64 (or other) processor has, AVX2 with FMA, AVX-512 (F, DQ, BW and
/// VL). Results differ between sets by rounding; for one set they are the same on every machine that has it.
enum class InstructionSet { baseline, avx2, avx512 };

/// Its name, as in HYPERTAPE_ISA.
const char* to_string(InstructionSet set);

/// The set of that name; throws std::invalid_argument with the known ones.
InstructionSet instruction_set(const std::string& name);

/// The sets that this build has and this machine can run, the best one last.
const std::vector<InstructionSet>& instruction_sets();

/// What is used where nobody chose: the set named in the environment variable HYPERTAPE_ISA, otherwise the best. Throws
/// std::invalid_argument where that variable names none, or one that cannot run here.
InstructionSet default_instruction_set();

/// The kernels for a set, or for the default. Throws std::invalid_argument if the set cannot run here.
const Kernels& kernels(std::optional<InstructionSet> set = {});

}  // namespace hypertape
