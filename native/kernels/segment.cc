// Kernels that reduce the slices of data that have the same segment id.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/fold_rows.h"
#include "kernels/indexing.h"
#include "kernels/layout.h"
#include "kernels/strided.h"
#include "threads.h"

namespace tapeflow {
namespace {

// What a segment of nothing is, to begin with.
template <Fold fold, typename T>
T neutral() {
  if constexpr (fold == Fold::kSum) return T{};
  else if constexpr (fold == Fold::kProduct) return Folding<T>::narrow(1);
  else if constexpr (std::is_same_v<T, Half>) return Half{fold == Fold::kMax ? uint16_t{0xfbff} : uint16_t{0x7bff}};
  else if constexpr (std::is_same_v<T, BFloat16>) return BFloat16{fold == Fold::kMax ? uint16_t{0xff7f} : uint16_t{0x7f7f}};
  else return fold == Fold::kMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

// A total by a count; integers are rounded towards zero.
template <typename T>
T divided(T total, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    using W = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>(static_cast<W>(total) / static_cast<W>(count));
  } else {
    using F = Folding<T>;
    return F::narrow(F::wide(total) / F::wide(F::narrow(static_cast<decltype(F::wide(total))>(count))));
  }
}

// n > 0 numbers folded into one, in four parts that do not wait for each other.
template <Fold fold, typename T>
T folded_run(const T* x, int64_t n) {
  T part[4] = {x[0]};
  int64_t i = 1;
  if (n >= 8) {
    std::copy(x, x + 4, part);
    for (i = 4; i + 4 <= n; i += 4) {
      for (int k = 0; k < 4; ++k) part[k] = folded<fold>(part[k], x[i + k]);
    }
    for (int k = 1; k < 4; ++k) part[0] = folded<fold>(part[0], part[k]);
  }
  for (; i < n; ++i) part[0] = folded<fold>(part[0], x[i]);
  return part[0];
}

TAPEFLOW_INPUTS(UnsortedInputs, data, segment_ids, num_segments);

template <Fold fold, typename T>
bool unsorted_segment(KernelCall& c, const UnsortedInputs& in) {
  const Tensor *data = in.data, *ids = in.segment_ids, *count = in.num_segments;
  if (!is_index_dtype(ids->dtype)) return false;
  if (count->rank() != 0) throw invalid("num_segments should be a scalar, not shape ", count->shape->str());
  const int id_rank = ids->rank(), rank = data->rank();
  bool prefix = id_rank <= rank;
  for (int i = 0; prefix && i < id_rank; ++i) prefix = ids->dim(i) == data->dim(i);
  if (!prefix) {
    throw invalid("data.shape = ", data->shape->str(), " does not start with segment_ids.shape = ", ids->shape->str());
  }
  const int64_t segments = single_int(count);
  if (segments < 0) throw invalid("Input num_segments == ", segments, " must not be negative.");
  with_indices(ids, [&](const auto* id) {
    for (int64_t i = 0; i < ids->size(); ++i) {
      if (id[i] >= segments) {
        throw invalid("segment_ids", position(ids->shape, id_rank, i), " = ", id[i], " is out of range [0, ",
                      segments, ")");
      }
    }
  });
  int64_t dims[kMaxRank + 1], columns = 1;
  int n = 0;
  dims[n++] = segments;
  for (int i = id_rank; i < rank; ++i) columns *= dims[n++] = data->dim(i);
  ShapeRef shape(n, dims);
  Tensor* out = c.out[0] = new_tensor(data->dtype, shape.get());
  const T start = neutral<fold, T>();
  ReleaseGil unlock(data->size() + shape->size);
  fill_items(out->data, shape->size, &start, sizeof(T));
  if (data->size() == 0) return true;
  with_indices(ids, [&](const auto* id) {
    fold_rows<fold>(out->as<T>(), data->as<T>(), id, ids->size(), columns, segments);
  });
  return true;
}

template <Fold fold, typename T, bool mean = false>
bool sorted_segment(KernelCall& c) {
  const Tensor *data = c.in[0], *ids = c.in[1];
  if (data->rank() < 1) throw invalid("input must be at least rank 1");
  if (ids->rank() != 1) throw invalid("segment_ids should be a vector.");
  if (ids->size() != data->dim(0)) throw invalid("segment_ids should be the same size as dimension 0 of input.");
  int64_t segments = 0;
  with_indices(ids, [&](const auto* id) {
    const int64_t n = ids->size();
    if (n == 0) return;
    if (id[n - 1] < 0) throw invalid("segment ids must be >= 0");
    if (static_cast<int64_t>(id[n - 1]) == std::numeric_limits<int64_t>::max())
      throw invalid("segment id ", id[n - 1], " is too large");
    segments = static_cast<int64_t>(id[n - 1]) + 1;
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0 && id[i] < id[i - 1]) throw invalid("segment ids are not increasing");
      if (id[i] < 0) {
        throw invalid("Segment id ", id[i], " out of range [0, ", segments,
                      "), possibly because 'segment_ids' input is not sorted.");
      }
    }
  });
  int64_t dims[kMaxRank];
  std::copy(data->shape->dims, data->shape->dims + data->rank(), dims);
  dims[0] = segments;
  ShapeRef shape(data->rank(), dims);
  Tensor* out = c.out[0] = new_tensor(data->dtype, shape.get());
  if (shape->size == 0) return true;
  // Segments without rows: 0, and 1 for products.
  const T empty = fold == Fold::kProduct ? neutral<Fold::kProduct, T>() : T{};
  ReleaseGil unlock(data->size() + shape->size);
  fill_items(out->data, shape->size, &empty, sizeof(T));
  const int64_t columns = shape->size / segments;
  with_indices(ids, [&](const auto* id) {
    T *y = out->as<T>();
    const T* x = data->as<T>();
    for (int64_t i = 0, n = ids->size(); i < n;) {
      int64_t end = i + 1;
      while (end < n && id[end] == id[i]) ++end;
      T* row = y + id[i] * columns;
      if (columns == 1) {
        row[0] = folded_run<fold>(x + i, end - i);
      } else {
        std::copy(x + i * columns, x + (i + 1) * columns, row);
        for (int64_t k = i + 1; k < end; ++k) fold_row<fold>(row, x + k * columns, columns);
      }
      if constexpr (mean) {
        for (int64_t j = 0; j < columns; ++j) row[j] = divided(row[j], end - i);
      }
      i = end;
    }
  });
  return true;
}

template <typename T>
void register_for(DType d) {
  register_kernel("UnsortedSegmentSum", {d}, named<unsorted_segment<Fold::kSum, T>>);
  register_kernel("UnsortedSegmentMax", {d}, named<unsorted_segment<Fold::kMax, T>>);
  register_kernel("UnsortedSegmentMin", {d}, named<unsorted_segment<Fold::kMin, T>>);
  register_kernel("UnsortedSegmentProd", {d}, named<unsorted_segment<Fold::kProduct, T>>);
  register_kernel("SegmentSum", {d}, sorted_segment<Fold::kSum, T>);
  register_kernel("SegmentMax", {d}, sorted_segment<Fold::kMax, T>);
  register_kernel("SegmentMin", {d}, sorted_segment<Fold::kMin, T>);
  register_kernel("SegmentProd", {d}, sorted_segment<Fold::kProduct, T>);
  register_kernel("SegmentMean", {d}, sorted_segment<Fold::kSum, T, true>);
}

}  // namespace

void register_segment() {
  for (int d = 1; d < kDTypeCount; ++d) {
    with_real_type(static_cast<DType>(d), [&](auto t) { register_for<decltype(t)>(static_cast<DType>(d)); });
  }
}

}  // namespace tapeflow
