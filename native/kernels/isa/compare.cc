// Comparisons and logic: results are bool.
#include "../broadcast.h"
#include "elementwise_rows.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

TAPEFLOW_ATTRS(EqualityAttrs, incompatible_shape_error);

// Shapes that do not broadcast are unequal as a whole, unless the op insists: left to the row.
template <auto F, typename T> bool equality(KernelCall& c, const EqualityAttrs& attrs) {
  if (!attrs.incompatible_shape_error.b() && !broadcastable(c.in[0]->shape, c.in[1]->shape)) return false;
  return binary_kernel<F, kCheap, T>(c);
}

template <auto F, typename... T> void add_equality(const char* op) {
  (register_kernel(op, {DTypeOf<T>::value}, named<equality<F, T>>), ...);
  (add_binary_loops<F, kCheap, T>(op), ...);
}

template <auto F> void add_ordering(const char* op) {
  add_binary<F, kCheap, float, double, int32_t, int64_t, uint8_t>(op);
}

// Without a type variable.
template <auto F> void add_logical(const char* op) {
  register_kernel(op, {DType::kInvalid}, binary_kernel<F, kCheap, bool>);
  add_binary_loops<F, kCheap, bool>(op);
}

}  // namespace

void register_compare() {
  add_ordering<[](auto x, auto y) { return x < y; }>("Less");
  add_ordering<[](auto x, auto y) { return x <= y; }>("LessEqual");
  add_ordering<[](auto x, auto y) { return y < x; }>("Greater");
  add_ordering<[](auto x, auto y) { return y <= x; }>("GreaterEqual");
  add_equality<[](auto x, auto y) { return x == y; }, float, double, int32_t, int64_t, uint8_t,
               bool>("Equal");
  add_equality<[](auto x, auto y) { return x != y; }, float, double, int32_t, int64_t, uint8_t,
               bool>("NotEqual");
  add_logical<[](bool x, bool y) { return static_cast<bool>(x & y); }>("LogicalAnd");
  add_logical<[](bool x, bool y) { return static_cast<bool>(x | y); }>("LogicalOr");
}

}  // namespace tapeflow::TAPEFLOW_ISA
