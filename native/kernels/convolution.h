// Convolutions that are computed here where oneDNN's kernels are slower.
#pragma once
#include "onednn.h"

namespace tapeflow {

// The gradient of the filter from the input and the gradient of the output. False, with nothing written: not for it.
// Null with instruction sets for which oneDNN's is the faster one.
inline bool (*own_filter_gradient)(const Convolution& v, const float* x, const float* dy, float* dw) = nullptr;

}  // namespace tapeflow
