// Kernels that write parts of a variable in place.
#include <algorithm>

#include "kernels/indexing.h"
#include "kernels/strided.h"
#include "kernels/strided_slice.h"
#include "variable.h"

namespace tapeflow {
namespace {

// The variable's tensor as it is when a native kernel may work on it, else null.
const Tensor* plain_value(const WritableValue& v) {
  return is_object(v.now()->dtype) || !v.now()->on_host() ? nullptr : v.now();
}

bool updatable(Update op, DType d) {
  if (op == Update::kAssign) return true;
  if (op == Update::kDiv) return d == DType::kFloat32 || d == DType::kFloat64;
  return d == DType::kFloat32 || d == DType::kFloat64 || d == DType::kInt32 || d == DType::kInt64;
}

void check_dtype(const Tensor* x, const Tensor* updates) {
  if (x->dtype != updates->dtype) {
    throw invalid("Trying to assign variable with wrong dtype. Expected ", dtype_short_name(x->dtype), " got ",
                  dtype_short_name(updates->dtype));
  }
}

TAPEFLOW_INPUTS(ScatterInputs, resource, indices, updates);

template <Update op>
bool resource_scatter(KernelCall&, const ScatterInputs& in) {
  WritableValue variable(in.resource);
  const Tensor* x = plain_value(variable);
  const Tensor *indices = in.indices, *updates = in.updates;
  if (!x || !updatable(op, x->dtype)) return false;
  check_dtype(x, updates);
  const bool one = updates->rank() == 0;
  const int index_rank = indices->rank();
  bool fits = x->rank() >= 1 && (one || updates->rank() == index_rank + x->rank() - 1);
  for (int i = 0; fits && !one && i < updates->rank(); ++i) {
    fits = updates->dim(i) == (i < index_rank ? indices->dim(i) : x->dim(i - index_rank + 1));
  }
  if (!fits) {
    throw invalid("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                  "updates.shape ", updates->shape->str(), ", indices.shape ", indices->shape->str(),
                  ", params.shape ", x->shape->str());
  }
  check_indices(indices, x->dim(0));
  if (indices->size() == 0) return true;
  const NdIndex nd{1, indices->size(), x->size() / x->dim(0)};
  return scatter_nd(op, variable.writable(), indices, nd, updates, one);
}

std::string range_text(int64_t from, int64_t to) { return text("[", from, ",", to, ")"); }

TAPEFLOW_ATTRS(ScatterNdAttrs, use_locking, bad_indices_policy);
TAPEFLOW_INPUTS(ScatterNdInputs, ref, indices, updates);

template <Update op>
bool resource_scatter_nd(KernelCall&, const ScatterNdAttrs& attrs, const ScatterNdInputs& in) {
  WritableValue variable(in.ref);
  const Tensor* x = plain_value(variable);
  const Tensor *indices = in.indices, *updates = in.updates;
  if (ignores_bad_indices(attrs.bad_indices_policy) || !x || !updatable(op, x->dtype)) return false;
  check_dtype(x, updates);
  const int outer = indices->rank() - 1;
  if (outer < 0) throw invalid("Indices shape must have rank at least one. Found:", indices->shape->str());
  if (x->size() == 0 && (indices->size() > 0 || updates->size() > 0)) {
    throw invalid("Indices and updates specified for empty output.  indices shape: ", indices->shape->str());
  }
  NdIndex nd{indices->dim(outer), 1, 1};
  for (int i = 0; i < outer; ++i) {
    nd.rows *= indices->dim(i);
    if (i >= updates->rank() || updates->dim(i) != indices->dim(i)) {
      throw invalid("Dimensions ", range_text(0, outer), " of indices[shape=", indices->shape->str(), "] = ",
                    indices->dim(i), " must match dimensions ", range_text(0, outer), " of updates[shape=",
                    updates->shape->str(), "] = ", i < updates->rank() ? updates->dim(i) : 0);
    }
  }
  bool fits = nd.depth <= x->rank() && x->rank() - nd.depth == updates->rank() - outer;
  for (int i = outer; fits && i < updates->rank(); ++i) {
    const int64_t d = x->dim(static_cast<int>(nd.depth) + i - outer);
    fits = d == updates->dim(i);
    nd.row_size *= d;
  }
  if (!fits) {
    throw invalid("Dimensions ", range_text(nd.depth, x->rank()), " of input[shape=", x->shape->str(),
                  "] must match dimensions ", range_text(outer, updates->rank()), " of updates[shape=",
                  updates->shape->str(), "]");
  }
  with_indices(indices, [&](const auto* index) {
    for (int64_t i = 0; i < nd.rows; ++i) {
      if (nd_offset(index, nd, x->shape, i) < 0) {
        throw invalid("indices", position(indices->shape, outer, i), " = ", tuple_text(indices, nd.depth, i),
                      " does not index into shape ", x->shape->str());
      }
    }
  });
  return scatter_nd(op, variable.writable(), indices, nd, updates);
}

TAPEFLOW_INPUTS(StridedSliceAssignInputs, ref, begin, end, strides, value);

bool resource_strided_slice_assign(KernelCall&, const SliceMasks& masks, const StridedSliceAssignInputs& in) {
  WritableValue variable(in.ref);
  const Tensor* x = plain_value(variable);
  const Tensor* value = in.value;
  if (!x) return false;
  check_dtype(x, value);
  SliceSpec s;
  parse_slice(x->rank(), x->shape->dims, in.begin, in.end, in.strides, masks, &s);
  // The value broadcasts to the slice; then its strides are mapped from the slice's axes to the variable's.
  int64_t own[kMaxRank], from[kMaxRank];
  row_major(value->rank(), value->shape->dims, own);
  bool fits = true;
  int shift = s.out_rank - value->rank();
  for (int i = 0; i < -shift; ++i) fits = fits && value->dim(i) == 1;  // leading ones may go
  for (int i = 0; i < s.out_rank; ++i) {
    const int64_t d = i < shift ? 1 : value->dim(i - shift);
    fits = fits && (d == 1 || d == s.out[i]);
    from[i] = d == 1 ? 0 : own[i - shift];
  }
  if (!fits) {
    ShapeRef cut(s.out_rank, s.out);
    throw invalid("Cannot broadcast input shape ", value->shape->str(), " into final shape ", cut->str());
  }
  if (s.empty()) return true;
  int64_t steps[kMaxRank], axis_from[kMaxRank];
  int at = s.out_rank - 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    while (at >= 0 && s.out_axis[at] < 0) --at;
    axis_from[i] = at >= 0 && s.out_axis[at] == i ? from[at--] : 0;
  }
  const int64_t first = slice_strides(s, x->shape->dims, steps);
  Tensor* y = variable.writable();
  const int item = item_size(y->dtype);
  strided_copy(y->data + first * item, steps, value->data, axis_from, s.rank, s.count, item);
  return true;
}

}  // namespace

void register_resource_scatter() {
  const std::initializer_list<DType> keys = {DType::kInt32, DType::kInt64};
  register_kernel("ResourceScatterUpdate", keys, named<resource_scatter<Update::kAssign>>);
  register_kernel("ResourceScatterAdd", keys, named<resource_scatter<Update::kAdd>>);
  register_kernel("ResourceScatterSub", keys, named<resource_scatter<Update::kSub>>);
  register_kernel("ResourceScatterMul", keys, named<resource_scatter<Update::kMul>>);
  register_kernel("ResourceScatterDiv", keys, named<resource_scatter<Update::kDiv>>);
  register_kernel("ResourceScatterMin", keys, named<resource_scatter<Update::kMin>>);
  register_kernel("ResourceScatterMax", keys, named<resource_scatter<Update::kMax>>);
  register_kernel("ResourceScatterNdUpdate", keys, named<resource_scatter_nd<Update::kAssign>>);
  register_kernel("ResourceScatterNdAdd", keys, named<resource_scatter_nd<Update::kAdd>>);
  register_kernel("ResourceScatterNdSub", keys, named<resource_scatter_nd<Update::kSub>>);
  register_kernel("ResourceScatterNdMin", keys, named<resource_scatter_nd<Update::kMin>>);
  register_kernel("ResourceScatterNdMax", keys, named<resource_scatter_nd<Update::kMax>>);
  register_kernel("ResourceStridedSliceAssign", keys, named<resource_strided_slice_assign>);
}

}  // namespace tapeflow
