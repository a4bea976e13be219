// Unique and UniqueWithCounts of integers, by a table of places: the elements in the order in which they first come.
#include <algorithm>
#include <vector>

#include "kernels/indexing.h"
#include "threads.h"

namespace tapeflow {
namespace {

// Neighbouring integers go far apart, and so do those that differ by a power of 2 (the finalizer of MurmurHash3).
uint64_t scattered(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}

// Fills order with the elements that come first, where[i] with the place of x[i] there; returns how many they are.
template <typename T, typename Index>
int64_t find_unique(const T* x, int64_t n, T* order, Index* where) {
  uint64_t slots = 16;
  while (slots < 2 * static_cast<uint64_t>(n)) slots *= 2;
  std::vector<int64_t> table(slots, -1);  // hash -> place in order
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t at = scattered(static_cast<uint64_t>(x[i])) & (slots - 1);
    while (table[at] >= 0 && order[table[at]] != x[i]) at = (at + 1) & (slots - 1);
    if (table[at] < 0) {
      order[found] = x[i];
      table[at] = found++;
    }
    where[i] = static_cast<Index>(table[at]);
  }
  return found;
}

TAPEFLOW_ATTRS(UniqueAttrs, out_idx);

template <typename Index>
void count_places(const Index* where, int64_t n, Tensor* counts) {
  auto* count = counts->as<Index>();
  std::fill_n(count, counts->size(), Index{0});
  for (int64_t i = 0; i < n; ++i) ++count[where[i]];
}

template <typename T, bool counted>
bool unique(KernelCall& c, const UniqueAttrs& attrs) {
  const Tensor* x = c.in[0];
  const DType index = attrs.out_idx.type();
  if (x->rank() != 1) throw invalid("unique expects a 1D vector.");
  const int64_t n = x->size();
  if (!is_index_dtype(index) || (index == DType::kInt32 && n > INT32_MAX)) return false;
  std::vector<T> order(static_cast<size_t>(n));
  Tensor* where = c.out[1] = new_tensor(index, x->shape);
  int64_t found;
  {
    ReleaseGil unlock(n * 10);
    found = index == DType::kInt64 ? find_unique(x->as<T>(), n, order.data(), where->as<int64_t>())
                                   : find_unique(x->as<T>(), n, order.data(), where->as<int32_t>());
  }
  Tensor* y = c.out[0] = new_tensor(x->dtype, 1, &found);
  std::copy_n(order.data(), found, y->as<T>());
  if constexpr (counted) {
    Tensor* counts = c.out[2] = new_tensor(index, 1, &found);
    with_indices(where, [&](const auto* places) { count_places(places, n, counts); });
  }
  return true;
}

}  // namespace

void register_unique() {
  register_kernel("Unique", {DType::kInt32}, named<unique<int32_t, false>>);
  register_kernel("Unique", {DType::kInt64}, named<unique<int64_t, false>>);
  register_kernel("UniqueWithCounts", {DType::kInt32}, named<unique<int32_t, true>>);
  register_kernel("UniqueWithCounts", {DType::kInt64}, named<unique<int64_t, true>>);
}

}  // namespace tapeflow
