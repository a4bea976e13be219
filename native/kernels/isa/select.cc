// Choosing between tensors by a condition, and clipping.
#include <algorithm>

#include "../broadcast.h"
#include "../../op.h"
#include "../../owned_tensor.h"
#include "elementwise_rows.h"
#include "vector_math.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Elements are only moved: U is an unsigned integer of their size.
template <typename U, int Repeated>
void select_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const uint8_t* __restrict c = static_cast<const uint8_t*>(in[0]);
  const U* __restrict t = static_cast<const U*>(in[1]);
  const U* __restrict e = static_cast<const U*>(in[2]);
  U* __restrict out_ = static_cast<U*>(out);
  constexpr bool all_c = Repeated & 1, all_t = Repeated & 2, all_e = Repeated & 4;
  for (int64_t i = 0; i < n; ++i) {
    const U yes = t[all_t ? 0 : i], no = e[all_e ? 0 : i];
    out_[i] = c[all_c ? 0 : i] ? yes : no;
  }
}

struct Pair { uint64_t low, high; };

template <typename U>
constexpr Row kSelectRows[8] = {select_row<U, 0>, select_row<U, 1>, select_row<U, 2>,
                                select_row<U, 3>, select_row<U, 4>, select_row<U, 5>,
                                select_row<U, 6>, select_row<U, 7>};

template <typename U> void select_into(KernelCall& c, Tensor* out) {
  map_ternary(c, out, cost<U>(kCheap), kSelectRows<U>);
}

template <typename U> void select_single(const void* const* in, void* out, int64_t, const Attr*) {
  const U yes = *static_cast<const U*>(in[1]), no = *static_cast<const U*>(in[2]);
  *static_cast<U*>(out) = *static_cast<const uint8_t*>(in[0]) ? yes : no;
}

template <typename U> void add_select_loops(DType d) {
  Loops loops{3, {DType::kBool, d, d}, d, {}, cost<U>(kCheap), nullptr, select_single<U>};
  std::copy(kSelectRows<U>, kSelectRows<U> + 8, loops.rows);
  register_loops("SelectV2", d, loops);
}

void select_elements(KernelCall& c, Tensor* out) {
  switch (item_size(out->dtype)) {
    case 1: return select_into<uint8_t>(c, out);
    case 2: return select_into<uint16_t>(c, out);
    case 4: return select_into<uint32_t>(c, out);
    case 8: return select_into<uint64_t>(c, out);
    default: return select_into<Pair>(c, out);
  }
}

TAPEFLOW_INPUTS(SelectInputs, condition, t, e);

bool select_v2(KernelCall& c, const SelectInputs& in) {
  Shape *condition = in.condition->shape, *t = in.t->shape, *e = in.e->shape;
  ShapeRef shape;
  if (t->same(e) && t->same(condition)) {
    shape = ShapeRef::share(t);
  } else {
    bool fits = broadcastable(t, e);
    if (fits) {
      shape = broadcast(t, e);
      fits = broadcastable(condition, shape.get());
    }
    if (!fits) {
      throw invalid("condition ", condition->str(), ", then ", t->str(), ", and else ", e->str(),
                    " must be broadcastable");
    }
    shape = broadcast(condition, shape.get());
  }
  select_elements(c, c.out[0] = new_tensor(in.t->dtype, shape.get()));
  return true;
}

// The first version: the condition has the operands' shape, or chooses whole operands, or rows.
bool select(KernelCall& c, const SelectInputs& inputs) {
  Tensor *condition = inputs.condition, *t = inputs.t, *e = inputs.e;
  if (condition->rank() == 0 || condition->shape->same(t->shape)) {
    if (!t->shape->same(e->shape)) {
      throw invalid("'then' and 'else' must have the same size.  but received: ", t->shape->str(),
                    " vs. ", e->shape->str());
    }
    if (condition->rank() == 0) {
      c.out[0] = view_tensor(*condition->as<bool>() ? t : e, t->shape);
    } else {
      select_elements(c, c.out[0] = new_tensor(t->dtype, t->shape));
    }
    return true;
  }
  if (condition->rank() != 1) {
    throw invalid("Inputs to operation ", *c.op->name, " of type ", *c.op->name,
                  " must have the same size and shape.  Input 0: ", condition->shape->str(),
                  " != input 1: ", t->shape->str());
  }
  if (t->rank() < 1)
    throw invalid("'then' must be at least a vector, but saw shape: ", t->shape->str());
  if (t->dim(0) != condition->size()) {
    throw invalid("Number of batches of 'then' must match size of 'cond', but saw: ", t->dim(0),
                  " vs. ", condition->size());
  }
  if (!t->shape->same(e->shape)) {
    throw invalid("'then' and 'else' must have the same size.  but received: ", t->shape->str(),
                  " vs. ", e->shape->str());
  }
  // Seen as a column, the condition broadcasts along the rows.
  int64_t dims[kMaxRank];
  dims[0] = condition->size();
  for (int i = 1; i < t->rank(); ++i) dims[i] = 1;
  const ShapeRef column(t->rank(), dims);
  const OwnedTensor view(view_tensor(condition, column.get()));
  Tensor* in[3] = {view.get(), t, e};
  KernelCall call{c.op, 3, in, c.attrs, 1, c.out};
  select_elements(call, c.out[0] = new_tensor(t->dtype, t->shape));
  return true;
}

// The lower bound wins where the bounds cross.
constexpr auto clip = [](auto x, auto low, auto high) { return at_least(at_most(x, high), low); };

template <typename T, int Repeated>
void clip_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const T* __restrict x = static_cast<const T*>(in[0]);
  const T* __restrict low = static_cast<const T*>(in[1]);
  const T* __restrict high = static_cast<const T*>(in[2]);
  T* __restrict y = static_cast<T*>(out);
  constexpr bool all_x = Repeated & 1, all_low = Repeated & 2, all_high = Repeated & 4;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = clip(x[all_x ? 0 : i], low[all_low ? 0 : i], high[all_high ? 0 : i]);
  }
}

TAPEFLOW_INPUTS(ClipInputs, t, clip_value_min, clip_value_max);

template <typename T> bool clip_by_value(KernelCall& c, const ClipInputs& in) {
  Tensor *x = in.t, *low = in.clip_value_min, *high = in.clip_value_max;
  const auto fits = [&](Tensor* bound) {
    return bound->rank() == 0 || bound->shape->same(x->shape);
  };
  if (!fits(low) || !fits(high)) {
    throw invalid(
        "clip_value_min and clip_value_max must be either of the same shape as input, or a "
        "scalar. input shape: ",
        x->shape->str(), "clip_value_min shape: ", low->shape->str(),
        "clip_value_max shape: ", high->shape->str());
  }
  static constexpr Row rows[8] = {clip_row<T, 0>, clip_row<T, 1>, clip_row<T, 2>, clip_row<T, 3>,
                                  clip_row<T, 4>, clip_row<T, 5>, clip_row<T, 6>, clip_row<T, 7>};
  map_ternary(c, c.out[0] = new_tensor(x->dtype, x->shape), cost<T>(kCheap), rows);
  return true;
}

}  // namespace

void register_select() {
  for (int d = 1; d < kDTypeCount; ++d) {
    const DType dtype = static_cast<DType>(d);
    if (item_size(dtype) == 0) continue;
    register_kernel("Select", {dtype}, named<select>);
    register_kernel("SelectV2", {dtype}, named<select_v2>);
  }
  for (DType d : {DType::kFloat32, DType::kInt32}) add_select_loops<uint32_t>(d);
  for (DType d : {DType::kFloat64, DType::kInt64}) add_select_loops<uint64_t>(d);
  register_kernel("ClipByValue", {DType::kFloat32}, named<clip_by_value<float>>);
  register_kernel("ClipByValue", {DType::kFloat64}, named<clip_by_value<double>>);
  register_kernel("ClipByValue", {DType::kInt32}, named<clip_by_value<int32_t>>);
  register_kernel("ClipByValue", {DType::kInt64}, named<clip_by_value<int64_t>>);
}

}  // namespace tapeflow::TAPEFLOW_ISA
