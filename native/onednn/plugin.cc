// The plugin's entry, and matrix multiplication.
#include "plugin.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace tapeflow::plugin {

WithScratch with_scratch;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

void use_threads([[maybe_unused]] int threads) {
#ifdef _OPENMP
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
#endif
}

namespace {

bool sgemm(int threads, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
           const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc) {
  use_threads(threads);
  return dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb,
                    0.0f, c, ldc) == dnnl_success;
}

constexpr OneDnn kFunctions{sgemm, convolve};

}  // namespace
}  // namespace tapeflow::plugin

extern "C" __attribute__((visibility("default"))) const tapeflow::OneDnn* tapeflow_open_onednn(
    tapeflow::WithScratch with_scratch) {
  tapeflow::plugin::with_scratch = with_scratch;
  try {
    tapeflow::plugin::engine();
    return &tapeflow::plugin::kFunctions;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}
