// Unique and UniqueWithCounts of integers and strings, by a table of places: the elements in the order in which they
// first come.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/indexing.h"
#include "kernels/place_table.h"
#include "kernels/text_hash.h"
#include "kernels/texts.h"
#include "threads.h"

namespace tapeflow {
namespace {

TAPEFLOW_ATTRS(UniqueAttrs, out_idx);

bool holds_places(DType index, int64_t n) {
  return index == DType::kInt64 || (index == DType::kInt32 && n <= INT32_MAX);
}

// Adds element(i) for all i in [0, n) and fills `where` with their places.
template <typename Key, typename Index, typename F>
void add_all(PlaceTable<Key>* table, Index* where, int64_t n, F&& element) {
  for (int64_t i = 0; i < n; ++i) where[i] = static_cast<Index>(table->add(element(i)));
}

template <typename Key, typename F>
void add_all(PlaceTable<Key>* table, Tensor* where, F&& element) {
  if (where->dtype == DType::kInt64) add_all(table, where->as<int64_t>(), where->size(), element);
  else add_all(table, where->as<int32_t>(), where->size(), element);
}

// How often each place comes, where the row has a third output.
void count_places(KernelCall& c, const Tensor* where, int64_t found) {
  if (c.n_out < 3) return;
  Tensor* counts = c.out[2] = new_tensor(where->dtype, 1, &found);
  std::memset(counts->data, 0, static_cast<size_t>(counts->bytes()));
  with_indices(where, [&]<typename Index>(const Index* places) {
    auto* count = counts->as<Index>();
    for (int64_t i = 0; i < where->size(); ++i) ++count[places[i]];
  });
}

template <typename T>
bool unique(KernelCall& c, const UniqueAttrs& attrs) {
  const Tensor* x = c.in[0];
  if (x->rank() != 1) throw invalid("unique expects a 1D vector.");
  if (!holds_places(attrs.out_idx.type(), x->size())) return false;
  PlaceTable<T> table;
  Tensor* where = c.out[1] = new_tensor(attrs.out_idx.type(), x->shape);
  {
    ReleaseGil unlock(x->size() * 10);
    add_all(&table, where, [from = x->as<T>()](int64_t i) { return from[i]; });
  }
  const auto found = static_cast<int64_t>(table.keys().size());
  Tensor* y = c.out[0] = new_tensor(x->dtype, 1, &found);
  std::copy(table.keys().begin(), table.keys().end(), y->as<T>());
  count_places(c, where, found);
  return true;
}

bool unique_texts(KernelCall& c, const UniqueAttrs& attrs) {
  const Texts x(c.in[0]);
  if (!x || c.in[0]->rank() != 1 || !holds_places(attrs.out_idx.type(), x.size())) return false;
  PlaceTable<TextKey> table;
  OwnedTensor where(new_tensor(attrs.out_idx.type(), c.in[0]->shape));
  add_all(&table, where.get(), [&](int64_t i) { return TextKey(x.object(i)); });
  NewTexts y(static_cast<int64_t>(table.keys().size()));
  int64_t place = 0;
  for (const TextKey& key : table.keys()) y.share(place++, key.bytes);
  c.out[0] = y.finish();
  count_places(c, where.get(), place);
  c.out[1] = where.leak();
  return true;
}

}  // namespace

void register_unique() {
  for (const char* op : {"Unique", "UniqueWithCounts"}) {
    register_kernel(op, {DType::kInt32}, named<unique<int32_t>>);
    register_kernel(op, {DType::kInt64}, named<unique<int64_t>>);
    register_kernel(op, {DType::kString}, named<unique_texts>);
  }
}

}  // namespace tapeflow
