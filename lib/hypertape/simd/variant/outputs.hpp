// Part of a variant: what programs do with the results of a pack of rows.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/registers.hpp"

namespace hypertape::HYPERTAPE_VARIANT {
namespace {

/// An operand of an instruction: a pack, or a number that is the same for all rows.
struct PackOperand {
  const double* from;
  Simd operator[](Index l) const { return load(from + l); }
  double row(Index i) const { return from[i]; }
};
struct NumberOperand {
  Simd everywhere;
  Simd operator[](Index) const { return everywhere; }
  double row(Index) const { return everywhere[0]; }
};

template <class F>
void with_operand(const double* from, bool is_uniform, const F& f) {
  if (is_uniform)
    f(NumberOperand{broadcast(*from)});
  else
    f(PackOperand{from});
}

inline double sum_of_lanes(Simd v) {
  double sum = v[0];
  for (int l = 1; l < simd_lanes; ++l) sum += v[l];
  return sum;
}

/// The sum of value(l), whole registers first; value_of_row(i) is one row of it.
template <class F, class G>
double sum_rows(Index rows, const F& value, const G& value_of_row) {
  Simd first{}, second{};
  Index l = 0;
  for (; l + 2 * simd_lanes <= rows; l += 2 * simd_lanes) {
    first = first + value(l);
    second = second + value(l + simd_lanes);
  }
  double sum = sum_of_lanes(first + second);
  for (; l < rows; ++l) sum += value_of_row(l);
  return sum;
}

/// Adds value(l) to the rows of an output.
template <class F, class G>
void accumulate(const RowOutput& output, Index rows, const F& value, const G& value_of_row) {
  if (output.index != nullptr) {
    for (Index i = 0; i < rows; ++i) output.to[output.index[i]] += value_of_row(i);
  } else if (output.stride == 1) {
    Index l = 0;
    for (; l + simd_lanes <= rows; l += simd_lanes) store(output.to + l, load(output.to + l) + value(l));
    for (; l < rows; ++l) output.to[l] += value_of_row(l);
  } else if (output.stride == 0) {
    *output.to += sum_rows(rows, value, value_of_row);
  } else {
    for (Index i = 0; i < rows; ++i) output.to[i * output.stride] += value_of_row(i);
  }
}

/// Scalar products of packs with one that is common to them all, as many as a register has lanes.
void run_dots(const Instruction* dots, const double* const* slots, const RowOutput* outputs, Index rows) {
  const double* const common = slots[dots->arguments[1]];
  const double* packs[simd_lanes];
  Simd sums[simd_lanes];
  for (int k = 0; k < simd_lanes; ++k) {
    packs[k] = slots[dots[k].arguments[0]];
    sums[k] = Simd{};
  }
  Index l = 0;
  for (; l + simd_lanes <= rows; l += simd_lanes) {
    const Simd c = load(common + l);
    for (int k = 0; k < simd_lanes; ++k) sums[k] = load(packs[k] + l) * c + sums[k];
  }
  Simd all = sum_each(sums);
  for (; l < rows; ++l)
    for (int k = 0; k < simd_lanes; ++k) all[k] += packs[k][l] * common[l];
  for (int k = 0; k < simd_lanes; ++k) *outputs[-1 - dots[k].target].to += all[k];
}

/// Gives packs to outputs; returns the last instruction that was done.
const Instruction* run_output(const Instruction* i, const Instruction* end, const double* const* slots,
                              const RowOutput* outputs, Index rows) {
  const RowOutput& output = outputs[-1 - i->target];
  const double* const a = slots[i->arguments[0]];
  switch (i->code) {
    case Instruction::Code::store:
      for (Index row = 0; row < rows; ++row) output.to[row] = a[row];
      break;
    case Instruction::Code::accumulate:
      accumulate(
          output, rows, [&](Index l) { return load(a + l); }, [&](Index row) { return a[row]; });
      break;
    case Instruction::Code::accumulate_product:
      with_operand(slots[i->arguments[1]], i->uniform & 2, [&](auto b) {
        accumulate(
            output, rows, [&](Index l) { return load(a + l) * b[l]; }, [&](Index row) { return a[row] * b.row(row); });
      });
      break;
    case Instruction::Code::sum:
      *output.to += sum_rows(
          rows, [&](Index l) { return load(a + l); }, [&](Index row) { return a[row]; });
      break;
    default: {
      const Instruction* last = i;
      while (last + 1 != end && last - i + 1 < simd_lanes && last[1].code == i->code &&
             last[1].arguments[1] == i->arguments[1])
        ++last;
      if (last - i + 1 == simd_lanes) {
        run_dots(i, slots, outputs, rows);
        return last;
      }
      const double* const b = slots[i->arguments[1]];
      *output.to += sum_rows(
          rows, [&](Index l) { return load(a + l) * load(b + l); }, [&](Index row) { return a[row] * b[row]; });
    }
  }
  return i;
}

}  // namespace
}  // namespace hypertape::HYPERTAPE_VARIANT
