// Kernels whose answer is which elements: Where, TopKV2, InvertPermutation.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "kernels/indexing.h"
#include "kernels/layout.h"
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

// Larger first, and of equals the one that comes first; NaN is larger than all.
template <typename T>
struct Larger {
  const T* x;
  bool operator()(int32_t a, int32_t b) const {
    const T p = x[a], q = x[b];
    if constexpr (std::is_floating_point_v<T>) {
      const bool p_nan = p != p, q_nan = q != q;
      if (p_nan || q_nan) return p_nan == q_nan ? a < b : p_nan;
    }
    return p > q || (p == q && a < b);
  }
};

template <typename T>
void top_of_row(const T* x, int64_t n, int64_t k, T* values, int32_t* indices, int32_t* scratch) {
  const Larger<T> larger{x};
  if (k == 0) return;
  if (k == 1) {
    int32_t best = 0;
    for (int64_t i = 1; i < n; ++i) if (larger(static_cast<int32_t>(i), best)) best = static_cast<int32_t>(i);
    indices[0] = best;
  } else if (k * 8 < n) {  // a heap of the best so far, the least of them on top
    std::iota(indices, indices + k, 0);
    std::make_heap(indices, indices + k, larger);
    for (int32_t i = static_cast<int32_t>(k); i < n; ++i) {
      if (!larger(i, indices[0])) continue;
      std::pop_heap(indices, indices + k, larger);
      indices[k - 1] = i;
      std::push_heap(indices, indices + k, larger);
    }
    std::sort_heap(indices, indices + k, larger);
  } else {
    std::iota(scratch, scratch + n, 0);
    std::sort(scratch, scratch + n, larger);
    std::copy(scratch, scratch + k, indices);
  }
  for (int64_t i = 0; i < k; ++i) values[i] = x[indices[i]];
}

template <typename T>
bool top_k(KernelCall& c) {
  const Tensor *x = c.in[0], *k_t = c.in[1];
  if (!is_index_dtype(k_t->dtype) || c.attrs[1].type() != DType::kInt32) return false;
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
  const double row_ns = static_cast<double>(n) * (k == 1 ? 1 : 8);
  const T* from = x->as<T>();
  T* v = values->as<T>();
  int32_t* at = indices->as<int32_t>();
  Scratch scratch(k == 1 ? 1 : sizeof(int32_t) * static_cast<size_t>(n) * intra_op_threads());
  int32_t* s = scratch.as<int32_t>();
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(rows) * row_ns));
  parallel_for(rows, row_ns, [=](int64_t begin, int64_t end) {
    int32_t* mine = s;
#ifdef _OPENMP
    if (k > 1) mine += omp_get_thread_num() * n;
#endif
    for (int64_t i = begin; i < end; ++i) top_of_row(from + i * n, n, k, v + i * k, at + i * k, mine);
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
  register_kernel("TopKV2", {DType::kFloat32}, top_k<float>);
  register_kernel("TopKV2", {DType::kFloat64}, top_k<double>);
  register_kernel("TopKV2", {DType::kInt32}, top_k<int32_t>);
  register_kernel("TopKV2", {DType::kInt64}, top_k<int64_t>);
}

}  // namespace tapeflow
