// Kernels whose answer is which elements: Where, TopKV2, InvertPermutation.
#include <algorithm>
#include <cstring>

#include "kernels/indexing.h"
#include "kernels/layout.h"
#include "kernels/row_order.h"
#include "threads.h"

namespace tapeflow {
namespace {

template <typename T>
bool where(KernelCall& c) {
  const Tensor* x = c.in[0];
  const T* v = x->as<T>();
  const int rank = x->rank();
  if (rank == 0) throw invalid("WhereOp : Unhandled input dimensions: 0");
  const int64_t size = x->size();
  int64_t dims[2] = {0, rank};
  {
    ReleaseGil unlock(size);
    int64_t count = 0;
    for (int64_t i = 0; i < size; ++i) count += v[i] != T{0};
    dims[0] = count;
  }
  Tensor* out = c.out[0] = new_tensor(DType::kInt64, 2, dims);
  if (dims[0] == 0) return true;
  ReleaseGil unlock(size * 2);
  int64_t* y = out->as<int64_t>();
  if (rank == 1) {
    for (int64_t i = 0; i < size; ++i) if (v[i] != T{0}) *y++ = i;
    return true;
  }
  const int64_t columns = x->dim(rank - 1);
  int64_t index[kMaxRank] = {};
  for (int64_t row = 0; row < size; row += columns) {
    for (int64_t j = 0; j < columns; ++j) {
      if (v[row + j] == T{0}) continue;
      std::memcpy(y, index, (rank - 1) * sizeof(int64_t));
      y[rank - 1] = j;
      y += rank;
    }
    for (int k = rank - 2; k >= 0 && ++index[k] == x->dim(k); --k) index[k] = 0;
  }
  return true;
}

template <typename T>
bool invert_permutation(KernelCall& c) {
  const Tensor* x = c.in[0];
  if (x->rank() != 1) throw invalid("invert_permutation expects a 1D vector.");
  const int64_t n = x->size();
  if (n > INT32_MAX) throw invalid("permutation of nonnegative int32s must have <= int32 max elements");
  Tensor* out = c.out[0] = new_tensor(x->dtype, x->shape);
  T* y = out->as<T>();
  std::fill_n(y, n, T{-1});
  for (int64_t i = 0; i < n; ++i) {
    const T d = x->as<T>()[i];
    if (d < 0 || d >= n) throw invalid(d, " is not between 0 and ", n);
    if (y[d] != -1) throw invalid(d, " is duplicated in the input.");
    y[d] = static_cast<T>(i);
  }
  return true;
}

// The heap of the k largest takes this many times fewer steps than a sort of the row.
constexpr int64_t kHeapShare = 8;

template <typename T>
void top_of_row(const T* x, int64_t n, int64_t k, T* values, int32_t* indices, int32_t* order, Ranked<T>* scratch) {
  if (k * kHeapShare < n) {
    largest_of_row(x, n, k, indices);
  } else if (k == n) {
    order_row(x, n, indices, scratch);
  } else {
    order_row(x, n, order, scratch);
    std::copy(order, order + k, indices);
  }
  for (int64_t i = 0; i < k; ++i) values[i] = x[indices[i]];
}

TAPEFLOW_ATTRS(TopKAttrs, sorted, index_type);

template <typename T>
bool top_k(KernelCall& c, const TopKAttrs& attrs) {
  const Tensor *x = c.in[0], *k_t = c.in[1];
  if (!is_index_dtype(k_t->dtype) || attrs.index_type.type() != DType::kInt32) return false;
  if (k_t->rank() != 0) throw invalid("k must be scalar, got shape ", k_t->shape->str());
  const int64_t k = single_int(k_t);
  const int rank = x->rank();
  if (k < 0) throw invalid("Need k >= 0, got ", k);
  if (rank < 1) throw invalid("input must be >= 1-D, got shape ", x->shape->str());
  const int64_t n = x->dim(rank - 1);
  if (n < k) throw invalid("input must have at least k columns. Had ", n, ", needed ", k);
  if (n > INT32_MAX) throw invalid("input has more columns than an int32 index can name: ", n);
  int64_t dims[kMaxRank];
  std::copy(x->shape->dims, x->shape->dims + rank, dims);
  dims[rank - 1] = k;
  ShapeRef shape(rank, dims);
  Tensor* values = c.out[0] = new_tensor(x->dtype, shape.get());
  Tensor* indices = c.out[1] = new_tensor(DType::kInt32, shape.get());
  if (shape->size == 0) return true;
  const int64_t rows = shape->size / k;
  const bool heap = k * kHeapShare < n;
  const double row_ns = static_cast<double>(n) * (heap ? 0.5 : 6) + static_cast<double>(k) * 8;
  const T* from = x->as<T>();
  T* v = values->as<T>();
  int32_t* at = indices->as<int32_t>();
  const auto threads = static_cast<size_t>(intra_op_threads()), columns = heap ? 0 : static_cast<size_t>(n);
  Scratch ranked(threads * columns * 2 * sizeof(Ranked<T>)), order(threads * columns * sizeof(int32_t));
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(rows) * row_ns));
  parallel_for(rows, row_ns, [&](int64_t begin, int64_t end) {
    int64_t mine = 0;
#ifdef _OPENMP
    mine = omp_get_thread_num() * static_cast<int64_t>(columns);
#endif
    for (int64_t i = begin; i < end; ++i) {
      top_of_row(from + i * n, n, k, v + i * k, at + i * k, order.as<int32_t>() + mine, ranked.as<Ranked<T>>() + 2 * mine);
    }
  });
  return true;
}

}  // namespace

void register_selection() {
  register_kernel("Where", {DType::kBool}, where<uint8_t>);
  register_kernel("Where", {DType::kInt32}, where<int32_t>);
  register_kernel("Where", {DType::kInt64}, where<int64_t>);
  register_kernel("Where", {DType::kFloat32}, where<float>);
  register_kernel("Where", {DType::kFloat64}, where<double>);
  register_kernel("InvertPermutation", {DType::kInt32}, invert_permutation<int32_t>);
  register_kernel("InvertPermutation", {DType::kInt64}, invert_permutation<int64_t>);
  register_kernel("TopKV2", {DType::kFloat32}, named<top_k<float>>);
  register_kernel("TopKV2", {DType::kFloat64}, named<top_k<double>>);
  register_kernel("TopKV2", {DType::kInt32}, named<top_k<int32_t>>);
  register_kernel("TopKV2", {DType::kInt64}, named<top_k<int64_t>>);
}

}  // namespace tapeflow
