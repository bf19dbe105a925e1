// Part of a variant: programs on packs.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/registers.hpp"

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
    case Op::exp:
      return for_lanes(out, [&](int l) { return simd_exp(load(a + l)); });
    case Op::log:
      return for_lanes(out, [&](int l) { return simd_log(load(a + l)); });
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
    case Op::sqrt:
      for (int l = 0; l < pack_lanes; ++l) out[l] = __builtin_sqrt(a[l]);
      return;
    default:
      evaluate_pack(op, out, a, b, c, d);
  }
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
        for_lanes(out, [&](int l) { return load(a + l) * load(b + l) + load(c + l); });
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
