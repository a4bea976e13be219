// How operands of different shapes are walked together: the dimensions of the result, with those
// that behave alike for all operands merged into one.
#pragma once
#include "shape.h"

namespace tapeflow {

constexpr int kMaxOperands = 3;

struct BroadcastPlan {
  int operands;
  int rank;                                  // at least 1
  int64_t total;                             // elements of the result
  int64_t dims[kMaxRank];                    // outermost first
  int64_t strides[kMaxOperands][kMaxRank];   // in elements; 0 where the operand is repeated

  // Each operand's shape broadcasts to `result`.
  BroadcastPlan(const Shape* result, const Shape* const* shapes, int operands);

  int64_t inner() const { return dims[rank - 1]; }
  bool contiguous(int operand) const;        // never repeated
  bool periodic(int operand) const;          // repeated along all but the innermost dimension
};

// Steps through the outer dimensions of a plan, keeping each operand's offset in elements.
class BroadcastCursor {
 public:
  BroadcastCursor(const BroadcastPlan& plan, int64_t outer);
  int64_t offset(int operand) const { return offset_[operand]; }
  void next();

 private:
  const BroadcastPlan& plan_;
  int64_t offset_[kMaxOperands];
  int64_t index_[kMaxRank];
};

bool broadcastable(const Shape* x, const Shape* y);

}  // namespace tapeflow
