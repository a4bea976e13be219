// Kernels of the TensorList ops that read lists of tensors, and those that add them up for gradients.
#include "kernels/tensor_lists.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/accumulate.h"
#include "kernels/strided.h"
#include "owned_tensor.h"

namespace tapeflow {
namespace {

bool length(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  if (l->size > INT32_MAX) throw invalid("the list has ", l->size, " elements, more than int32 can say");
  c.out[0] = scalar_tensor(static_cast<int32_t>(l->size));
  return true;
}

TAPEFLOW_ATTRS(ElementShapeAttrs, shape_type);

bool element_shape(KernelCall& c, const ElementShapeAttrs& attrs) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  const PartialShape& s = *l->shape;
  const bool wide = attrs.shape_type.type() == DType::kInt64;
  const auto n = static_cast<int64_t>(s.dims.size());
  Tensor* out = c.out[0] = new_tensor(attrs.shape_type.type(), s.ranked ? 1 : 0, &n);
  for (int64_t i = 0; i < out->size(); ++i) {
    const int64_t d = s.ranked ? s.dims[static_cast<size_t>(i)] : -1;
    if (wide) out->as<int64_t>()[i] = d;
    else out->as<int32_t>()[i] = static_cast<int32_t>(d);
  }
  return true;
}

TAPEFLOW_INPUTS(GetItemInputs, input_handle, index, element_shape);

bool get_item(KernelCall& c, const ListOf& list, const GetItemInputs& in) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, list.element_dtype.type());
  const int64_t at = scalar_of(in.index, "index must be a scalar");
  if (at < 0 || at >= l->size) throw invalid("Trying to access element ", at, " in a list with ", l->size, " elements.");
  if (Tensor* t = l->at(at)) {
    c.out[0] = taken(t);
    return true;
  }
  PartialShape shape = merge(PartialShape::parse(in.element_shape), *l->shape);
  const bool full = shape.full();
  for (int64_t i = 0; i < l->used && !full; ++i) {
    if (l->items[i]) shape = merge(shape, PartialShape::of(l->items[i]->shape));
  }
  if (!shape.full()) {
    throw invalid("Trying to read an uninitialized tensor but element_shape is not fully defined: ", shape.str(),
                  " and no list element is set.");
  }
  if (is_object(l->dtype)) return false;
  c.out[0] = zeros(l->dtype, shape.shape().get());
  return true;
}

// Elements (null: zeros) joined: those of `row` shape below one another, in a tensor of shape [n, *row].
template <typename F>
Tensor* stacked(DType d, F&& item, int64_t n, const PartialShape& row) {
  std::vector<int64_t> dims{n};
  dims.insert(dims.end(), row.dims.begin(), row.dims.end());
  if (dims.size() > kMaxRank) throw invalid("The result would have ", dims.size(), " dimensions");
  Tensor* out = new_tensor(d, static_cast<int>(dims.size()), dims.data());
  const auto bytes = static_cast<size_t>(n ? out->bytes() / n : 0);
  for (int64_t i = 0; i < n; ++i) {
    char* to = out->data + static_cast<size_t>(i) * bytes;
    if (Tensor* t = item(i)) std::memcpy(to, t->data, bytes);
    else std::memset(to, 0, bytes);
  }
  return out;
}

TAPEFLOW_ATTRS(StackAttrs, element_dtype, num_elements);

bool stack(KernelCall& c, const StackAttrs& attrs) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, attrs.element_dtype.type());
  PartialShape shape = merge(PartialShape::parse(c.in[1]), *l->shape);
  const int64_t wanted = attrs.num_elements.i;
  if (wanted != -1 && wanted != l->size) {
    throw invalid("Operation expected a list with ", wanted, " elements but got a list with ", l->size, " elements.");
  }
  if (l->size == 0 && !shape.full()) {
    throw invalid("Tried to stack elements of an empty list with non-fully-defined element_shape: ", shape.str());
  }
  for (int64_t i = 0; i < l->used; ++i) {
    if (l->items[i] && !(shape.full() && shape.fits(l->items[i]->shape))) shape = merge(shape, PartialShape::of(l->items[i]->shape));
  }
  if (!shape.full()) {
    throw invalid("Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape: ",
                  shape.str());
  }
  if (is_object(l->dtype)) return false;
  c.out[0] = stacked(l->dtype, [l](int64_t i) { return l->at(i); }, l->size, shape);
  return true;
}

TAPEFLOW_INPUTS(GatherInputs, input_handle, indices, element_shape);

bool gather(KernelCall& c, const ListOf& list, const GatherInputs& in) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, list.element_dtype.type());
  const Tensor* indices = in.indices;
  PartialShape shape = merge(PartialShape::parse(in.element_shape), *l->shape);
  if (indices->size() == 0 && !shape.full()) {
    throw invalid("Tried to gather 0-elements from a list with non-fully-defined shape: ", shape.str());
  }
  std::vector<Tensor*> items;
  for (int64_t i = 0; i < indices->size(); ++i) {
    const int64_t at = indices->as<int32_t>()[i];
    if (at < 0 || at >= l->size) throw invalid("Trying to gather element ", at, " in a list with ", l->size, " elements.");
    Tensor* t = l->at(at);
    if (t && !(shape.full() && shape.fits(t->shape))) shape = merge(shape, PartialShape::of(t->shape));
    items.push_back(t);
  }
  if (!shape.full()) {
    throw invalid("Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: ", shape.str());
  }
  if (is_object(l->dtype)) return false;
  c.out[0] = stacked(l->dtype, [&](int64_t i) { return items[static_cast<size_t>(i)]; }, indices->size(), shape);
  return true;
}

TAPEFLOW_INPUTS(ConcatInputs, input_handle, element_shape, leading_dims);

bool concat(KernelCall& c, const ListOf& list, const ConcatInputs& in) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  const Tensor* leading = in.leading_dims;
  check_dtype(l, list.element_dtype.type());
  if (leading->rank() != 1) throw invalid("leading_dims must be a vector, but saw shape: ", leading->shape->str());
  const PartialShape shape = merge(PartialShape::parse(in.element_shape), *l->shape);
  if (shape.ranked && shape.dims.empty()) {
    throw invalid("Concat requires elements to be at least vectors, found scalars instead.");
  }
  const int64_t first = shape.ranked ? shape.dims[0] : -1;
  PartialShape row = shape.ranked ? shape.without_first() : PartialShape{};
  if (l->size == 0 && !row.full()) {
    throw invalid("All except the first dimension must be fully defined when concating an empty tensor list. element_shape: ",
                  shape.str());
  }
  int64_t common = first;  // the length of those that are set, where it is one
  bool differ = false;
  for (int64_t i = 0; i < l->size; ++i) {
    const Tensor* t = l->at(i);
    if (!t) continue;
    if (t->rank() == 0) throw invalid("Concat saw a scalar shape at index ", i, " but requires at least vectors.");
    if (first != -1 && t->dim(0) != first) {
      throw invalid("First entry of element_shape input does not match the first dim of list element at index: ", i,
                    " Expected: ", first, " Actual: ", t->dim(0));
    }
    row = merge(row, PartialShape::of(t->shape).without_first());
    differ = differ || (common != -1 && common != t->dim(0));
    common = t->dim(0);
  }
  if (!row.full()) {
    throw invalid("Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully defined: ",
                  row.str());
  }
  if (is_object(l->dtype)) return false;
  Scratch lengths(static_cast<size_t>(l->size + 1) * sizeof(int64_t));
  int64_t* n = lengths.as<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < l->size; ++i) {
    if (l->at(i)) {
      n[i] = l->at(i)->dim(0);
    } else if (i < leading->size()) {
      n[i] = leading->as<int64_t>()[i];
    } else if (common != -1 && !differ) {
      n[i] = common;
    } else {
      throw invalid("List contains uninitialized tensor at index ", i, " but leading_dims has only ", leading->size(), " elements.");
    }
    if (n[i] < 0) throw invalid("Invalid value in leading_dims: ", n[i]);
    if (__builtin_add_overflow(total, n[i], &total)) throw invalid("The joined elements would have more than 2**63 - 1 rows");
  }
  std::vector<int64_t> dims{total};
  dims.insert(dims.end(), row.dims.begin(), row.dims.end());
  ShapeRef whole(static_cast<int>(dims.size()), dims.data());
  Tensor* out = c.out[0] = new_tensor(l->dtype, whole.get());
  const int64_t row_bytes = row.shape()->size * item_size(l->dtype);
  char* to = out->data;
  for (int64_t i = 0; i < l->size; ++i) {
    const auto bytes = static_cast<size_t>(n[i] * row_bytes);
    if (l->at(i)) std::memcpy(to, l->at(i)->data, bytes);
    else std::memset(to, 0, bytes);
    to += bytes;
  }
  c.out[1] = new_tensor(DType::kInt64, 1, &l->size);
  std::copy(n, n + l->size, c.out[1]->as<int64_t>());
  return true;
}

// -- arithmetic: what sums of gradients need -------------------------------------------------------

Tensor* sum_of(Tensor* a, Tensor* b) {
  if (!a || !b) {
    Tensor* t = a ? a : b;
    return t ? shared(t) : nullptr;
  }
  OwnedTensor t(new_tensor(a->dtype, a->shape));
  std::memcpy(t->data, a->data, static_cast<size_t>(a->bytes()));
  if (add_in_place(t.get(), b)) return t.leak();
  throw invalid("lists of dtype ", dtype_name(a->dtype), " cannot be added");
}

// Whether the lists can be added here; others are Python's to add, or to say why they cannot be.
bool can_add(const KernelCall& c) {
  constexpr uint64_t native = bit(DType::kFloat32) | bit(DType::kFloat64) | bit(DType::kInt32) | bit(DType::kInt64);
  for (int k = 0; k < c.n_in; ++k) {
    if (c.in[k]->rank() != 0) return false;
    const TensorList *a = input_list(c, 0), *b = input_list(c, k);
    if (!a || !b || !(bit(a->dtype) & native) || a->dtype != b->dtype || a->size != b->size) return false;
    if (!a->shape->same(*b->shape) && a->shape->ranked && b->shape->ranked) return false;
  }
  return true;
}

// Adds the elements of b, which fit; memory that only `a` holds is added to in place.
void add_to(TensorList* a, const TensorList* b) {
  for (int64_t i = b->first; i < b->first + b->used; ++i) {
    Tensor *x = a->at(i), *y = b->at(i);
    if (!y) continue;
    if (x && !x->shape->same(y->shape)) {
      throw invalid("Trying to add two tensors with incompatible element shapes. One is ", x->shape->str(),
                    " and the other is ", y->shape->str());
    }
    if (!x || !x->unshared()) a->set(i, sum_of(x, y));
    else add_in_place(x, y);
  }
}

bool add_n(KernelCall& c) {
  if (!can_add(c)) return false;
  int into = 0;  // the one that is cheapest to add the others to
  for (int k = 1; k < c.n_in; ++k) {
    const bool longer = input_list(c, k)->used > input_list(c, into)->used;
    if (owned(c, k) ? longer || !owned(c, into) : longer && !owned(c, into)) into = k;
  }
  TensorList* sum = changed(c, into);
  sum->max_size = -1;
  for (int k = 0; k < c.n_in; ++k) {
    if (k == into) continue;
    const TensorList* l = input_list(c, k);
    if (l->shape->ranked) *sum->shape = *l->shape;
    add_to(sum, l);
  }
  return true;
}

bool zeros_like(KernelCall& c) {
  if (c.in[0]->rank() != 0) return false;
  const TensorList* l = input_list(c, 0);
  if (!l || is_object(l->dtype)) return false;
  Made z(new_list(l->dtype, *l->shape));
  z->resize(l->size);
  for (int64_t i = l->first; i < l->first + l->used; ++i) {
    if (l->at(i)) z->set(i, zeros(l->dtype, l->at(i)->shape));
  }
  c.out[0] = z.tensor();
  return true;
}

}  // namespace

void register_tensor_list_reading() {
  const std::initializer_list<DType> index = {DType::kInt32, DType::kInt64};
  register_kernel("TensorListLength", {DType::kInvalid}, length);
  register_kernel("TensorListElementShape", index, named<element_shape>);
  register_kernel("TensorListGetItem", index, named<get_item>);
  register_kernel("TensorListConcatV2", index, named<concat>);
  for (const auto& dtypes : {kPlainDTypes, kObjectDTypes}) {
    register_kernel("TensorListStack", dtypes, named<stack>);
    register_kernel("TensorListGather", dtypes, named<gather>);
  }
  register_kernel("AddN", {DType::kVariant}, add_n);
  register_kernel("ZerosLike", {DType::kVariant}, zeros_like);
}

}  // namespace tapeflow
