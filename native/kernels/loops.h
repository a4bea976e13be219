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
  // Whether the loops must not see the second operand, as a divisor that is zero; null: they take any.
  bool (*refuses)(const void* second, int64_t n) = nullptr;
  Row single = nullptr;         // one element of each operand; null: rows[0] serves
};

// `key` is the dtype of the op's key type variable; for an op without any, of its first input.
void register_loops(const std::string& op, DType key, const Loops& loops);
const Loops* loops_of(const std::string& op, DType key);  // null: none

// Those of an op with these attrs and operands.
const Loops* loops_for(const OpDef* op, const Attr* attrs, const DType* operands, int n);

// Folds n > 0 elements into one number: floats into a double, exact but for the rounding of the sum itself, integers
// into an integer that wraps around.
union Folded {
  double real;
  int64_t integer;
};
using Fold = Folded (*)(const void* x, int64_t n);

void register_fold(const std::string& op, DType dtype, Fold fold);
Fold fold_of(const std::string& op, DType dtype);  // "Sum", "Max", "Min", of truth values "Count"; null: none

}  // namespace tapeflow
