// Kernels of the TensorList ops that make and change lists of tensors in scalar variant tensors.
//
// Elements are shared, never copied. A list that only the call's input holds, and that the caller gives up, is changed
// in place: that makes a loop that appends linear. Lists of strings and variants leave what builds tensors to Python.
#include "kernels/tensor_lists.h"

#include <algorithm>

#include "kernels/registry.h"
#include "kernels/strided.h"

namespace tapeflow {
namespace {

void at_least_vector(const Tensor* t) {
  if (t->rank() < 1) throw invalid("Tensor must be at least a vector, but saw shape: ", t->shape->str());
}

void check_rows(const PartialShape& list, const Shape* rows) {
  if (!list.fits(rows)) throw invalid("Specified a list with shape ", list.str(), " from a tensor with shape ", rows->str());
}

// t's rows, each an element of the list; they share t's memory.
ShapeRef row_shape(const Tensor* t) { return ShapeRef(t->rank() - 1, t->shape->dims + 1); }

// -- making lists ----------------------------------------------------------------------------------

bool empty_list(KernelCall& c, const ListOf& list) {
  if (c.in[1]->rank() != 0) throw invalid("max_num_elements expected to be a scalar but got shape: ", c.in[1]->shape->str());
  c.out[0] = list_tensor(new_list(list.element_dtype.type(), PartialShape::parse(c.in[0]), *c.in[1]->as<int32_t>()));
  return true;
}

bool reserve(KernelCall& c, const ListOf& list) {
  if (c.in[1]->rank() != 0) {
    throw invalid("The num_elements to reserve must be a tensor size 1, but got ", c.in[1]->shape->str());
  }
  const int64_t n = *c.in[1]->as<int32_t>();
  if (n < 0) throw invalid("The num_elements to reserve must be a non negative number, but got ", n);
  Made l(new_list(list.element_dtype.type(), PartialShape::parse(c.in[0])));
  l->resize(n);
  c.out[0] = l.tensor();
  return true;
}

bool from_tensor(KernelCall& c) {
  Tensor* t = c.in[0];
  at_least_vector(t);
  const PartialShape shape = PartialShape::parse(c.in[1]);
  ShapeRef row = row_shape(t);
  check_rows(shape, row.get());
  Made l(new_list(t->dtype, shape, -1, t->dim(0)));
  for (int64_t i = 0; i < t->dim(0); ++i) l->append(view_tensor(t, row.get(), i * row->size));
  c.out[0] = l.tensor();
  return true;
}

TAPEFLOW_INPUTS(SplitInputs, tensor, element_shape, lengths);

bool split(KernelCall& c, const SplitInputs& in) {
  Tensor* t = in.tensor;
  const Tensor* lengths = in.lengths;
  const PartialShape shape = PartialShape::parse(in.element_shape);
  if (shape.ranked && shape.dims.empty()) {
    throw invalid("TensorListSplit requires element_shape to be at least of rank 1, but saw: ", shape.str());
  }
  at_least_vector(t);
  if (lengths->rank() != 1) throw invalid("Expected lengths to be a vector, received shape: ", lengths->shape->str());
  PartialShape any = shape;
  if (any.ranked) any.dims[0] = -1;
  if (!any.fits(t->shape)) throw invalid("tensor shape ", t->shape->str(), " is not compatible with element_shape ", shape.str());
  const int64_t* n = lengths->as<int64_t>();
  int64_t end = 0;
  for (int64_t i = 0; i < lengths->size(); ++i) {
    if (n[i] < 0) throw invalid("Invalid value in lengths: ", n[i]);
    if (n[i] > t->dim(0) - end) {
      throw invalid("Attempting to slice [", end, ", ", static_cast<uint64_t>(end) + static_cast<uint64_t>(n[i]),
                    "] from tensor with length ", t->dim(0));
    }
    end += n[i];
  }
  if (end != t->dim(0)) throw invalid("Unused values in tensor. Length of tensor: ", t->dim(0), " Values used: ", end);
  Made l(new_list(t->dtype, shape, -1, lengths->size()));
  ShapeRef row = row_shape(t);
  int64_t dims[kMaxRank], at = 0;
  std::copy(t->shape->dims, t->shape->dims + t->rank(), dims);
  for (int64_t i = 0; i < lengths->size(); ++i) {
    dims[0] = n[i];
    ShapeRef s(t->rank(), dims);
    l->append(view_tensor(t, s.get(), at * row->size));
    at += n[i];
  }
  c.out[0] = l.tensor();
  return true;
}

// Elements indices[i] become the rows of t; the list has them all already.
void put_rows(TensorList* l, Tensor* t, Shape* row, const Tensor* indices) {
  const int32_t* at = indices->as<int32_t>();
  for (int64_t i = 0; i < indices->size(); ++i) l->set(at[i], view_tensor(t, row, i * row->size));
}

int64_t highest(const Tensor* indices, int64_t limit) {
  int64_t top = -1;
  for (int64_t i = 0; i < indices->size(); ++i) {
    const int64_t at = indices->as<int32_t>()[i];
    if (at < 0) throw invalid("Indices in TensorListScatter must all be non-negative.");
    if (limit >= 0 && at >= limit) {
      throw invalid("TensorListScatter: Trying to scatter at index ", at, " in list with size ", limit);
    }
    top = std::max(top, at);
  }
  return top;
}

TAPEFLOW_INPUTS(ScatterInputs, tensor, indices, element_shape, num_elements);

bool scatter(KernelCall& c, const ScatterInputs& in) {
  Tensor* t = in.tensor;
  const Tensor* indices = in.indices;
  const PartialShape shape = PartialShape::parse(in.element_shape);
  if (in.num_elements->rank() != 0) throw invalid("num_elements must be a scalar");
  const int64_t n = *in.num_elements->as<int32_t>();
  if (n < -1) throw invalid("TensorListScatter expects num_elements >= -1, found: ", n);
  at_least_vector(t);
  if (indices->size() != t->dim(0)) {
    throw invalid("Invalid number of rows in input tensor. Expected: ", indices->size(), " Actual: ", t->dim(0));
  }
  ShapeRef row = row_shape(t);
  check_rows(shape, row.get());
  const int64_t size = std::max(n, highest(indices, n) + 1);
  Made l(new_list(t->dtype, shape));
  l->resize(size);
  put_rows(l.get(), t, row.get(), indices);
  c.out[0] = l.tensor();
  return true;
}

TAPEFLOW_INPUTS(ScatterIntoInputs, input_handle, tensor, indices);

bool scatter_into(KernelCall& c, const ScatterIntoInputs& in) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  Tensor* t = in.tensor;
  const Tensor* indices = in.indices;
  if (l->dtype != t->dtype) {
    throw invalid("Invalid data types; input tensor type: ", dtype_short_name(t->dtype), " list element_type: ",
                  dtype_short_name(l->dtype));
  }
  if (indices->rank() != 1) throw invalid("Expected indices to be a vector, but received shape: ", indices->shape->str());
  at_least_vector(t);
  if (indices->size() != t->dim(0)) {
    throw invalid("Expected len(indices) == tensor.shape[0], but saw: ", indices->size(), " vs. ", t->dim(0));
  }
  ShapeRef row = row_shape(t);
  check_rows(*l->shape, row.get());
  const int64_t size = std::max(l->size, highest(indices, -1) + 1);
  TensorList* out = changed(c, 0);
  out->resize(size);
  put_rows(out, t, row.get(), indices);
  return true;
}

// -- changing lists --------------------------------------------------------------------------------

bool push_back(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  Tensor* t = c.in[1];
  check_dtype(l, t->dtype);
  if (!l->shape->fits(t->shape)) {
    throw invalid("Tried to append a tensor with incompatible shape to a list. Op element shape: ", t->shape->str(),
                  " list shape: ", l->shape->str());
  }
  if (l->max_size != -1 && l->size >= l->max_size) {
    throw invalid("Tried to push item into a full list list size: ", l->size, " max_num_elements: ", l->max_size);
  }
  changed(c, 0, l->used + 1)->append(shared(t));
  return true;
}

bool pop_back(KernelCall& c, const ListOf& list) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, list.element_dtype.type());
  if (l->size == 0) throw invalid("Trying to pop from an empty list.");
  Tensor* last = l->at(l->size - 1);
  if (last) {
    last = taken(last);
  } else {
    const PartialShape shape = merge(PartialShape::parse(c.in[1]), *l->shape);
    if (!shape.full()) {
      throw invalid("Trying to read an uninitialized tensor but element_shape is not fully defined.", shape.str());
    }
    if (is_object(l->dtype)) return false;
    last = zeros(l->dtype, shape.shape().get());
  }
  c.out[1] = last;
  TensorList* out = changed(c, 0);
  out->resize(out->size - 1);
  return true;
}

TAPEFLOW_ATTRS(SetItemAttrs, resize_if_index_out_of_bounds);
TAPEFLOW_INPUTS(SetItemInputs, input_handle, index, item);

bool set_item(KernelCall& c, const SetItemAttrs& attrs, const SetItemInputs& in) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  Tensor* item = in.item;
  check_dtype(l, item->dtype);
  const int64_t at = scalar_of(in.index, "index must be a scalar");
  const bool grows = attrs.resize_if_index_out_of_bounds.b() && at >= l->size;
  if (at < 0 || (at >= l->size && !grows)) {
    throw invalid("Trying to modify element ", at, " in a list with ", l->size, " elements.");
  }
  if (!l->shape->fits(item->shape)) {
    throw invalid("Tried to set a tensor with incompatible shape at a list index. Item element shape: ",
                  item->shape->str(), " list shape: ", l->shape->str());
  }
  TensorList* out = changed(c, 0);
  if (grows) out->resize(at + 1);
  out->set(at, shared(item));
  return true;
}

bool resize(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  const int64_t n = scalar_of(c.in[1], "size must be a scalar");
  if (n < 0) throw invalid("TensorListSlice expects size to be non-negative. Got: ", n);
  changed(c, 0)->resize(n);
  return true;
}

bool concat_lists(KernelCall& c, const ListOf& list) {
  if (!c.in[0]->shape->same(c.in[1]->shape)) {
    throw invalid("Incompatible input TensorList tensor shapes: ", c.in[0]->shape->str(), " vs. ", c.in[1]->shape->str());
  }
  if (c.in[0]->rank() != 0) return false;
  const TensorList *a = input_list(c, 0), *b = input_list(c, 1);
  if (!a || !b) return false;
  const DType d = list.element_dtype.type();
  for (const auto& [l, name] : {std::pair{a, "input_a"}, std::pair{b, "input_b"}}) {
    if (l->dtype != d) {
      throw invalid(name, "[0].dtype != element_dtype.  Saw: ", dtype_short_name(l->dtype), " vs. ", dtype_short_name(d));
    }
  }
  if (!a->shape->same(*b->shape)) {
    throw invalid("input_a and input_b TensorList element shapes are not identical at index 0.  Saw ", a->shape->str(),
                  " vs. ", b->shape->str());
  }
  const int64_t n = b->size;  // b may be a
  TensorList* out = changed(c, 0);
  for (int64_t i = 0; i < n; ++i) out->append(b->at(i) ? shared(b->at(i)) : nullptr);
  return true;
}

}  // namespace

void register_tensor_list() {
  const std::initializer_list<DType> any = {DType::kInvalid}, index = {DType::kInt32, DType::kInt64};
  register_kernel("TensorListResize", any, resize);
  register_kernel("EmptyTensorList", index, named<empty_list>);
  register_kernel("TensorListReserve", index, named<reserve>);
  for (const auto& dtypes : {kPlainDTypes, kObjectDTypes}) {
    register_kernel("TensorListPushBack", dtypes, push_back);
    register_kernel("TensorListPopBack", dtypes, named<pop_back>);
    register_kernel("TensorListSetItem", dtypes, named<set_item>);
    register_kernel("TensorListConcatLists", dtypes, named<concat_lists>);
  }
  register_kernel("TensorListFromTensor", kPlainDTypes, from_tensor);
  register_kernel("TensorListSplit", kPlainDTypes, named<split>);
  register_kernel("TensorListScatterV2", kPlainDTypes, named<scatter>);
  register_kernel("TensorListScatterIntoExistingList", kPlainDTypes, named<scatter_into>);
  register_tensor_list_reading();
}

}  // namespace tapeflow
