// Driver of reductions: axes, output shape, order of walking, threads. The loops come from isa/.
#pragma once
#include "kernel.h"

namespace tapeflow {

// The loops of one reduction for one element type. They work on accumulators, whose type may be
// wider than the elements'.
struct Reducer {
  int accumulator_size;
  DType out;
  bool keeps_single;  // of one element the result is that element
  double ns;          // rough cost of one element
  void (*identity)(void* acc, int64_t n);
  // acc[i] gains the n contiguous elements of row i.
  void (*reduce_rows)(void* acc, const void* x, int64_t rows, int64_t n);
  // acc[i] gains element i of each of the rows, `stride` elements apart.
  void (*fold_rows)(void* acc, const void* x, int64_t rows, int64_t stride, int64_t n);
  void (*combine)(void* acc, const void* other, int64_t n);
  // `count`: how many elements went into each.
  void (*finish)(const void* acc, int64_t n, int64_t count, void* out);
};

// Reduces c.in[0] along the axes in c.in[1].
bool reduce_along_axes(KernelCall& c, bool keep_dims, const Reducer& r);

// Reduces the dimensions of x that `reduced` marks to a new tensor of shape `out`.
Tensor* reduce(const Tensor* x, const bool* reduced, Shape* out, const Reducer& r);

}  // namespace tapeflow
