#include "accumulate.h"

#include "threads.h"

namespace tapeflow {

namespace {

Row add_rows[kDTypeCount];
const Reducer* sums[kDTypeCount];

}  // namespace

void register_accumulate(DType dtype, Row add) { add_rows[static_cast<int>(dtype)] = add; }
void register_sum(DType dtype, const Reducer* r) { sums[static_cast<int>(dtype)] = r; }

bool add_in_place(Tensor* acc, const Tensor* x) {
  const Row add = add_rows[static_cast<int>(acc->dtype)];
  if (!add || acc->dtype != x->dtype || !acc->on_host() || !x->on_host() ||
      !acc->shape->same(x->shape)) {
    return false;
  }
  const int64_t n = acc->size(), item = item_size(acc->dtype);
  const double ns = 0.06 * static_cast<double>(item);
  ReleaseGil gil(static_cast<int64_t>(static_cast<double>(n) * ns));
  parallel_for(n, ns, [&](int64_t begin, int64_t end) {
    const void* in[1] = {x->data + begin * item};
    add(in, acc->data + begin * item, end - begin, nullptr);
  });
  return true;
}

Tensor* sum_to_shape(const Tensor* x, Shape* target) {
  const Reducer* sum = sums[static_cast<int>(x->dtype)];
  const int extra = x->rank() - target->rank;
  if (!sum || !x->on_host() || extra < 0) return nullptr;
  bool reduced[kMaxRank];
  for (int i = 0; i < x->rank(); ++i) {
    const int64_t d = i < extra ? 1 : target->dims[i - extra];
    reduced[i] = i < extra || (d == 1 && x->dim(i) != 1);
    if (!reduced[i] && d != x->dim(i)) return nullptr;
  }
  return reduce(x, reduced, target, *sum);
}

}  // namespace tapeflow
