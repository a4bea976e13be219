// The families of native kernels: one file each. To add a family, add its name here and its file beside this one.
#pragma once

namespace tapeflow {

#define TAPEFLOW_PLAIN_FAMILIES(X) X(layout) X(indexing) X(random) X(conv) X(resize) X(tensor_list) X(texts) \
  X(tridiagonal) X(incomplete_gamma) X(zeta)
// Compiled once per instruction set (files under isa/).
#define TAPEFLOW_ISA_FAMILIES(X) X(unary) X(activation) X(cast) X(half) X(binary) X(compare) X(select) \
  X(reduce) X(scan) X(argmax) X(matmul) X(einsum) X(nn) X(softmax) X(layer_norm) X(optimizer) X(optimizer_rows) X(pool) \
  X(batch_norm) X(convolution) X(fold) X(colors) \
  X(recurrent) X(triangular)

#define TAPEFLOW_DECLARE(family) void register_##family();
TAPEFLOW_PLAIN_FAMILIES(TAPEFLOW_DECLARE)
namespace baseline { TAPEFLOW_ISA_FAMILIES(TAPEFLOW_DECLARE) }
#ifdef TAPEFLOW_X86_ISAS
namespace avx2 { TAPEFLOW_ISA_FAMILIES(TAPEFLOW_DECLARE) }
namespace avx512 { TAPEFLOW_ISA_FAMILIES(TAPEFLOW_DECLARE) }
#endif
#undef TAPEFLOW_DECLARE

// Registers every family, those of the best instruction set that the processor has; `isa` forces one ("" for the best).
// Returns the name of the instruction set in use.
const char* register_all_kernels(const char* isa);

}  // namespace tapeflow
