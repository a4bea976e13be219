// Kernels of the TensorList ops: lists of tensors in scalar variant tensors.
//
// Elements are shared, never copied. A list that only the call's input holds, and that the caller gives up, is changed
// in place: that makes a loop that appends linear. Lists of strings and variants leave what builds tensors to Python.
#include "tensor_list.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/accumulate.h"
#include "kernels/registry.h"
#include "kernels/strided.h"

namespace tapeflow {
namespace {

// -- what the kernels check ------------------------------------------------------------------------

TensorList* input_list(const KernelCall& c, int i) {
  Tensor* t = c.in[i];
  if (t->rank() != 0) throw invalid("Input list must be a scalar saw: ", t->shape->str());
  return is_tensor_list(t->payload) ? reinterpret_cast<TensorList*>(t->payload) : nullptr;
}

void check_dtype(const TensorList* l, DType d) {
  if (l->dtype == d) return;
  throw invalid("Invalid data types; op elements ", dtype_short_name(d), " but list elements ", dtype_short_name(l->dtype));
}

int64_t scalar_of(const Tensor* t, const char* message) {
  if (t->size() != 1) throw invalid(message);
  return *t->as<int32_t>();
}

void at_least_vector(const Tensor* t) {
  if (t->rank() < 1) throw invalid("Tensor must be at least a vector, but saw shape: ", t->shape->str());
}

void check_rows(const PartialShape& list, const Shape* rows) {
  if (!list.fits(rows)) throw invalid("Specified a list with shape ", list.str(), " from a tensor with shape ", rows->str());
}

// -- lists as results ------------------------------------------------------------------------------

// Owns a list until it becomes an output.
class Made {
 public:
  explicit Made(TensorList* l) : l_(l) {}
  ~Made() { Py_XDECREF(reinterpret_cast<PyObject*>(l_)); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  TensorList* operator->() const { return l_; }
  TensorList* get() const { return l_; }
  Tensor* tensor() {
    TensorList* l = l_;
    l_ = nullptr;
    return list_tensor(l);
  }

 private:
  TensorList* l_;
};

// Whether the list of input i may be changed: it dies with this call, and nobody else sees it.
bool owned(const KernelCall& c, int i) {
  Tensor* t = c.in[i];
  return i < 64 && (c.dying >> i & 1) && Py_REFCNT(t) == 1 && Py_REFCNT(t->payload) == 1 && !t->dict && !t->weakrefs;
}

// The list of input i, ready to be changed, as the output.
TensorList* changed(KernelCall& c, int i, int64_t room = 0) {
  if (owned(c, i)) {
    Tensor* t = c.in[i];
    t->id = next_tensor_id();
    t->watch = 0;
    c.out[0] = reinterpret_cast<Tensor*>(Py_NewRef(reinterpret_cast<PyObject*>(t)));
  } else {
    c.out[0] = list_tensor(copy_list(reinterpret_cast<TensorList*>(c.in[i]->payload), room));
  }
  return reinterpret_cast<TensorList*>(c.out[0]->payload);
}

Tensor* shared(Tensor* t) { return reinterpret_cast<Tensor*>(Py_NewRef(reinterpret_cast<PyObject*>(t))); }

Tensor* zeros(DType d, Shape* shape) {
  Tensor* t = new_tensor(d, shape);
  std::memset(t->data, 0, static_cast<size_t>(t->bytes()));
  return t;
}

// t's rows, each an element of the list; they share t's memory.
ShapeRef row_shape(const Tensor* t) { return ShapeRef(t->rank() - 1, t->shape->dims + 1); }

// -- making lists ----------------------------------------------------------------------------------

bool empty_list(KernelCall& c) {
  if (c.in[1]->rank() != 0) throw invalid("max_num_elements expected to be a scalar but got shape: ", c.in[1]->shape->str());
  c.out[0] = list_tensor(new_list(c.attrs[0].type(), PartialShape::parse(c.in[0]), *c.in[1]->as<int32_t>()));
  return true;
}

bool reserve(KernelCall& c) {
  if (c.in[1]->rank() != 0) {
    throw invalid("The num_elements to reserve must be a tensor size 1, but got ", c.in[1]->shape->str());
  }
  const int64_t n = *c.in[1]->as<int32_t>();
  if (n < 0) throw invalid("The num_elements to reserve must be a non negative number, but got ", n);
  Made l(new_list(c.attrs[0].type(), PartialShape::parse(c.in[0])));
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

bool split(KernelCall& c) {
  Tensor* t = c.in[0];
  const Tensor* lengths = c.in[2];
  const PartialShape shape = PartialShape::parse(c.in[1]);
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

bool scatter(KernelCall& c) {
  Tensor* t = c.in[0];
  const Tensor* indices = c.in[1];
  const PartialShape shape = PartialShape::parse(c.in[2]);
  if (c.in[3]->rank() != 0) throw invalid("num_elements must be a scalar");
  const int64_t n = *c.in[3]->as<int32_t>();
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

bool scatter_into(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  Tensor* t = c.in[1];
  const Tensor* indices = c.in[2];
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

bool pop_back(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, c.attrs[0].type());
  if (l->size == 0) throw invalid("Trying to pop from an empty list.");
  Tensor* last = l->at(l->size - 1);
  if (last) {
    last = shared(last);
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

bool set_item(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  Tensor* item = c.in[2];
  check_dtype(l, item->dtype);
  const int64_t at = scalar_of(c.in[1], "index must be a scalar");
  const bool grows = c.attrs[0].b() && at >= l->size;
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

bool concat_lists(KernelCall& c) {
  if (!c.in[0]->shape->same(c.in[1]->shape)) {
    throw invalid("Incompatible input TensorList tensor shapes: ", c.in[0]->shape->str(), " vs. ", c.in[1]->shape->str());
  }
  if (c.in[0]->rank() != 0) return false;
  const TensorList *a = input_list(c, 0), *b = input_list(c, 1);
  if (!a || !b) return false;
  const DType d = c.attrs[0].type();
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

// -- reading lists ---------------------------------------------------------------------------------

bool length(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  if (l->size > INT32_MAX) throw invalid("the list has ", l->size, " elements, more than int32 can say");
  c.out[0] = scalar_tensor(static_cast<int32_t>(l->size));
  return true;
}

bool element_shape(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  const PartialShape& s = *l->shape;
  const bool wide = c.attrs[0].type() == DType::kInt64;
  const auto n = static_cast<int64_t>(s.dims.size());
  Tensor* out = c.out[0] = new_tensor(c.attrs[0].type(), s.ranked ? 1 : 0, &n);
  for (int64_t i = 0; i < out->size(); ++i) {
    const int64_t d = s.ranked ? s.dims[static_cast<size_t>(i)] : -1;
    if (wide) out->as<int64_t>()[i] = d;
    else out->as<int32_t>()[i] = static_cast<int32_t>(d);
  }
  return true;
}

bool get_item(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, c.attrs[0].type());
  const int64_t at = scalar_of(c.in[1], "index must be a scalar");
  if (at < 0 || at >= l->size) throw invalid("Trying to access element ", at, " in a list with ", l->size, " elements.");
  if (Tensor* t = l->at(at)) {
    c.out[0] = shared(t);
    return true;
  }
  PartialShape shape = merge(PartialShape::parse(c.in[2]), *l->shape);
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

bool stack(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, c.attrs[0].type());
  PartialShape shape = merge(PartialShape::parse(c.in[1]), *l->shape);
  const int64_t wanted = c.attrs[1].i;
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

bool gather(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  check_dtype(l, c.attrs[0].type());
  const Tensor* indices = c.in[1];
  PartialShape shape = merge(PartialShape::parse(c.in[2]), *l->shape);
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

bool concat(KernelCall& c) {
  const TensorList* l = input_list(c, 0);
  if (!l) return false;
  const Tensor* leading = c.in[2];
  check_dtype(l, c.attrs[0].type());
  if (leading->rank() != 1) throw invalid("leading_dims must be a vector, but saw shape: ", leading->shape->str());
  const PartialShape shape = merge(PartialShape::parse(c.in[1]), *l->shape);
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
  Tensor* t = new_tensor(a->dtype, a->shape);
  std::memcpy(t->data, a->data, static_cast<size_t>(a->bytes()));
  if (add_in_place(t, b)) return t;
  Py_DECREF(reinterpret_cast<PyObject*>(t));
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

void register_tensor_list() {
  const std::initializer_list<DType> any = {DType::kInvalid}, index = {DType::kInt32, DType::kInt64};
  register_kernel("TensorListLength", any, length);
  register_kernel("TensorListResize", any, resize);
  register_kernel("EmptyTensorList", index, empty_list);
  register_kernel("TensorListReserve", index, reserve);
  register_kernel("TensorListElementShape", index, element_shape);
  register_kernel("TensorListGetItem", index, get_item);
  register_kernel("TensorListConcatV2", index, concat);
  for (const auto& dtypes : {kPlainDTypes, kObjectDTypes}) {
    register_kernel("TensorListPushBack", dtypes, push_back);
    register_kernel("TensorListPopBack", dtypes, pop_back);
    register_kernel("TensorListSetItem", dtypes, set_item);
    register_kernel("TensorListStack", dtypes, stack);
    register_kernel("TensorListGather", dtypes, gather);
    register_kernel("TensorListConcatLists", dtypes, concat_lists);
  }
  register_kernel("TensorListFromTensor", kPlainDTypes, from_tensor);
  register_kernel("TensorListSplit", kPlainDTypes, split);
  register_kernel("TensorListScatterV2", kPlainDTypes, scatter);
  register_kernel("TensorListScatterIntoExistingList", kPlainDTypes, scatter_into);
  register_kernel("AddN", {DType::kVariant}, add_n);
  register_kernel("ZerosLike", {DType::kVariant}, zeros_like);
}

}  // namespace tapeflow
