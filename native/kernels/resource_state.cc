// Kernels that read and assign a variable, and add to or subtract from all of it in place.
#include "kernels/indexing.h"
#include "kernels/strided.h"
#include "variable_type.h"

namespace tapeflow {
namespace {

TAPEFLOW_ATTRS(ReadAttrs, dtype);

bool read_variable(KernelCall& c, const ReadAttrs& attrs) {
  const OwnedTensor x = value_of(c.in[0]);
  if (!x->on_host() || x->dtype != attrs.dtype.type()) return false;
  c.out[0] = view_tensor(x.get(), x->shape);  // an update in place copies first while this lives
  return true;
}

TAPEFLOW_ATTRS(ShapeAttrs, out_type);

bool variable_shape(KernelCall& c, const ShapeAttrs& attrs) {
  const OwnedTensor x = value_of(c.in[0]);
  const DType type = attrs.out_type.type();
  const int64_t rank = x->rank();
  if (!is_index_dtype(type)) return false;
  for (int i = 0; i < rank; ++i) {
    if (type == DType::kInt32 && x->dim(i) > INT32_MAX) {
      throw invalid("Shape output type is 32-bit but dim ", i, " is ", x->dim(i));
    }
  }
  Tensor* out = c.out[0] = new_tensor(type, 1, &rank);
  for (int i = 0; i < rank; ++i) {
    if (type == DType::kInt64) out->as<int64_t>()[i] = x->dim(i);
    else out->as<int32_t>()[i] = static_cast<int32_t>(x->dim(i));
  }
  return true;
}

// A first value, or one of another shape, is for the variable itself to check.
TAPEFLOW_ATTRS(AssignAttrs, validate_shape);

bool assign(KernelCall& c, const AssignAttrs&) {
  const OwnedVariable v = variable_behind(c.in[0]);
  return v && replace_value(v.get(), c.in[1]);
}

template <bool subtract>
bool assign_update(KernelCall& c) {
  WritableValue v(c.in[0]);
  const Tensor* value = c.in[1];
  if (v.now()->dtype != value->dtype) return false;
  if (!v.now()->shape->same(value->shape)) {
    throw invalid("Cannot update variable with shape ", v.now()->shape->str(), " using a Tensor with shape ",
                  value->shape->str(), ", shapes must be equal.");
  }
  return update_in_place(v, value, subtract);
}

}  // namespace

void register_resource_state() {
  register_kernel("ReadVariableOp", kPlainDTypes, named<read_variable>);
  register_kernel("AssignVariableOp", kPlainDTypes, named<assign>);
  register_kernel("VariableShape", {DType::kInt32, DType::kInt64}, named<variable_shape>);
  const auto updated = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64};
  register_kernel("AssignAddVariableOp", updated, assign_update<false>);
  register_kernel("AssignSubVariableOp", updated, assign_update<true>);
}

}  // namespace tapeflow
