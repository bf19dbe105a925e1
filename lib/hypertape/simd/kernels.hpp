#pragma once

#include <cstddef>
#include <cstdint>

#include "hypertape/simd/op.hpp"

namespace hypertape {

/// Rows that are computed together: a program handles this many with one reading of each of its instructions.
inline constexpr int pack_lanes = 32;

/// One number for each row of a pack.
struct alignas(64) Pack {
  double lane[pack_lanes];
};

/// The length of a row that kernels read or write in whole registers of any size: p, rounded up.
[[gnu::always_inline]] constexpr std::ptrdiff_t padded(std::ptrdiff_t p) { return (p + 7) / 8 * 8; }

/// One step of a program on packs. Slots are its inputs, then its constants, then temporaries.
struct Instruction {
  /// What an instruction does beside the operations of a graph. The last four give a pack to an output that is more
  /// than a pack (RowOutput): a copy of its rows, the pack or a product added row by row, its sum or a product's.
  enum class Code : std::uint8_t {
    operation,
    copy,
    multiply_add,
    negative_multiply_add,
    store,
    accumulate,
    accumulate_product,
    sum,
    dot
  };

  Code code;
  Op op;
  int target;  ///< a slot; a negative one is output -1 - target
  int arguments[4];

  /// Bit k: argument k is one number, the same for all rows. For +, -, *, /, copy and what adds products.
  std::uint8_t uniform = 0;
};

/// Equal operations on single numbers, one after the other: operands are places in a memory, results go to the next
/// `count` places of it. A function may overwrite seven places more.
struct ScalarRun {
  enum class Code : std::uint8_t { operation, multiply_add, negative_multiply_add, multiply_subtract };

  Code code;
  Op op;
  int count;
};

/// Where rows go: row i to `to[index[i]]`, or to `to[i * stride]` without an index.
struct RowOutput {
  double* to;
  std::ptrdiff_t stride = 1;
  const int* index = nullptr;
};

/// Rows (or columns) of a sparse matrix as Eigen compresses them: entries [starts[i], starts[i + 1]) belong to row i.
struct Compressed {
  const double* values;
  const int* indices;
  const int* starts;
};

/// The inner loops, once for each instruction set (instruction_set.hpp). All memory may be unaligned.
///
/// Products are of a tall matrix X (n x p) with a matrix of few columns, where general libraries are weak: the few
/// columns are a compile-time width, held in registers (tests/benchmarks/bench_oracles has the figures). W is given as
/// `width` rows of padded(p) entries, zeros behind the p-th (dense X), or as p rows of length `width` (sparse X): the
/// layout each kernel reads in order. Images z = X W' are stored by component: z[j * stride + i] for component j of row
/// i. X points to the first of the rows that are meant. `squared` stands for X with the squares of its entries.
struct Kernels {
  using Index = std::ptrdiff_t;

  void (*run)(const Instruction* code, std::size_t count, const double* const* slots, double* const* outputs);

  /// The same for packs of any number of rows. Inputs and temporaries have padded(rows) lanes; outputs have as many if
  /// they are written as packs, and just their rows otherwise.
  void (*run_rows)(const Instruction* code, std::size_t count, const double* const* slots, const RowOutput* outputs,
                   Index rows);

  /// Runs whose results begin at place `first`; `operands` has as many places for each operation as it has arguments,
  /// three for one with a product: a b + c, c - a b, a b - c.
  void (*run_runs)(const ScalarRun* runs, std::size_t count, const int* operands, double* memory, Index first);

  /// z = X W'. The first `whole` rows may be read up to padded(p), past their end. Rows are summed in blocks of
  /// `columns`, a multiple of eight; a component is then the same to the last bit whatever the width.
  void (*multiply_dense)(const double* X, Index p, Index rows, Index whole, const double* W, Index width, Index columns,
                         double* z, Index stride);

  /// G += z' X, G being `width` rows of padded(p) entries, of which those behind the p-th are left undefined.
  void (*add_transposed_dense)(const double* X, Index p, Index rows, Index whole, const double* z, Index stride,
                               Index width, bool squared, double* G);

  /// z = X W' for rows [first, first + rows). `far`: W does not stay in cache, rows of it are fetched ahead.
  void (*multiply_sparse)(Compressed X, Index first, Index rows, const double* W, Index width, bool far, double* z,
                          Index stride);

  /// G += z' X for rows [first, first + rows), G being p rows of length `width`.
  void (*add_transposed_sparse)(Compressed X, Index first, Index rows, const double* z, Index stride, Index width,
                                bool squared, double* G);

  /// G[k - first] += sum_i X(i, k) z[i] for columns k in [first, last), z and G being rows of length `width`.
  void (*add_columns)(Compressed columns, Index first, Index last, const double* z, Index width, bool far, bool squared,
                      double* G);

  /// Between `n` <= pack_lanes rows of `width` components, one row after the other, and a pack, stored by component:
  /// component j of row i at j * pack_lanes + i. The first returns whether all entries are finite.
  bool (*rows_to_pack)(const double* rows, Index width, Index n, double* pack);
  void (*pack_to_rows)(const double* pack, Index width, Index n, double* rows);
  void (*add_pack_to_rows)(const double* pack, Index width, Index n, double* rows);

  bool (*all_finite)(const double* v, Index size);
};

}  // namespace hypertape
