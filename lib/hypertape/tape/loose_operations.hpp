#pragma once

#include <span>

#include "hypertape/tape/partition.hpp"

namespace hypertape {

// Plain sweeps over operations that are in no row. Arrays are by slot. An adjoint that is zero is not passed on: what a
// select did not take need not be finite.

/// `all`, or those that depend on y.
void run_forward(std::span<const LooseOperation> operations, double* values, bool all = true);

/// Adds to the adjoints of operands.
void run_reverse(std::span<const LooseOperation> operations, const double* values, double* adjoints);

/// The tangents, and the tangents of adjoints, in the direction that the operands' tangents are.
void run_tangents(std::span<const LooseOperation> operations, const double* values, double* tangents);
void run_second_reverse(std::span<const LooseOperation> operations, const double* values, const double* adjoints,
                        const double* tangents, double* adjoint_tangents);

}  // namespace hypertape
