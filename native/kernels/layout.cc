// Kernels that give a tensor another shape: they share its buffer.
#include <algorithm>

#include "kernels/layout.h"
#include "kernels/registry.h"
#include "kernels/strided.h"
#include "owned_tensor.h"

namespace tapeflow {
namespace {

void reshape_sizes(const Tensor* sizes, IntVector* out) {
  if (sizes->rank() == 0) {  // accepted for the sake of old programs
    out->n = 1;
    out->v[0] = scalar_int(sizes, "shape");
    return;
  }
  if (sizes->rank() != 1) throw invalid("sizes input must be 1-D, not ", sizes->shape->str());
  vector_ints(sizes, "shape", out);
}

bool reshape(KernelCall& c) {
  Tensor* x = c.in[0];
  IntVector sizes;
  reshape_sizes(c.in[1], &sizes);
  int unknown = -1;
  bool has_zero = false;
  int64_t known = 1;
  for (int i = 0; i < sizes.n; ++i) {
    const int64_t d = sizes.v[i];
    if (d == -1) {
      if (unknown >= 0) throw invalid("Only one input size may be -1, not both ", unknown, " and ", i);
      unknown = i;
    } else if (d < 0) {
      throw invalid("Size ", i, " must be non-negative, not ", d);
    } else if (d == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(known, d, &known)) {
      throw invalid("Input to reshape is a tensor with ", x->size(),
                    " values, but the requested shape would have more than 2**63 - 1 elements");
    }
  }
  if (unknown >= 0) {
    // Zeros cancel: [0, 3] may become [-1, 0], and -1 is then the product of the other dimensions.
    int64_t have = 1;
    bool cancelled = false;
    for (int i = 0; i < x->rank(); ++i) {
      if (x->dim(i) > 0 || !has_zero) have *= x->dim(i);
      else cancelled = true;
    }
    if (!cancelled && have % known != 0) {
      throw invalid("Input to reshape is a tensor with ", have,
                    " values, but the requested shape requires a multiple of ", known);
    }
    sizes.v[unknown] = have / known;
  }
  ShapeRef shape(sizes.n, sizes.v);
  if (shape->size != x->size()) {
    throw invalid("Input to reshape is a tensor with ", x->size(),
                  " values, but the requested shape has ", shape->size);
  }
  c.out[0] = view_tensor(x, shape.get());
  return true;
}

TAPEFLOW_ATTRS(PreventGradientAttrs, message);

template <typename... Attrs>
bool identity(KernelCall& c, const Attrs&...) {
  c.out[0] = view_tensor(c.in[0], c.in[0]->shape);
  return true;
}

bool expand_dims(KernelCall& c) {
  Tensor* x = c.in[0];
  if (c.in[1]->size() != 1) throw invalid("'dim' must be a tensor with a single value");
  const int64_t given = single_int(c.in[1]);
  const int rank = x->rank();
  const int64_t axis = given < 0 ? given + rank + 1 : given;
  if (axis < 0 || axis > rank) {
    throw invalid("Tried to expand dim index ", given, " for tensor with ", rank, " dimensions.");
  }
  if (rank == kMaxRank) throw invalid("A tensor has at most ", kMaxRank, " dimensions.");
  int64_t dims[kMaxRank];
  std::copy(x->shape->dims, x->shape->dims + axis, dims);
  dims[axis] = 1;
  std::copy(x->shape->dims + axis, x->shape->dims + rank, dims + axis + 1);
  ShapeRef shape(rank + 1, dims);
  c.out[0] = view_tensor(x, shape.get());
  return true;
}

TAPEFLOW_ATTRS(SqueezeAttrs, squeeze_dims);

bool squeeze(KernelCall& c, const SqueezeAttrs& attrs) {
  Tensor* x = c.in[0];
  const Attr& axes = attrs.squeeze_dims;
  const int rank = x->rank();
  bool chosen[kMaxRank] = {};
  for (int i = 0; i < axes.n; ++i) {
    const int64_t given = axes.ints[i];
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) {
      throw invalid("Tried to squeeze dim index ", given, " for tensor with ", rank, " dimensions.");
    }
    chosen[axis] = true;
  }
  int64_t dims[kMaxRank];
  int n = 0;
  for (int i = 0; i < rank; ++i) {
    const int64_t d = x->dim(i);
    if (axes.n > 0 ? !chosen[i] : d != 1) {
      dims[n++] = d;
    } else if (d != 1) {
      throw invalid("Can not squeeze dim[", i, "], expected a dimension of 1, got ", d);
    }
  }
  ShapeRef shape(n, dims);
  c.out[0] = view_tensor(x, shape.get());
  return true;
}

Tensor* shape_tensor(const Tensor* x, DType type) {
  const int64_t rank = x->rank();
  OwnedTensor out(new_tensor(type, 1, &rank));
  for (int i = 0; i < rank; ++i) {
    const int64_t d = x->dim(i);
    if (type == DType::kInt64) {
      out->as<int64_t>()[i] = d;
    } else if (d > INT32_MAX) {
      throw invalid("Shape output type is 32-bit but dim ", i, " is ", d);
    } else {
      out->as<int32_t>()[i] = static_cast<int32_t>(d);
    }
  }
  return out.leak();
}

bool is_index(DType d) { return d == DType::kInt32 || d == DType::kInt64; }

TAPEFLOW_ATTRS(ShapeAttrs, out_type);

bool shape(KernelCall& c, const ShapeAttrs& attrs) {
  const DType type = attrs.out_type.type();
  if (!is_index(type)) return false;
  c.out[0] = shape_tensor(c.in[0], type);
  return true;
}

bool shape_n(KernelCall& c, const ShapeAttrs& attrs) {
  const DType type = attrs.out_type.type();
  if (!is_index(type) || c.n_in != c.n_out) return false;
  for (int i = 0; i < c.n_in; ++i) c.out[i] = shape_tensor(c.in[i], type);
  return true;
}

bool size(KernelCall& c, const ShapeAttrs& attrs) {
  const DType type = attrs.out_type.type();
  const int64_t n = c.in[0]->size();
  if (!is_index(type)) return false;
  if (type == DType::kInt32 && n > INT32_MAX) {
    throw invalid("Number of elements was larger than representable by 32-bit output type: ", n);
  }
  c.out[0] = type == DType::kInt64 ? scalar_tensor(n) : scalar_tensor(static_cast<int32_t>(n));
  return true;
}

bool rank(KernelCall& c) {
  c.out[0] = scalar_tensor(static_cast<int32_t>(c.in[0]->rank()));
  return true;
}

}  // namespace

void register_layout() {
  register_kernel("Reshape", kPlainDTypes, reshape);
  for (const char* name : {"Identity", "StopGradient", "Snapshot"}) register_kernel(name, kPlainDTypes, identity<>);
  register_kernel("PreventGradient", kPlainDTypes, named<identity<PreventGradientAttrs>>);
  register_kernel("ExpandDims", kPlainDTypes, expand_dims);
  register_kernel("Squeeze", kPlainDTypes, named<squeeze>);
  for (const auto& dtypes : {kPlainDTypes, kObjectDTypes}) {
    register_kernel("Shape", dtypes, named<shape>);
    register_kernel("ShapeN", dtypes, named<shape_n>);
    register_kernel("Size", dtypes, named<size>);
    register_kernel("Rank", dtypes, rank);
  }
  register_transpose();
  register_concat();
  register_slice();
  register_fill();
  register_broadcast_args();
}

}  // namespace tapeflow
