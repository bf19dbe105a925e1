// The kernels of one variant: compiled once for each instruction set, with HYPERTAPE_VARIANT naming the namespace and
// HYPERTAPE_LANES the doubles in a register.
//
// Code compiled for one processor must not be run on another by accident. The linker keeps one copy of an inline
// function that several files define, whichever it meets first; so no file of a variant may define one. Everything here
// is in an unnamed namespace, and functions of the standard library that are templates or inline are not used. The test
// `variants` looks at the symbols of the object files.
#pragma once

#include "hypertape/simd/kernels.hpp"
#include "hypertape/simd/variant/finite.hpp"
#include "hypertape/simd/variant/products.hpp"
#include "hypertape/simd/variant/program.hpp"
#include "hypertape/simd/variant/runs.hpp"
#include "hypertape/simd/variant/transpose.hpp"

namespace hypertape::HYPERTAPE_VARIANT {

extern const Kernels kernels;
const Kernels kernels = {run,
                         run_rows,
                         run_runs,
                         multiply_dense,
                         add_transposed_dense,
                         multiply_sparse,
                         add_transposed_sparse,
                         add_columns,
                         rows_to_pack,
                         pack_to_rows,
                         add_pack_to_rows,
                         all_finite};

}  // namespace hypertape::HYPERTAPE_VARIANT
