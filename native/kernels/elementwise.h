// Drivers of elementwise kernels: shapes, broadcasting, threads. The loops over contiguous elements
// come from the files under isa/; these drivers do not depend on the instruction set.
#pragma once
#include "kernel.h"

namespace tapeflow {

// Computes n contiguous elements from those of the inputs (some may be one element, repeated).
using Row = void (*)(const void* const* in, void* out, int64_t n, const Attr* attrs);

// Throws when the second input must not be used, as for integer division.
using Check = void (*)(const Tensor* y);

struct BinaryRows {
  Row both;          // x[i], y[i]
  Row scalar_right;  // x[i], y[0]
  Row scalar_left;   // x[0], y[i]
  Check check;       // may be null; called only when there is something to compute
};

// `ns` is the rough cost of one element.
bool map_unary(KernelCall& c, DType out, double ns, Row row);

// Two inputs of one shape. Activation gradients insist on the shape, cwise gradients on the size.
enum class Match { kShape, kSize };
bool map_pair(KernelCall& c, double ns, Row row, Match match);

bool map_binary(KernelCall& c, DType out, double ns, const BinaryRows& rows);

// Three inputs, broadcast to out's shape. rows[i] serves where just those inputs are one element
// whose bits are set in i.
void map_ternary(KernelCall& c, Tensor* out, double ns, const Row rows[8]);

// Any number of inputs of one shape.
bool map_all(KernelCall& c, double ns, Row first_two, Row accumulate);

}  // namespace tapeflow
