// The loops of elementwise ops and of reductions over contiguous elements, by name: what fused
// instructions run tile by tile. They are those that the ops' own kernels run.
#pragma once
#include <string>

#include "elementwise.h"

namespace tapeflow {

TAPEFLOW_ATTRS(CastAttrs, DstT, Truncate);

constexpr int kMaxLoopInputs = 3;

struct Loops {
  int n_in;
  DType in[kMaxLoopInputs];
  DType out;
  // rows[i] serves where just those inputs are one element whose bits are set in i; null where the
  // op wants its inputs of one shape. That of all bits is never asked for.
  Row rows[1 << kMaxLoopInputs];
  double ns;                    // rough cost of one element
};

// `key` is the dtype of the op's key type variable; for an op without any, of its first input.
void register_loops(const std::string& op, DType key, const Loops& loops);
const Loops* loops_of(const std::string& op, DType key);  // null: none

// Folds n > 0 elements into one number; exact in double but for the rounding of the sum itself.
using Fold = double (*)(const void* x, int64_t n);

void register_fold(const std::string& op, DType dtype, Fold fold);
Fold fold_of(const std::string& op, DType dtype);         // "Sum", "Max", "Min"; null: none

}  // namespace tapeflow
