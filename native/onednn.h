// The door to oneDNN. It lives in a plugin beside the core, opened on first need, so that importing
// the package does not pay for it; where the plugin was not built the kernels of the core and of
// the rows serve.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tapeflow {

// A convolution of float32 over 2 or 3 axes with windows, (depth,) height, width: activations with the channels last
// or first, filter [(depth,) height, width, in_depth / groups, out_depth]. Only 64-bit members: the plugin compares
// them as bytes.
struct Convolution {
  enum Pass : int64_t { kForward, kBackwardInput, kBackwardFilter };
  int64_t pass, channels_first, groups, windows;
  int64_t batch, in_depth, out_depth;
  int64_t in[3], out[3], filter[3], stride[3], dilation[3];
  int64_t pad_before[3], pad_after[3];
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
