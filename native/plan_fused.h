// Fused instructions: several elementwise ops, and reductions of their results to scalars, as one loop over tiles
// that stay in the first-level cache.
//
// In Python the payload of a "fused" instruction is (steps, outputs, dtypes, fallback):
//   dtypes:   the number of each input's dtype;
//   steps:    a list of (row, attrs dict, operands); an operand is the number of an input, or the number of inputs plus
//             that of an earlier step. A row serves if `fusable(row.name, dtype number)`.
//   outputs:  a list of (value, reduction), value numbered as operands are; reduction is None for the elements of a
//             step's result, or "Sum", "Mean", "Max" or "Min" over all of a value's elements, a scalar (of
//             float32 or float64; of int32 or int64 no mean).
//   fallback: a Plan of the same inputs and outputs, made of ordinary instructions.
// The largest input gives the shape. The others have the same shape, or one element, or broadcast along leading
// dimensions ([C] in [N, C]) or trailing ones ([N, 1] in [N, C]). Everything else runs the fallback: other dtypes, other
// shapes, steps or outputs that would be smaller than the whole, no elements, a divisor that is zero. Integers are
// divided by inputs only, not by results of steps.
// A fused instruction computes what its fallback does, bit for bit but for the order of additions in sums.
#pragma once
#include <memory>

#include "op.h"

namespace tapeflow {

struct Plan;
struct FusedProgram;

// Throws PythonError (ValueError).
FusedProgram* parse_fused(PyObject* payload, int n_in, int n_out);
void free_fused(FusedProgram* program);
int traverse_fused(const FusedProgram* program, visitproc visit, void* arg);
Plan* fallback_of(const FusedProgram* program);  // borrowed

// Fills out with new references. False, with nothing done: the fallback must run. `dying` is as in KernelCall.
bool run_fused(const FusedProgram* program, Tensor* const* in, uint64_t dying, Tensor** out);

PyObject* py_fusable(PyObject* module, PyObject* args);

}  // namespace tapeflow
