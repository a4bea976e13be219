// What the tape needs to add gradients up, for float32, float64, int32 and int64.
#pragma once
#include "elementwise.h"
#include "reduction.h"

namespace tapeflow {

// acc += x, in acc's memory, which must be unshared. False (and nothing done) when the dtypes or
// shapes differ or the dtype has no native kernel.
bool add_in_place(Tensor* acc, const Tensor* x);

// The reverse of broadcasting from `target` to x's shape: a new tensor of shape `target`, each
// element the sum of those that it was repeated to. Null when the dtype has no native kernel, or
// x's shape is none that `target` broadcasts to.
Tensor* sum_to_shape(const Tensor* x, Shape* target);

// Set at load by the best instruction set. `add`: out += in[0].
void register_accumulate(DType dtype, Row add);
void register_sum(DType dtype, const Reducer* sum);

}  // namespace tapeflow
