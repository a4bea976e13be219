// Cumulative sums and products along one axis.
#include <type_traits>

#include "../../threads.h"
#include "../../kernel.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

struct Add {
  template <typename T> static T identity() { return 0; }
  template <typename T> static T join(T a, T b) { return a + b; }
};
struct Multiply {
  template <typename T> static T identity() { return 1; }
  template <typename T> static T join(T a, T b) { return a * b; }
};

// The element that the scan starts with, and the step to the next.
struct Line { int64_t length, start, step; };

template <class F, typename T> void scan_line(const T* x, T* y, Line l, bool exclusive) {
  T acc = F::template identity<T>();
  x += l.start;
  y += l.start;
  for (int64_t i = 0; i < l.length; ++i, x += l.step, y += l.step) {
    const T v = *x;
    if (exclusive) *y = acc;
    acc = F::join(acc, v);
    if (!exclusive) *y = acc;
  }
}

// Many lines side by side: row after row, each from the one before.
template <class F, typename T>
void scan_rows(const T* x, T* y, Line l, int64_t width, bool exclusive) {
  x += l.start;
  y += l.start;
  for (int64_t j = 0; j < width; ++j) y[j] = exclusive ? F::template identity<T>() : x[j];
  for (int64_t i = 1; i < l.length; ++i) {
    const T* __restrict from = exclusive ? x : x + l.step;
    const T* __restrict before = y;
    T* __restrict to = y + l.step;
    for (int64_t j = 0; j < width; ++j) to[j] = F::join(before[j], from[j]);
    x += l.step;
    y += l.step;
  }
}

TAPEFLOW_ATTRS(ScanAttrs, exclusive, reverse);

// T is unsigned for integers, which wrap around.
template <class F, typename T> bool scan(KernelCall& c, const ScanAttrs& attrs) {
  Tensor* x = c.in[0];
  const Tensor* axis_tensor = c.in[1];
  if (axis_tensor->rank() != 0) {
    throw invalid("ScanOp: axis must be a scalar, not ", axis_tensor->shape->str());
  }
  const int64_t given = scalar_int(axis_tensor, "axis");
  const int rank = x->rank();
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    throw invalid("ScanOp: Expected scan axis in the range [", -rank, ", ", rank, "), but got ",
                  given);
  }
  const bool exclusive = attrs.exclusive.b(), reverse = attrs.reverse.b();
  Tensor* out = c.out[0] = new_tensor(x->dtype, x->shape);
  if (x->size() == 0) return true;
  const int64_t length = x->dim(static_cast<int>(axis));
  int64_t inner = 1;
  for (int i = static_cast<int>(axis) + 1; i < rank; ++i) inner *= x->dim(i);
  const int64_t outer = x->size() / (length * inner);
  const Line line{length, reverse ? (length - 1) * inner : 0, reverse ? -inner : inner};
  const T* from = x->as<T>();
  T* to = out->as<T>();
  const double ns = inner >= 8 ? 0.5 : 1.5;
  ReleaseGil gil(static_cast<int64_t>(static_cast<double>(x->size()) * ns));
  if (inner < 8) {
    parallel_for(outer * inner, ns * static_cast<double>(length), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k / inner * length * inner + k % inner;
        scan_line<F>(from + first, to + first, line, exclusive);
      }
    });
    return true;
  }
  constexpr int64_t kWidth = 1024;
  const int64_t tiles = (inner + kWidth - 1) / kWidth;
  parallel_for(outer * tiles, ns * static_cast<double>(length * inner) / static_cast<double>(tiles),
               [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t column = k % tiles * kWidth, first = k / tiles * length * inner + column;
      scan_rows<F>(from + first, to + first, line,
                   inner - column < kWidth ? inner - column : kWidth, exclusive);
    }
  });
  return true;
}

template <class F> void add_scan(const char* op) {
  register_kernel(op, {DType::kFloat32}, named<scan<F, float>>);
  register_kernel(op, {DType::kFloat64}, named<scan<F, double>>);
  register_kernel(op, {DType::kInt32}, named<scan<F, uint32_t>>);
  register_kernel(op, {DType::kInt64}, named<scan<F, uint64_t>>);
}

}  // namespace

void register_scan() {
  add_scan<Add>("Cumsum");
  add_scan<Multiply>("Cumprod");
}

}  // namespace tapeflow::TAPEFLOW_ISA
