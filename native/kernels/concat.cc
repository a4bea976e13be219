// Kernels that join tensors along an axis, or take one apart.
#include <cstring>

#include "kernels/layout.h"
#include "kernels/strided.h"

namespace tapeflow {
namespace {

// One side of a join: a matrix of `rows` rows, of which each piece holds some columns.
struct Piece { char* data; int64_t columns; };

void join(char* whole, int64_t rows, int64_t columns, const Piece& piece, int64_t at, int item) {
  if (rows == 0 || piece.columns == 0) return;
  if (rows == 1 && piece.columns * item < 4096) {
    std::memcpy(whole + at * item, piece.data, piece.columns * item);
    return;
  }
  const int64_t dims[] = {rows, piece.columns}, to[] = {columns, 1}, from[] = {piece.columns, 1};
  strided_copy(whole + at * item, to, piece.data, from, 2, dims, item);
}

int64_t product(const Shape* s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s->dims[i];
  return n;
}

bool concat(KernelCall& c, Tensor* const* values, int n, const Tensor* axis_tensor) {
  if (axis_tensor->size() != 1) {
    throw invalid("axis tensor should be a scalar integer, but got shape ", axis_tensor->shape->str());
  }
  const int64_t given = single_int(axis_tensor);
  const Shape* first = values[0]->shape;
  const int rank = first->rank;
  if (rank == 0) throw invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    throw invalid("ConcatOp : Expected concatenating dimensions in the range [", -rank, ", ", rank,
                  "), but got ", given);
  }
  int64_t dims[kMaxRank];
  std::copy(first->dims, first->dims + rank, dims);
  for (int i = 1; i < n; ++i) {
    const Shape* s = values[i]->shape;
    if (s->rank == 0) throw invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
    if (s->rank != rank) {
      throw invalid("ConcatOp : Ranks of all input tensors should match: shape[0] = ",
                    first->str(), " vs. shape[", i, "] = ", s->str());
    }
    for (int k = 0; k < rank; ++k) {
      if (k == axis) continue;
      if (s->dims[k] != first->dims[k]) {
        throw invalid("ConcatOp : Dimension ", k, " in both shapes must be equal: shape[0] = ",
                      first->str(), " vs. shape[", i, "] = ", s->str());
      }
    }
    if (__builtin_add_overflow(dims[axis], s->dims[axis], &dims[axis])) {
      throw invalid("ConcatOp : the joined dimension would exceed 2**63 - 1");
    }
  }
  ShapeRef shape(rank, dims);
  Tensor* out = c.out[0] = new_tensor(values[0]->dtype, shape.get());
  const int a = static_cast<int>(axis);
  const int64_t rows = product(first, 0, a), inner = product(first, a + 1, rank);
  const int item = item_size(out->dtype);
  int64_t at = 0;
  for (int i = 0; i < n; ++i) {
    const int64_t columns = values[i]->dim(a) * inner;
    join(out->data, rows, dims[a] * inner, {values[i]->data, columns}, at, item);
    at += columns;
  }
  return true;
}

bool concat_v2(KernelCall& c) { return concat(c, c.in, c.n_in - 1, c.in[c.n_in - 1]); }
bool concat_v1(KernelCall& c) { return concat(c, c.in + 1, c.n_in - 1, c.in[0]); }

TAPEFLOW_ATTRS(PackAttrs, axis);

bool pack(KernelCall& c, const PackAttrs& attrs) {
  Tensor* first = c.in[0];
  const int rank = first->rank();
  const int64_t given = attrs.axis.i;
  for (int i = 1; i < c.n_in; ++i) {
    if (!c.in[i]->shape->same(first->shape)) {
      throw invalid("Shapes of all inputs must match: values[0].shape = ", first->shape->str(),
                    " != values[", i, "].shape = ", c.in[i]->shape->str());
    }
  }
  const int64_t axis = given < 0 ? given + rank + 1 : given;
  if (axis < 0 || axis > rank || rank == kMaxRank) {
    throw invalid("axis = ", given, " not in [", -(rank + 1), ", ", rank + 1, ")");
  }
  int64_t dims[kMaxRank];
  std::copy(first->shape->dims, first->shape->dims + axis, dims);
  dims[axis] = c.n_in;
  std::copy(first->shape->dims + axis, first->shape->dims + rank, dims + axis + 1);
  ShapeRef shape(rank + 1, dims);
  Tensor* out = c.out[0] = new_tensor(first->dtype, shape.get());
  const int64_t rows = product(first->shape, 0, static_cast<int>(axis));
  const int64_t columns = product(first->shape, static_cast<int>(axis), rank);
  const int item = item_size(out->dtype);
  for (int i = 0; i < c.n_in; ++i) {
    join(out->data, rows, columns * c.n_in, {c.in[i]->data, columns}, columns * i, item);
  }
  return true;
}

// The part of x whose elements along axis start at `begin`; shares the buffer when it is one run of memory.
Tensor* part(Tensor* x, Shape* shape, int64_t rows, int64_t columns, int64_t part_columns, int64_t at) {
  if (rows == 1) return view_tensor(x, shape, at);
  Tensor* out = new_tensor(x->dtype, shape);
  const int item = item_size(x->dtype);
  const int64_t dims[] = {rows, part_columns}, to[] = {part_columns, 1}, from[] = {columns, 1};
  if (out->size() > 0) strided_copy(out->data, to, x->data + at * item, from, 2, dims, item);
  return out;
}

TAPEFLOW_ATTRS(UnpackAttrs, num, axis);

bool unpack(KernelCall& c, const UnpackAttrs& attrs) {
  Tensor* x = c.in[0];
  const int64_t num = attrs.num.i, given = attrs.axis.i;
  const int rank = x->rank();
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) throw invalid("axis = ", given, " not in [", -rank, ", ", rank, ")");
  if (x->dim(static_cast<int>(axis)) != num || c.n_out != num) {
    throw invalid("Input shape axis ", axis, " must equal ", num, ", got shape ", x->shape->str());
  }
  int64_t dims[kMaxRank];
  std::copy(x->shape->dims, x->shape->dims + axis, dims);
  std::copy(x->shape->dims + axis + 1, x->shape->dims + rank, dims + axis);
  ShapeRef shape(rank - 1, dims);
  const int64_t rows = product(x->shape, 0, static_cast<int>(axis));
  const int64_t inner = product(x->shape, static_cast<int>(axis) + 1, rank);
  for (int64_t i = 0; i < num; ++i) c.out[i] = part(x, shape.get(), rows, inner * num, inner, inner * i);
  return true;
}

int split_axis(const Tensor* axis_tensor, const Tensor* x) {
  if (axis_tensor->size() != 1) {
    throw invalid("split_dim_tensor must have exactly one element, but has shape ", axis_tensor->shape->str());
  }
  const int64_t given = single_int(axis_tensor);
  const int rank = x->rank();
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    throw invalid("-input rank(", -rank, ") <= split_dim < input rank (", rank, "), but got ", given);
  }
  return static_cast<int>(axis);
}

void split_at(KernelCall& c, Tensor* x, int axis, const int64_t* sizes) {
  int64_t dims[kMaxRank];
  std::copy(x->shape->dims, x->shape->dims + x->rank(), dims);
  const int64_t rows = product(x->shape, 0, axis), inner = product(x->shape, axis + 1, x->rank());
  int64_t at = 0;
  for (int i = 0; i < c.n_out; ++i) {
    dims[axis] = sizes[i];
    ShapeRef shape(x->rank(), dims);
    c.out[i] = part(x, shape.get(), rows, x->dim(axis) * inner, sizes[i] * inner, at);
    at += sizes[i] * inner;
  }
}

TAPEFLOW_ATTRS(SplitAttrs, num_split);
TAPEFLOW_INPUTS(SplitInputs, split_dim, value);
TAPEFLOW_INPUTS(SplitVInputs, value, size_splits, split_dim);

bool split(KernelCall& c, const SplitAttrs& attrs, const SplitInputs& in) {
  Tensor* x = in.value;
  const int64_t num = attrs.num_split.i;
  const int axis = split_axis(in.split_dim, x);
  if (num <= 0 || num != c.n_out) throw invalid("Number of ways to split should be > 0, but got ", num);
  if (x->dim(axis) % num != 0) {
    throw invalid("Number of ways to split should evenly divide the split dimension, but got split_dim ",
                  axis, " (size = ", x->dim(axis), ") and num_split ", num);
  }
  Scratch sizes(num * sizeof(int64_t));
  std::fill_n(sizes.as<int64_t>(), num, x->dim(axis) / num);
  split_at(c, x, axis, sizes.as<int64_t>());
  return true;
}

bool split_v(KernelCall& c, const SplitAttrs& attrs, const SplitVInputs& in) {
  Tensor* x = in.value;
  const Tensor* given = in.size_splits;
  const int64_t num = attrs.num_split.i;
  if (given->dtype != DType::kInt32 && given->dtype != DType::kInt64) return false;
  if (given->rank() != 1 || given->size() != num || c.n_out != num) {
    throw invalid("size of the split_tensor must be 1-D and have the same elements as outputs got ",
                  given->rank(), " -D and ", given->size(), " elements");
  }
  const int axis = split_axis(in.split_dim, x);
  const int64_t whole = x->dim(axis);
  Scratch scratch((num + 1) * sizeof(int64_t));
  int64_t* sizes = scratch.as<int64_t>();
  int64_t known = 0, unknown = -1;
  for (int64_t i = 0; i < num; ++i) {
    sizes[i] = given->dtype == DType::kInt64 ? given->as<int64_t>()[i] : given->as<int32_t>()[i];
    if (sizes[i] == -1) {
      if (unknown >= 0) throw invalid("There can only be one -1 in the input.");
      unknown = i;
    } else if (sizes[i] < 0) {
      throw invalid("Split size at index ", i, " must be >= 0. Got: ", sizes[i]);
    } else if (__builtin_add_overflow(known, sizes[i], &known)) {
      throw invalid("Split sizes add up to more than 2**63 - 1");
    }
  }
  if (num == 1 && unknown < 0 && known != whole) {
    throw invalid("If there is only one output, it must have the same size as the input. Input size: ",
                  whole, " output size: ", known);
  }
  if (unknown < 0 ? known != whole : known > whole) {
    throw invalid("Determined shape must either match input shape along split_dim exactly if fully "
                  "specified, or be less than the size of the input along split_dim if not fully "
                  "specified.  Got: ", known);
  }
  if (unknown >= 0) sizes[unknown] = whole - known;
  split_at(c, x, axis, sizes);
  return true;
}

}  // namespace

void register_concat() {
  register_kernel("ConcatV2", kPlainDTypes, concat_v2);
  register_kernel("Concat", kPlainDTypes, concat_v1);
  register_kernel("Pack", kPlainDTypes, named<pack>);
  register_kernel("Unpack", kPlainDTypes, named<unpack>);
  register_kernel("Split", kPlainDTypes, named<split>);
  register_kernel("SplitV", kPlainDTypes, named<split_v>);
}

}  // namespace tapeflow
