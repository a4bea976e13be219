// SparseSegmentSum, Mean and SqrtN: segments of chosen rows, which are not copied first.
#include <algorithm>
#include <cmath>

#include "kernels/fold_rows.h"
#include "kernels/indexing.h"

namespace tapeflow {
namespace {

enum class Scale { kNone, kCount, kRoot };

TAPEFLOW_ATTRS(SparseSegmentAttrs, sparse_gradient);
TAPEFLOW_INPUTS(SparseSegmentInputs, data, indices, segment_ids);
TAPEFLOW_INPUTS(SizedSegmentInputs, data, indices, segment_ids, num_segments);

// The number of segments of these sorted ids, -1 where they are not sorted or negative.
template <typename I> int64_t segments_of(const I* id, int64_t n) {
  if (n == 0) return 0;
  bool sorted = id[0] >= 0;
  for (int64_t i = 1; i < n; ++i) sorted &= id[i - 1] <= id[i];
  const int64_t last = id[n - 1];
  return sorted && last < INT64_MAX ? last + 1 : -1;
}

// y[id] = the sum of the rows x[index[i]] of each run of an id.
template <Scale scale, typename T, typename I, typename J>
void sum_runs(T* y, const T* x, const I* index, const J* id, int64_t n, int64_t columns) {
  for (int64_t i = 0; i < n;) {
    T* row = y + id[i] * columns;
    const int64_t start = i;
    std::copy_n(x + index[i] * columns, columns, row);
    for (++i; i < n && id[i] == id[start]; ++i) fold_row<Fold::kSum>(row, x + index[i] * columns, columns);
    if constexpr (scale != Scale::kNone) {
      const auto count = static_cast<double>(i - start);
      const double weight = 1 / (scale == Scale::kRoot ? std::sqrt(count) : count);
      for (int64_t j = 0; j < columns; ++j) row[j] = static_cast<T>(static_cast<double>(row[j]) * weight);
    }
  }
}

// `sized` null: as many segments as the ids name. False: the Python kernel says what is wrong.
template <Scale scale, typename T>
bool sum_segments(KernelCall& c, const Tensor* data, const Tensor* indices, const Tensor* ids, const Tensor* sized) {
  const int64_t n = ids->size();
  if (!is_index_dtype(indices->dtype) || !is_index_dtype(ids->dtype) || (sized && !is_index_dtype(sized->dtype))) return false;
  if (data->rank() < 1 || indices->rank() != 1 || ids->rank() != 1 || indices->size() != n || (sized && sized->size() != 1))
    return false;
  if (with_indices(indices, [&](const auto* index) { return first_outside(index, n, data->dim(0)); }) >= 0) return false;
  const int64_t found = with_indices(ids, [&](const auto* id) { return segments_of(id, n); });
  const int64_t segments = sized ? with_indices(sized, [](const auto* v) { return int64_t{*v}; }) : found;
  if (found < 0 || segments < found) return false;
  int64_t dims[kMaxRank], bytes = segments;
  for (int i = 1; i < data->rank(); ++i) if (__builtin_mul_overflow(bytes, data->dim(i), &bytes)) return false;
  if (__builtin_mul_overflow(bytes, int64_t{sizeof(T)}, &bytes)) return false;
  std::copy_n(data->shape->dims, data->rank(), dims);
  dims[0] = segments;
  Tensor* out = c.out[0] = new_tensor(data->dtype, data->rank(), dims);
  if (out->size() == 0) return true;
  const int64_t columns = out->size() / segments;
  ReleaseGil unlock(n * columns / 2 + out->size() / 8);
  std::fill_n(out->as<T>(), out->size(), T{});
  with_indices(indices, [&](const auto* index) {
    with_indices(ids, [&](const auto* id) { sum_runs<scale>(out->as<T>(), data->as<T>(), index, id, n, columns); });
  });
  return true;
}

template <Scale scale, typename T> bool plain(KernelCall& c, const SparseSegmentInputs& in, const SparseSegmentAttrs&) {
  return sum_segments<scale, T>(c, in.data, in.indices, in.segment_ids, nullptr);
}

template <Scale scale, typename T> bool sized(KernelCall& c, const SizedSegmentInputs& in, const SparseSegmentAttrs&) {
  return sum_segments<scale, T>(c, in.data, in.indices, in.segment_ids, in.num_segments);
}

template <typename T> void register_for(DType d) {
  register_kernel("SparseSegmentSum", {d}, named<plain<Scale::kNone, T>>);
  register_kernel("SparseSegmentSumWithNumSegments", {d}, named<sized<Scale::kNone, T>>);
  register_kernel("SparseSegmentMean", {d}, named<plain<Scale::kCount, T>>);
  register_kernel("SparseSegmentMeanWithNumSegments", {d}, named<sized<Scale::kCount, T>>);
  register_kernel("SparseSegmentSqrtN", {d}, named<plain<Scale::kRoot, T>>);
  register_kernel("SparseSegmentSqrtNWithNumSegments", {d}, named<sized<Scale::kRoot, T>>);
}

}  // namespace

void register_sparse_segment() {
  register_for<float>(DType::kFloat32);
  register_for<double>(DType::kFloat64);
}

}  // namespace tapeflow
