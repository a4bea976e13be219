// What the files of the plugin share.
#pragma once
#include <oneapi/dnnl/dnnl.hpp>

#include "onednn.h"

namespace tapeflow::plugin {

const dnnl::engine& engine();
extern WithScratch with_scratch;

// oneDNN sizes its primitives for as many threads as OpenMP would start for the calling thread.
void use_threads(int threads);

bool convolve(int threads, const Convolution& convolution, const float* first, const float* second,
              float* result);

}  // namespace tapeflow::plugin
