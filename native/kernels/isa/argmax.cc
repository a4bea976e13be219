// Where along an axis the largest or smallest element is: the first of equals, passing over NaNs.
#include <limits>

#include "../../kernel.h"
#include "../../threads.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename T> struct Largest {
  using Limits = std::numeric_limits<T>;
  static T worst() { return Limits::has_infinity ? -Limits::infinity() : Limits::lowest(); }
  static bool better(T a, T b) { return b < a; }
};
template <typename T> struct Smallest {
  using Limits = std::numeric_limits<T>;
  static T worst() { return Limits::has_infinity ? Limits::infinity() : Limits::max(); }
  static bool better(T a, T b) { return a < b; }
};

// First the best value, in lanes; then where it is. Nothing is better than all NaN: index 0.
template <class F, typename T> int64_t best_of_row(const T* x, int64_t n) {
  constexpr int64_t kLanes = 128 / sizeof(T);
  T best = F::worst();
  int64_t i = 0;
  if (n >= kLanes) {
    T lanes[kLanes];
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = F::worst();
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) {
        lanes[j] = F::better(x[i + j], lanes[j]) ? x[i + j] : lanes[j];
      }
    }
    for (int64_t j = 0; j < kLanes; ++j) best = F::better(lanes[j], best) ? lanes[j] : best;
  }
  for (; i < n; ++i) best = F::better(x[i], best) ? x[i] : best;
  if (best == F::worst()) return 0;
  i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    int32_t found = 0;
    for (int64_t j = 0; j < kLanes; ++j) found |= x[i + j] == best;
    if (found) break;
  }
  while (i < n && x[i] != best) ++i;
  return i;
}

// Several rows side by side: a column each.
template <class F, typename T, typename Index>
void best_of_columns(const T* x, int64_t rows, int64_t stride, int64_t width, Index* out) {
  constexpr int64_t kTile = 512;
  T best[kTile];
  for (int64_t c = 0; c < width; c += kTile) {
    const int64_t n = width - c < kTile ? width - c : kTile;
    Index* __restrict at = out + c;
    for (int64_t j = 0; j < n; ++j) {
      best[j] = F::worst();
      at[j] = 0;
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T* __restrict row = x + r * stride + c;
      for (int64_t j = 0; j < n; ++j) {
        const bool better = F::better(row[j], best[j]);
        best[j] = better ? row[j] : best[j];
        at[j] = better ? static_cast<Index>(r) : at[j];
      }
    }
  }
}

template <class F, typename T, typename Index>
void search(const T* x, int64_t outer, int64_t length, int64_t inner, Index* out) {
  const double ns = 0.5 * static_cast<double>(length);
  ReleaseGil gil(static_cast<int64_t>(ns * static_cast<double>(outer * inner)));
  parallel_for(outer, ns * static_cast<double>(inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const T* block = x + o * length * inner;
      if (inner == 1) out[o] = static_cast<Index>(best_of_row<F>(block, length));
      else best_of_columns<F>(block, length, inner, inner, out + o * inner);
    }
  });
}

TAPEFLOW_ATTRS(ArgAttrs, output_type);

template <template <typename> class F, typename T>
bool arg_best(KernelCall& c, const ArgAttrs& attrs) {
  Tensor* x = c.in[0];
  const Tensor* axis_tensor = c.in[1];
  const DType index = attrs.output_type.type();
  if (index != DType::kInt32 && index != DType::kInt64) return false;
  if (axis_tensor->dtype != DType::kInt32 && axis_tensor->dtype != DType::kInt64) return false;
  if (axis_tensor->rank() != 0) {
    throw invalid("dim must be a scalar, but received tensor of shape: ",
                  axis_tensor->shape->str());
  }
  const int64_t given = scalar_int(axis_tensor, "dimension");
  const int rank = x->rank();
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    throw invalid("Expected dimension in the range [", -rank, ", ", rank, "), but got ", given);
  }
  const int64_t length = x->dim(static_cast<int>(axis));
  if (length == 0) {
    throw invalid("Reduction axis ", given, " is empty in shape ", x->shape->str());
  }
  int64_t dims[kMaxRank] = {}, outer = 1, inner = 1;
  for (int i = 0, n = 0; i < rank; ++i) {
    if (i == axis) continue;
    dims[n++] = x->dim(i);
    (i < axis ? outer : inner) *= x->dim(i);
  }
  Tensor* out = c.out[0] = new_tensor(index, rank - 1, dims);
  if (index == DType::kInt32) search<F<T>>(x->as<T>(), outer, length, inner, out->as<int32_t>());
  else search<F<T>>(x->as<T>(), outer, length, inner, out->as<int64_t>());
  return true;
}

template <template <typename> class F> void add_search(const char* op) {
  register_kernel(op, {DType::kFloat32}, named<arg_best<F, float>>);
  register_kernel(op, {DType::kFloat64}, named<arg_best<F, double>>);
  register_kernel(op, {DType::kInt32}, named<arg_best<F, int32_t>>);
  register_kernel(op, {DType::kInt64}, named<arg_best<F, int64_t>>);
  register_kernel(op, {DType::kUInt8, DType::kBool}, named<arg_best<F, uint8_t>>);
}

}  // namespace

void register_argmax() {
  add_search<Largest>("ArgMax");
  add_search<Smallest>("ArgMin");
}

}  // namespace tapeflow::TAPEFLOW_ISA
