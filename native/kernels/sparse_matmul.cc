// A sparse matrix times a dense one, without the products of single elements in memory.
#include <cstring>
#include <memory>

#include "kernels/indexing.h"
#include "threads.h"

namespace tapeflow {
namespace {

TAPEFLOW_ATTRS(SparseMatMulAttrs, adjoint_a, adjoint_b);
TAPEFLOW_INPUTS(SparseMatMulInputs, a_indices, a_values, a_shape, b);

struct Sizes {
  int64_t rows, inner, columns, elements;
};

// y[row of element i] += value of i * b[column of i] for all elements in order, whatever the number of threads.
template <typename T, typename I>
void multiply(T* y, const I* at, const T* values, const T* b, const Sizes& n, bool adjoint) {
  const int row = adjoint ? 1 : 0, column = 1 - row;
  const bool wide = n.columns >= 64;  // threads split the columns; else the rows, each looking at all elements
  const double ns = static_cast<double>(n.elements) * (2 + 0.15 * static_cast<double>(n.columns));
  const int64_t parts = wide ? n.columns : n.rows;
  parallel_for(parts, ns / static_cast<double>(parts), [&](int64_t begin, int64_t end) {
    const int64_t first = wide ? begin : 0, width = wide ? end - begin : n.columns;
    for (int64_t i = 0; i < n.elements; ++i) {
      const auto r = static_cast<int64_t>(at[2 * i + row]);
      if (!wide && (r < begin || r >= end)) continue;
      T* __restrict to = y + r * n.columns + first;
      const T* __restrict from = b + static_cast<int64_t>(at[2 * i + column]) * n.columns + first;
      const T value = values[i];
      for (int64_t j = 0; j < width; ++j) to[j] += value * from[j];
    }
  });
}

template <typename T>
std::unique_ptr<T[]> transposed(const T* x, int64_t rows, int64_t columns) {
  auto out = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) out[j * rows + i] = x[i * columns + j];
  }
  return out;
}

template <typename T>
void run(KernelCall& c, const SparseMatMulInputs& in, const Sizes& n, bool adjoint_a, bool adjoint_b) {
  Tensor* out = c.out[0];
  ReleaseGil unlock(n.elements * (2 + n.columns / 8));
  std::memset(out->data, 0, static_cast<size_t>(out->bytes()));
  std::unique_ptr<T[]> turned;
  if (adjoint_b) turned = transposed(in.b->as<T>(), n.columns, n.inner);
  const T* b = adjoint_b ? turned.get() : in.b->as<T>();
  with_indices(in.a_indices, [&](const auto* at) { multiply(out->as<T>(), at, in.a_values->as<T>(), b, n, adjoint_a); });
}

// Whatever is wrong with the parts of the matrix, the Python kernel says.
template <typename I>
bool inside(const I* at, int64_t n, int64_t rows, int64_t columns) {
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) {
    const auto r = static_cast<int64_t>(at[2 * i]), c = static_cast<int64_t>(at[2 * i + 1]);
    bad |= r < 0 || r >= rows || c < 0 || c >= columns;
  }
  return !bad;
}

bool sparse_matmul(KernelCall& c, const SparseMatMulAttrs& attrs, const SparseMatMulInputs& in) {
  const Tensor *indices = in.a_indices, *values = in.a_values, *shape = in.a_shape, *b = in.b;
  if (indices->rank() != 2 || indices->dim(1) != 2 || values->rank() != 1 || values->dim(0) != indices->dim(0) ||
      shape->rank() != 1 || shape->dim(0) != 2 || b->rank() != 2 || values->dtype != b->dtype) {
    return false;
  }
  const bool adjoint_a = attrs.adjoint_a.b(), adjoint_b = attrs.adjoint_b.b();
  const int64_t *sizes = shape->as<int64_t>(), elements = values->dim(0);
  if (sizes[0] < 0 || sizes[1] < 0) return false;
  if (!with_indices(indices, [&](const auto* at) { return inside(at, elements, sizes[0], sizes[1]); })) return false;
  const Sizes n{sizes[adjoint_a ? 1 : 0], sizes[adjoint_a ? 0 : 1], b->dim(adjoint_b ? 0 : 1), elements};
  if (n.inner != b->dim(adjoint_b ? 1 : 0)) return false;
  if (b->dtype != DType::kFloat32 && b->dtype != DType::kFloat64 && b->dtype != DType::kInt32) return false;
  const int64_t dims[] = {n.rows, n.columns};
  c.out[0] = new_tensor(b->dtype, 2, dims);
  if (c.out[0]->size() == 0) return true;
  switch (b->dtype) {
    case DType::kFloat32: run<float>(c, in, n, adjoint_a, adjoint_b); break;
    case DType::kFloat64: run<double>(c, in, n, adjoint_a, adjoint_b); break;
    default: run<uint32_t>(c, in, n, adjoint_a, adjoint_b);  // wraps around
  }
  return true;
}

}  // namespace

void register_sparse_matmul() {
  register_kernel("SparseTensorDenseMatMul", {DType::kInt32, DType::kInt64}, named<sparse_matmul>);
}

}  // namespace tapeflow
