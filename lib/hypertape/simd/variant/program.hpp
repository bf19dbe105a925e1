// Part of a variant: programs on packs.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/functions.hpp"
#include "hypertape/simd/variant/outputs.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// The lanes of a pack that a program was compiled for, or of any: a multiple of eight.
struct PackLanes {
  constexpr operator Index() const { return pack_lanes; }
};

template <class Lanes, class F>
void for_lanes(double* out, Lanes lanes, const F& value) {
  for (Index l = 0; l < lanes; l += 8)
    for (Index r = l; r < l + 8; r += simd_lanes) store(out + r, value(r));
}

template <class Lanes>
void run_operation(Op op, double* out, const double* a, const double* b, const double* c, const double* d,
                   Lanes lanes) {
  switch (op) {
    case Op::neg:
      return for_lanes(out, lanes, [&](Index l) { return -load(a + l); });
    case Op::select_less:
      return for_lanes(out, lanes, [&](Index l) { return load(a + l) < load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_less_equal:
      return for_lanes(out, lanes, [&](Index l) { return load(a + l) <= load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_equal:
      return for_lanes(out, lanes, [&](Index l) { return load(a + l) == load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_greater_equal:
      return for_lanes(out, lanes, [&](Index l) { return load(a + l) >= load(b + l) ? load(c + l) : load(d + l); });
    case Op::select_greater:
      return for_lanes(out, lanes, [&](Index l) { return load(a + l) > load(b + l) ? load(c + l) : load(d + l); });
    default:
      run_function(op, out, a, b, lanes);
  }
}

/// +, -, *, /, where either argument may be one number.
template <class Lanes>
bool run_arithmetic(const Instruction& i, double* out, const double* const* slots, Lanes lanes) {
  if (i.op < Op::add || i.op > Op::div) return false;
  with_operand(slots[i.arguments[0]], i.uniform & 1, [&](auto a) {
    with_operand(slots[i.arguments[1]], i.uniform & 2, [&](auto b) {
      switch (i.op) {
        case Op::add:
          return for_lanes(out, lanes, [&](Index l) { return a[l] + b[l]; });
        case Op::sub:
          return for_lanes(out, lanes, [&](Index l) { return a[l] - b[l]; });
        case Op::mul:
          return for_lanes(out, lanes, [&](Index l) { return a[l] * b[l]; });
        default:
          return for_lanes(out, lanes, [&](Index l) { return a[l] / b[l]; });
      }
    });
  });
  return true;
}

/// The registers of a block of a sum of products, in instructions [first, last].
template <int registers>
void run_block(const Instruction* first, const Instruction* last, const double* const* slots, double* out,
               Index begin) {
  Simd sums[registers];
  with_operand(slots[first->arguments[2]], first->uniform & 4, [&](auto c) {
    for (int r = 0; r < registers; ++r) sums[r] = c[begin + r * simd_lanes];
  });
  for (const Instruction* i = first; i != last + 1; ++i) {
    const double* const a = slots[i->arguments[0]] + begin;
    if (i->uniform & 2) {
      const Simd b = broadcast(*slots[i->arguments[1]]);
      for (int r = 0; r < registers; ++r) sums[r] = load(a + r * simd_lanes) * b + sums[r];
    } else {
      const double* const b = slots[i->arguments[1]] + begin;
      for (int r = 0; r < registers; ++r) sums[r] = load(a + r * simd_lanes) * load(b + r * simd_lanes) + sums[r];
    }
  }
  for (int r = 0; r < registers; ++r) store(out + begin + r * simd_lanes, sums[r]);
}

/// A sum of products is a chain of these instructions, each adding to what the one before left in the same place, where
/// nobody else reads it: the sum stays in registers. Returns the last instruction of the chain.
template <class Lanes>
const Instruction* run_multiply_adds(const Instruction* first, const Instruction* end, const double* const* slots,
                                     double* out, Lanes lanes) {
  const Instruction* last = first;
  const int sum = first->target;
  while (sum >= 0 && last + 1 != end && last[1].code == Instruction::Code::multiply_add && last[1].target == sum &&
         last[1].arguments[2] == sum && last[1].arguments[0] != sum && last[1].arguments[1] != sum)
    ++last;
  constexpr int registers = pack_lanes / simd_lanes < 8 ? pack_lanes / simd_lanes : 8;
  Index begin = 0;
  for (; begin + registers * simd_lanes <= lanes; begin += registers * simd_lanes)
    run_block<registers>(first, last, slots, out, begin);
  for (; begin + 16 <= lanes; begin += 16) run_block<16 / simd_lanes>(first, last, slots, out, begin);
  for (; begin < lanes; begin += 8) run_block<8 / simd_lanes>(first, last, slots, out, begin);
  return last;
}

/// One instruction that is no output, and no chain.
template <class Lanes>
void run_instruction(const Instruction& i, double* out, const double* const* slots, Lanes lanes) {
  switch (i.code) {
    case Instruction::Code::copy:
      return with_operand(slots[i.arguments[0]], i.uniform & 1,
                          [&](auto a) { for_lanes(out, lanes, [&](Index l) { return a[l]; }); });
    case Instruction::Code::negative_multiply_add: {
      const double* const a = slots[i.arguments[0]];
      return with_operand(slots[i.arguments[1]], i.uniform & 2, [&](auto b) {
        with_operand(slots[i.arguments[2]], i.uniform & 4,
                     [&](auto c) { for_lanes(out, lanes, [&](Index l) { return c[l] - load(a + l) * b[l]; }); });
      });
    }
    default:
      if (!run_arithmetic(i, out, slots, lanes))
        run_operation(i.op, out, slots[i.arguments[0]], slots[i.arguments[1]], slots[i.arguments[2]],
                      slots[i.arguments[3]], lanes);
  }
}

void run(const Instruction* code, std::size_t count, const double* const* slots, double* const* outputs) {
  for (const Instruction* i = code; i != code + count; ++i) {
    // Temporaries are written through the table of slots; they live in a scratch, which is not const.
    double* const out = i->target < 0 ? outputs[-1 - i->target] : const_cast<double*>(slots[i->target]);
    if (i->code == Instruction::Code::multiply_add)
      i = run_multiply_adds(i, code + count, slots, out, PackLanes{});
    else
      run_instruction(*i, out, slots, PackLanes{});
  }
}

void run_rows(const Instruction* code, std::size_t count, const double* const* slots, const RowOutput* outputs,
              Index rows) {
  const Index lanes = padded(rows);
  for (const Instruction* i = code; i != code + count; ++i) {
    double* const out = i->target < 0 ? outputs[-1 - i->target].to : const_cast<double*>(slots[i->target]);
    if (i->code >= Instruction::Code::store)
      i = run_output(i, code + count, slots, outputs, rows);
    else if (i->code == Instruction::Code::multiply_add)
      i = run_multiply_adds(i, code + count, slots, out, lanes);
    else
      run_instruction(*i, out, slots, lanes);
  }
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
