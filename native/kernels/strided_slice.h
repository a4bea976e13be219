// What x[begin:end:strides] with its masks means for a given shape.
#pragma once
#include "kernel.h"

namespace tapeflow {

TAPEFLOW_ATTRS(SliceMasks, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask);

struct SliceSpec {
  int rank;                 // of the sliced tensor; of each of its axes:
  int64_t begin[kMaxRank], stride[kMaxRank], count[kMaxRank];
  int out_rank;             // of the result, with new axes and without shrunk ones
  int64_t out[kMaxRank];
  int out_axis[kMaxRank];   // the axis of the tensor that each axis of the result comes from; -1: a new one
  bool empty() const;
};

// Throws InvalidArgument when the indices do not fit dims. Index tensors are int32 or int64.
void parse_slice(int rank, const int64_t* dims, const Tensor* begin, const Tensor* end,
                 const Tensor* strides, const SliceMasks& masks, SliceSpec* out);

// Where the slice starts and how it steps in a row-major array of shape dims, in elements.
int64_t slice_strides(const SliceSpec& s, const int64_t* dims, int64_t* steps);

}  // namespace tapeflow
