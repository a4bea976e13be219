#include "registry.h"

#include <cstring>

namespace tapeflow {

#define TAPEFLOW_CALL(family) register_##family();

const char* register_all_kernels(const char* isa) {
  TAPEFLOW_PLAIN_FAMILIES(TAPEFLOW_CALL)
  const bool any = isa == nullptr || *isa == 0;
#ifdef TAPEFLOW_X86_ISAS
  __builtin_cpu_init();
  const bool has512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool has2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has512 && (any || !std::strcmp(isa, "avx512"))) {
    using namespace avx512;
    TAPEFLOW_ISA_FAMILIES(TAPEFLOW_CALL)
    return "avx512";
  }
  if (has2 && (any || !std::strcmp(isa, "avx2"))) {
    using namespace avx2;
    TAPEFLOW_ISA_FAMILIES(TAPEFLOW_CALL)
    return "avx2";
  }
#else
  (void)any;
#endif
  using namespace baseline;
  TAPEFLOW_ISA_FAMILIES(TAPEFLOW_CALL)
  return "baseline";
}

}  // namespace tapeflow
