// DynamicPartition, which deals rows out, and InTopK, which looks where one element of each row stands.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/indexing.h"
#include "kernels/strided.h"
#include "threads.h"

namespace tapeflow {
namespace {

TAPEFLOW_ATTRS(PartitionAttrs, num_partitions);
TAPEFLOW_INPUTS(PartitionInputs, data, partitions);

bool dynamic_partition(KernelCall& c, const PartitionInputs& in, const PartitionAttrs& attrs) {
  const Tensor *data = in.data, *partitions = in.partitions;
  const int64_t parts = attrs.num_partitions.i, n = partitions->size();
  const int rank = data->rank(), lead = partitions->rank();
  bool fits = lead <= rank && parts == c.n_out && parts > 0;
  for (int i = 0; fits && i < lead; ++i) fits = partitions->dim(i) == data->dim(i);
  const auto* part = partitions->as<int32_t>();
  if (!fits || first_outside(part, n, parts) >= 0) return false;  // the Python kernel says what is wrong
  std::vector<int64_t> counts(static_cast<size_t>(parts), 0);
  for (int64_t i = 0; i < n; ++i) ++counts[static_cast<size_t>(part[i])];
  int64_t dims[kMaxRank + 1], row_bytes = item_size(data->dtype);
  for (int i = lead; i < rank; ++i) row_bytes *= dims[1 + i - lead] = data->dim(i);
  std::vector<char*> to(static_cast<size_t>(parts));
  for (int64_t p = 0; p < parts; ++p) {
    dims[0] = counts[static_cast<size_t>(p)];
    Tensor* out = c.out[p] = new_tensor(data->dtype, 1 + rank - lead, dims);
    to[static_cast<size_t>(p)] = out->data;
  }
  if (row_bytes == 0) return true;
  ReleaseGil unlock(n + data->bytes() / 8);
  const auto deal = [&](auto bytes) {
    const char* from = data->data;
    for (int64_t i = 0; i < n; ++i, from += bytes) {
      char*& place = to[static_cast<size_t>(part[i])];
      std::memcpy(place, from, static_cast<size_t>(bytes));
      place += bytes;
    }
  };
  if (row_bytes == 4) deal(std::integral_constant<int64_t, 4>{});
  else if (row_bytes == 8) deal(std::integral_constant<int64_t, 8>{});
  else deal(row_bytes);
  return true;
}

// Whether fewer than k of a row's elements are above that of the target, all of the row being finite.
template <typename I> bool among_first(const float* row, int64_t classes, I target, int64_t k) {
  if (target < 0 || static_cast<int64_t>(target) >= classes) return false;
  const float own = row[target];
  int32_t better = 0, finite = 1;
  for (int64_t j = 0; j < classes; ++j) {
    better += row[j] > own;
    finite &= std::abs(row[j]) <= std::numeric_limits<float>::max();
  }
  return finite && better < k;
}

bool fill_in_top_k(KernelCall& c, const Tensor* predictions, const Tensor* targets, int64_t k) {
  if (predictions->rank() != 2 || targets->rank() != 1 || predictions->dim(0) != targets->dim(0)) return false;
  const int64_t n = targets->size(), classes = predictions->dim(1);
  if (!is_index_dtype(targets->dtype) || classes > INT32_MAX) return false;
  Tensor* out = c.out[0] = new_tensor(DType::kBool, targets->shape);
  if (classes == 0) {
    std::memset(out->data, 0, static_cast<size_t>(n));
    return true;
  }
  ReleaseGil unlock(n * classes / 4);
  with_indices(targets, [&](const auto* target) {
    parallel_for(n, static_cast<double>(classes) / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out->as<bool>()[i] = among_first(predictions->as<float>() + i * classes, classes, target[i], k);
      }
    });
  });
  return true;
}

TAPEFLOW_ATTRS(TopKAttrs, k);
TAPEFLOW_INPUTS(InTopKInputs, predictions, targets);
TAPEFLOW_INPUTS(InTopKV2Inputs, predictions, targets, k);

bool in_top_k(KernelCall& c, const InTopKInputs& in, const TopKAttrs& attrs) {
  return fill_in_top_k(c, in.predictions, in.targets, attrs.k.i);
}

bool in_top_k_v2(KernelCall& c, const InTopKV2Inputs& in) {
  if (in.k->rank() != 0 || !is_index_dtype(in.k->dtype)) return false;
  return fill_in_top_k(c, in.predictions, in.targets, with_indices(in.k, [](const auto* v) { return int64_t{*v}; }));
}

}  // namespace

void register_partition() {
  register_kernel("DynamicPartition", kPlainDTypes, named<dynamic_partition>);
  // The key is the dtype of the targets.
  register_kernel("InTopK", {DType::kInt32, DType::kInt64}, named<in_top_k>);
  register_kernel("InTopKV2", {DType::kInt32, DType::kInt64}, named<in_top_k_v2>);
}

}  // namespace tapeflow
