// Part of a variant: programs on packs.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/functions.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

template <class F>
void for_lanes(double* out, const F& value) {
  for (int l = 0; l < pack_lanes; l += simd_lanes) store(out + l, value(l));
}

void run_operation(Op op, double* out, const double* a, const double* b, const double* c, const double* d) {
  switch (op) {
    case Op::add:
      return for_lanes(out, [&](int l) { return load(a + l) + load(b + l); });
    case Op::sub:
      return for_lanes(out, [&](int l) { return load(a + l) - load(b + l); });
    case Op::mul:
      return for_lanes(out, [&](int l) { return load(a + l) * load(b + l); });
    case Op::div:
      return for_lanes(out, [&](int l) { return load(a + l) / load(b + l); });
    case Op::neg:
      return for_lanes(out, [&](int l) { return -load(a + l); });
    case Op::select_less:
      return for_lanes(out, [&](int l) { return load(a + l) < load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_less_equal:
      return for_lanes(out, [&](int l) { return load(a + l) <= load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_equal:
      return for_lanes(out, [&](int l) { return load(a + l) == load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_greater_equal:
      return for_lanes(out, [&](int l) { return load(a + l) >= load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_greater:
      return for_lanes(out, [&](int l) { return load(a + l) > load(b + l) ? load(c + l) : load(d + l); });
    default:
      run_function(op, out, a, b, pack_lanes);
  }
}

/// A sum of products is a chain of these instructions, each adding to what the one before left in the same place, where
/// nobody else reads it: the sum stays in registers. Returns the last instruction of the chain.
const Instruction* run_multiply_adds(const Instruction* first, const Instruction* end, const double* const* slots,
                                     double* const* outputs) {
  const Instruction* last = first;
  const int sum = first->target;
  while (sum >= 0 && last + 1 != end && last[1].code == Instruction::Code::multiply_add && last[1].target == sum &&
         last[1].arguments[2] == sum && last[1].arguments[0] != sum && last[1].arguments[1] != sum)
    ++last;
  constexpr int registers = pack_lanes / simd_lanes < 8 ? pack_lanes / simd_lanes : 8;
  double* const out = sum < 0 ? outputs[-1 - sum] : const_cast<double*>(slots[sum]);
  for (int begin = 0; begin < pack_lanes; begin += registers * simd_lanes) {
    Simd sums[registers];
    for (int r = 0; r < registers; ++r) sums[r] = load(slots[first->arguments[2]] + begin + r * simd_lanes);
    for (const Instruction* i = first; i != last + 1; ++i) {
      const double *const a = slots[i->arguments[0]] + begin, *const b = slots[i->arguments[1]] + begin;
      for (int r = 0; r < registers; ++r) sums[r] = load(a + r * simd_lanes) * load(b + r * simd_lanes) + sums[r];
    }
    for (int r = 0; r < registers; ++r) store(out + begin + r * simd_lanes, sums[r]);
  }
  return last;
}

void run(const Instruction* code, std::size_t count, const double* const* slots, double* const* outputs) {
  for (const Instruction* i = code; i != code + count; ++i) {
    // Temporaries are written through the table of slots; they live in a scratch, which is not const.
    double* const out = i->target < 0 ? outputs[-1 - i->target] : const_cast<double*>(slots[i->target]);
    const double *const a = slots[i->arguments[0]], *const b = slots[i->arguments[1]],
                        *const c = slots[i->arguments[2]], *const d = slots[i->arguments[3]];
    switch (i->code) {
      case Instruction::Code::copy:
        for_lanes(out, [&](int l) { return load(a + l); });
        break;
      case Instruction::Code::multiply_add:
        i = run_multiply_adds(i, code + count, slots, outputs);
        break;
      case Instruction::Code::negative_multiply_add:
        for_lanes(out, [&](int l) { return load(c + l) - load(a + l) * load(b + l); });
        break;
      case Instruction::Code::operation:
        run_operation(i->op, out, a, b, c, d);
        break;
    }
  }
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
