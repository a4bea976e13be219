// Kernels that cut a box out of a tensor: Slice, StridedSlice and its gradient.
#include <algorithm>

#include "kernels/layout.h"
#include "kernels/strided.h"
#include "kernels/strided_slice.h"

namespace tapeflow {

bool SliceSpec::empty() const {
  for (int i = 0; i < rank; ++i) if (count[i] == 0) return true;
  return false;
}

namespace {

enum : int { kNewAxis = -1, kShrunk = -2 };

// The indices as written, spread over the axes of the tensor: what an ellipsis stands for is filled in.
struct DenseSpec {
  int64_t begin[kMaxRank], end[kMaxRank], stride[kMaxRank];
  bool whole_begin[kMaxRank], whole_end[kMaxRank], shrink[kMaxRank];
  int n_out = 0;
  int out[2 * kMaxRank];  // for each axis of the result: the axis it comes from, kNewAxis or kShrunk
};

bool has_bit(int64_t mask, int i) { return i < 63 && (mask >> i & 1); }

void spread(int rank, const IntVector& begin, const IntVector& end, const IntVector& stride,
            const SliceMasks& masks, DenseSpec* d) {
  const int n = begin.n;
  int ellipsis = -1, new_after_ellipsis = 0;
  for (int i = 0; i < n; ++i) {
    if (has_bit(masks.ellipsis_mask.i, i)) {
      if (ellipsis >= 0) throw invalid("Multiple ellipses in slice spec not allowed");
      ellipsis = i;
    } else if (ellipsis >= 0 && has_bit(masks.new_axis_mask.i, i)) {
      ++new_after_ellipsis;
    }
  }
  int axis = 0;
  auto whole_axes_until = [&](int stop) {
    for (; axis < stop; ++axis) {
      d->begin[axis] = d->end[axis] = 0;
      d->stride[axis] = 1;
      d->whole_begin[axis] = d->whole_end[axis] = true;
      d->shrink[axis] = false;
      d->out[d->n_out++] = axis;
    }
  };
  for (int i = 0; i < n; ++i) {
    if (i == ellipsis) {
      const int after = n - i - 1 - new_after_ellipsis;
      whole_axes_until(std::min(rank, rank - after));
    } else if (has_bit(masks.new_axis_mask.i, i)) {
      d->out[d->n_out++] = kNewAxis;
    } else {
      if (axis >= rank) {
        if (rank == 0) throw invalid("Attempting to slice scalar input.");
        throw invalid("Index out of range using input dim ", axis, "; input has only ", rank, " dims");
      }
      d->begin[axis] = begin.v[i];
      d->end[axis] = end.v[i];
      d->stride[axis] = stride.v[i];
      d->whole_begin[axis] = has_bit(masks.begin_mask.i, i);
      d->whole_end[axis] = has_bit(masks.end_mask.i, i);
      d->shrink[axis] = has_bit(masks.shrink_axis_mask.i, i);
      d->out[d->n_out++] = d->shrink[axis] ? kShrunk : axis;
      ++axis;
    }
  }
  whole_axes_until(rank);
}

}  // namespace

void parse_slice(int rank, const int64_t* dims, const Tensor* begin, const Tensor* end,
                 const Tensor* strides, const SliceMasks& masks, SliceSpec* s) {
  if (begin->rank() != 1 || end->rank() != 1 || strides->rank() != 1 ||
      begin->size() != end->size() || begin->size() != strides->size()) {
    throw invalid("Expected begin, end, and strides to be 1D equal size tensors, but got shapes ",
                  begin->shape->str(), ", ", end->shape->str(), ", and ", strides->shape->str(), " instead.");
  }
  IntVector b, e, st;
  vector_ints(begin, "begin", &b);
  vector_ints(end, "end", &e);
  vector_ints(strides, "strides", &st);
  DenseSpec d;
  spread(rank, b, e, st, masks, &d);
  s->rank = rank;
  for (int i = 0; i < rank; ++i) {
    const int64_t n = dims[i], step = d.stride[i];
    if (step == 0) throw invalid("strides[", i, "] must be non-zero");
    if (d.shrink[i]) {
      if (step < 0) throw invalid("only stride 1 allowed on non-range indexing.");
      const int64_t at = d.begin[i] < 0 ? d.begin[i] + n : d.begin[i];
      if (at < 0 || at >= n) throw invalid("slice index ", at, " of dimension ", i, " out of bounds.");
      s->begin[i] = at;
      s->stride[i] = 1;
      s->count[i] = 1;
      continue;
    }
    const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
    auto clamp = [&](int64_t x) { return std::clamp(x < 0 ? x + n : x, lowest, highest); };
    const int64_t from = d.whole_begin[i] ? (step > 0 ? lowest : highest) : clamp(d.begin[i]);
    const int64_t to = d.whole_end[i] ? (step > 0 ? highest : lowest) : clamp(d.end[i]);
    const int64_t length = to - from;
    s->begin[i] = from;
    s->stride[i] = step;
    s->count[i] = length == 0 || (length < 0) != (step < 0) ? 0 : length / step + (length % step != 0);
  }
  s->out_rank = 0;
  for (int i = 0; i < d.n_out; ++i) {
    if (d.out[i] == kShrunk) continue;
    if (s->out_rank == kMaxRank) throw invalid("A tensor has at most ", kMaxRank, " dimensions.");
    s->out_axis[s->out_rank] = d.out[i];
    s->out[s->out_rank++] = d.out[i] == kNewAxis ? 1 : s->count[d.out[i]];
  }
}

int64_t slice_strides(const SliceSpec& s, const int64_t* dims, int64_t* steps) {
  int64_t first = 0, stride = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    first += s.begin[i] * stride;
    // An axis of one element may have any stride; this one cannot overflow.
    steps[i] = s.count[i] > 1 ? s.stride[i] * stride : 0;
    stride *= dims[i];
  }
  return first;
}

namespace {

// Whether a box of counts at unit strides is one run of memory.
bool one_run(int rank, const int64_t* dims, const int64_t* count) {
  int i = 0;
  while (i < rank && count[i] == 1) ++i;
  for (++i; i < rank; ++i) if (count[i] != dims[i]) return false;
  return true;
}

TAPEFLOW_INPUTS(SliceInputs, input, begin, size);

bool slice(KernelCall& c, const SliceInputs& in) {
  Tensor* x = in.input;
  const Tensor *begin = in.begin, *size = in.size;
  const int rank = x->rank();
  if (begin->rank() != 1 || size->rank() != 1 || begin->size() != rank || size->size() != rank) {
    throw invalid("Expected begin and size arguments to be 1-D tensors of size ", rank, ", but got shapes ",
                  begin->shape->str(), " and ", size->shape->str(), " instead.");
  }
  IntVector b, n;
  vector_ints(begin, "begin", &b);
  vector_ints(size, "size", &n);
  int64_t strides[kMaxRank], to[kMaxRank], first = 0;
  row_major(rank, x->shape->dims, strides);
  for (int i = 0; i < rank; ++i) {
    const int64_t d = x->dim(i);
    if (b.v[i] < 0 || b.v[i] > d) throw invalid("Expected begin[", i, "] in [0, ", d, "], but got ", b.v[i]);
    if (n.v[i] == -1) n.v[i] = d - b.v[i];
    if (n.v[i] < 0 || n.v[i] > d - b.v[i]) {
      throw invalid("Expected size[", i, "] in [0, ", d - b.v[i], "], but got ", n.v[i]);
    }
    first += b.v[i] * strides[i];
  }
  ShapeRef shape(rank, n.v);
  if (shape->size > 0 && one_run(rank, x->shape->dims, n.v)) {
    c.out[0] = view_tensor(x, shape.get(), first);
    return true;
  }
  Tensor* out = c.out[0] = new_tensor(x->dtype, shape.get());
  if (shape->size == 0) return true;
  row_major(rank, n.v, to);
  const int item = item_size(x->dtype);
  strided_copy(out->data, to, x->data + first * item, strides, rank, n.v, item);
  return true;
}

bool index_dtype(const Tensor* t) { return t->dtype == DType::kInt32 || t->dtype == DType::kInt64; }

TAPEFLOW_INPUTS(StridedSliceInputs, input, begin, end, strides);

bool strided_slice(KernelCall& c, const SliceMasks& masks, const StridedSliceInputs& in) {
  Tensor* x = in.input;
  if (!index_dtype(in.begin)) return false;
  SliceSpec s;
  parse_slice(x->rank(), x->shape->dims, in.begin, in.end, in.strides, masks, &s);
  ShapeRef shape(s.out_rank, s.out);
  int64_t steps[kMaxRank], to[kMaxRank];
  const int64_t first = slice_strides(s, x->shape->dims, steps);
  bool unit = shape->size > 0;
  for (int i = 0; i < s.rank && unit; ++i) unit = s.stride[i] == 1 || s.count[i] == 1;
  if (unit && one_run(s.rank, x->shape->dims, s.count)) {
    c.out[0] = view_tensor(x, shape.get(), first);
    return true;
  }
  Tensor* out = c.out[0] = new_tensor(x->dtype, shape.get());
  if (shape->size == 0) return true;
  row_major(s.rank, s.count, to);
  const int item = item_size(x->dtype);
  strided_copy(out->data, to, x->data + first * item, steps, s.rank, s.count, item);
  return true;
}

TAPEFLOW_INPUTS(StridedSliceGradInputs, shape, begin, end, strides, dy);

bool strided_slice_grad(KernelCall& c, const SliceMasks& masks, const StridedSliceGradInputs& in) {
  const Tensor *sizes = in.shape, *dy = in.dy;
  if (is_object(dy->dtype)) return false;
  if (sizes->rank() != 1) throw invalid("shape must be 1-D, got shape.shape = ", sizes->shape->str());
  IntVector dims;
  vector_ints(sizes, "shape", &dims);
  ShapeRef shape(dims.n, dims.v);
  SliceSpec s;
  parse_slice(dims.n, dims.v, in.begin, in.end, in.strides, masks, &s);
  ShapeRef cut(s.out_rank, s.out);
  if (!cut->same(dy->shape)) {
    throw invalid("shape of dy was ", dy->shape->str(), " instead of ", cut->str());
  }
  Tensor* out = c.out[0] = new_tensor(dy->dtype, shape.get());
  const int item = item_size(dy->dtype);
  if (cut->size != shape->size) {
    const char zero[16] = {};
    fill_items(out->data, shape->size, zero, item);
  }
  if (cut->size == 0) return true;
  int64_t steps[kMaxRank], from[kMaxRank];
  const int64_t first = slice_strides(s, dims.v, steps);
  row_major(s.rank, s.count, from);
  strided_copy(out->data + first * item, steps, dy->data, from, s.rank, s.count, item);
  return true;
}

}  // namespace

void register_slice() {
  register_kernel("Slice", kPlainDTypes, named<slice>);
  register_kernel("StridedSlice", kPlainDTypes, named<strided_slice>);
  register_kernel("StridedSliceGrad", {DType::kInt32, DType::kInt64}, named<strided_slice_grad>);
}

}  // namespace tapeflow
