// The door to oneDNN. It lives in a plugin beside the core, opened on first need, so that importing
// the package does not pay for it; where the plugin was not built the kernels of the core and of
// the rows serve.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tapeflow {

// A 2-D convolution of float32: activations NHWC or NCHW, filter [height, width, in_depth / groups,
// out_depth]. Only 64-bit members: the plugin compares them as bytes.
struct Convolution {
  enum Pass : int64_t { kForward, kBackwardInput, kBackwardFilter };
  int64_t pass, channels_first, groups;
  int64_t batch, in_depth, out_depth;
  int64_t in[2], out[2], filter[2], stride[2], dilation[2];  // height, width
  int64_t pad_before[2], pad_after[2];
};

struct OneDnn {
  // c[m, n] = op(a)[m, k] op(b)[k, n], row-major. The functions return false, with nothing
  // written, where oneDNN declines.
  bool (*sgemm)(int threads, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc);
  // The operands of the passes: (input, filter) -> output; (filter, output gradient) -> input
  // gradient; (input, output gradient) -> filter gradient.
  bool (*convolve)(int threads, const Convolution& convolution, const float* first,
                   const float* second, float* result);
};

// Runs body(memory, context) with `bytes` of aligned scratch memory.
using WithScratch = void (*)(size_t bytes, void (*body)(char* memory, void* context),
                             void* context);

// What the plugin exports, under this name.
using OpenOneDnn = const OneDnn* (*)(WithScratch);
constexpr const char* kOpenOneDnn = "tapeflow_open_onednn";

// Null where the plugin is missing or does not load. Called under the GIL.
const OneDnn* onednn();
inline bool onednn_available() { return onednn() != nullptr; }

}  // namespace tapeflow
