// 16-bit floats by the kernels of float: an op on them computes what it computes of the same numbers in float, rounded once.
// Ops that round in between are left to Python.
#pragma once
#include "op.h"

namespace tapeflow {

// Gives op a kernel for float16 and for bfloat16, where it has one for float and none of theirs.
void widen_kernels(OpDef* op);

}  // namespace tapeflow
