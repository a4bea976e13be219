// The parts of the layout family, one file each; register_layout() calls them all.
#pragma once
#include "kernel.h"

namespace tapeflow {

void register_transpose();
void register_concat();
void register_slice();
void register_fill();
void register_broadcast_args();

// The one integer of an int32 or int64 tensor of any rank that has a single element.
inline int64_t single_int(const Tensor* t) {
  return t->dtype == DType::kInt64 ? *t->as<int64_t>() : *t->as<int32_t>();
}

}  // namespace tapeflow
