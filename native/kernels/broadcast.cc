#include "broadcast.h"

namespace tapeflow {

BroadcastPlan::BroadcastPlan(const Shape* result, const Shape* const* shapes, int n)
    : operands(n), rank(0), total(result->size) {
  // From the innermost dimension outwards; reversed at the end.
  int64_t stride[kMaxOperands];
  bool repeated[kMaxOperands] = {};
  for (int k = 0; k < n; ++k) stride[k] = 1;
  for (int i = 0; i < result->rank; ++i) {
    const int64_t d = result->dims[result->rank - 1 - i];
    if (d == 1) continue;
    bool alike = rank > 0;
    bool repeats[kMaxOperands];
    for (int k = 0; k < n; ++k) {
      const Shape* s = shapes[k];
      repeats[k] = i >= s->rank || s->dims[s->rank - 1 - i] == 1;
      alike = alike && repeats[k] == repeated[k];
    }
    if (alike) {
      dims[rank - 1] *= d;
    } else {
      dims[rank] = d;
      for (int k = 0; k < n; ++k) {
        strides[k][rank] = repeats[k] ? 0 : stride[k];
        repeated[k] = repeats[k];
      }
      ++rank;
    }
    for (int k = 0; k < n; ++k) if (!repeats[k]) stride[k] *= d;
  }
  if (rank == 0) {
    dims[0] = 1;
    for (int k = 0; k < n; ++k) strides[k][0] = 1;
    rank = 1;
  }
  for (int i = 0, j = rank - 1; i < j; ++i, --j) {
    std::swap(dims[i], dims[j]);
    for (int k = 0; k < n; ++k) std::swap(strides[k][i], strides[k][j]);
  }
}

bool BroadcastPlan::contiguous(int operand) const {
  for (int i = 0; i < rank; ++i) if (strides[operand][i] == 0) return false;
  return true;
}

bool BroadcastPlan::periodic(int operand) const {
  for (int i = 0; i + 1 < rank; ++i) if (strides[operand][i] != 0) return false;
  return strides[operand][rank - 1] != 0;
}

BroadcastCursor::BroadcastCursor(const BroadcastPlan& plan, int64_t outer)
    : plan_(plan), offset_{} {
  for (int i = plan.rank - 2; i >= 0; --i) {
    index_[i] = outer % plan.dims[i];
    outer /= plan.dims[i];
    for (int k = 0; k < plan.operands; ++k) offset_[k] += index_[i] * plan.strides[k][i];
  }
}

void BroadcastCursor::next() {
  for (int i = plan_.rank - 2; i >= 0; --i) {
    const bool carry = ++index_[i] == plan_.dims[i];
    const int64_t steps = carry ? 1 - plan_.dims[i] : 1;
    for (int k = 0; k < plan_.operands; ++k) offset_[k] += steps * plan_.strides[k][i];
    if (!carry) return;
    index_[i] = 0;
  }
}

bool broadcastable(const Shape* x, const Shape* y) {
  for (int i = 1; i <= x->rank && i <= y->rank; ++i) {
    const int64_t a = x->dims[x->rank - i], b = y->dims[y->rank - i];
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

}  // namespace tapeflow
