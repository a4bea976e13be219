// Kernels that permute or reverse axes.
#include <cstring>

#include "kernels/layout.h"
#include "kernels/strided.h"

namespace tapeflow {
namespace {

std::string braces(const IntVector& v) {
  std::ostringstream s;
  for (int i = 0; i < v.n; ++i) s << (i ? "," : "{") << v.v[i];
  s << "}";
  return s.str();
}

bool transpose(KernelCall& c) {
  Tensor* x = c.in[0];
  const int rank = x->rank();
  if (c.in[1]->rank() != 1) throw invalid("perm must be rank 1, got shape ", c.in[1]->shape->str());
  if (c.in[1]->size() != rank) {
    throw invalid("transpose expects a vector of size ", rank, ". But input(1) is a vector of size ",
                  c.in[1]->size());
  }
  IntVector perm;
  vector_ints(c.in[1], "perm", &perm);
  bool seen[kMaxRank] = {};
  for (int i = 0; i < rank; ++i) {
    if (perm.v[i] < 0) perm.v[i] += rank;
    const int64_t d = perm.v[i];
    if (d < 0 || d >= rank) throw invalid(d, " is out of range [0 .. ", rank, ")");
    seen[d] = true;
  }
  for (int i = 0; i < rank; ++i) {
    if (!seen[i]) throw invalid(i, " is missing from ", braces(perm), ".");
  }
  int64_t dims[kMaxRank], from[kMaxRank], strides[kMaxRank], to[kMaxRank];
  row_major(rank, x->shape->dims, strides);
  bool in_order = true;  // axes of length 1 may go anywhere
  int64_t last = -1;
  for (int i = 0; i < rank; ++i) {
    dims[i] = x->dim(static_cast<int>(perm.v[i]));
    from[i] = strides[perm.v[i]];
    if (dims[i] != 1) {
      in_order = in_order && perm.v[i] > last;
      last = perm.v[i];
    }
  }
  ShapeRef shape(rank, dims);
  if (in_order) {
    c.out[0] = view_tensor(x, shape.get());
    return true;
  }
  c.out[0] = new_tensor(x->dtype, shape.get());
  row_major(rank, dims, to);
  strided_copy(c.out[0]->data, to, x->data, from, rank, dims, item_size(x->dtype));
  return true;
}

void reverse_axes(KernelCall& c, const bool* reversed) {
  Tensor* x = c.in[0];
  const int rank = x->rank();
  int64_t from[kMaxRank], to[kMaxRank];
  row_major(rank, x->shape->dims, to);
  int64_t first = 0;
  for (int i = 0; i < rank; ++i) {
    from[i] = reversed[i] ? -to[i] : to[i];
    if (reversed[i]) first += (x->dim(i) - 1) * to[i];
  }
  c.out[0] = new_tensor(x->dtype, x->shape);
  if (x->size() == 0) return;
  const int item = item_size(x->dtype);
  strided_copy(c.out[0]->data, to, x->data + first * item, from, rank, x->shape->dims, item);
}

bool reverse_v2(KernelCall& c) {
  const int rank = c.in[0]->rank();
  const Tensor* axes = c.in[1];
  if (rank == 0) {
    c.out[0] = view_tensor(c.in[0], c.in[0]->shape);
    return true;
  }
  if (axes->rank() != 1) throw invalid("'dims' must be 1-dimension, not ", axes->rank());
  IntVector given;
  vector_ints(axes, "axis", &given);
  bool reversed[kMaxRank] = {};
  for (int i = 0; i < given.n; ++i) {
    const int64_t axis = given.v[i] < 0 ? given.v[i] + rank : given.v[i];
    if (axis < 0 || axis >= rank) {
      throw invalid("'axis'[", i, "] = ", given.v[i], " is out of valid range [0, ", rank - 1);
    }
    if (reversed[axis]) throw invalid("axis ", axis, " specified more than once.");
    reversed[axis] = true;
  }
  reverse_axes(c, reversed);
  return true;
}

bool reverse(KernelCall& c) {
  const Tensor* dims = c.in[1];
  const int rank = c.in[0]->rank();
  if (dims->rank() != 1) throw invalid("'dims' must be 1-dimension, not ", dims->rank());
  if (dims->size() != rank) {
    throw invalid("'dims' must have the same number of values as 'input' has dimensions. 'input' has ",
                  rank, "'dims' has ", dims->size(), " values");
  }
  bool reversed[kMaxRank + 1];
  std::memcpy(reversed, dims->data, rank);
  reverse_axes(c, reversed);
  return true;
}

}  // namespace

void register_transpose() {
  register_kernel("Transpose", kPlainDTypes, transpose);
  register_kernel("ReverseV2", kPlainDTypes, reverse_v2);
  register_kernel("Reverse", kPlainDTypes, reverse);
}

}  // namespace tapeflow
