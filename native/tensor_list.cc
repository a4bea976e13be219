#include "tensor_list.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "arrays.h"
#include "ref.h"
#include "stack.h"
#include "tensor_type.h"

namespace tapeflow {

PyTypeObject* TensorListType = nullptr;

// -- partly known shapes ---------------------------------------------------------------------------

PartialShape PartialShape::of(const Shape* s) { return {true, {s->dims, s->dims + s->rank}}; }

PartialShape PartialShape::parse(const Tensor* t) {
  if (t->rank() > 1) throw invalid("Shape must be at most rank 1 but is rank ", t->rank());
  const auto at = [t](int64_t i) { return t->dtype == DType::kInt32 ? t->as<int32_t>()[i] : t->as<int64_t>()[i]; };
  if (t->rank() == 0) {
    if (at(0) != -1) throw invalid("The only valid scalar shape tensor is the fully unknown shape specified as -1.");
    return {};
  }
  if (t->size() > kMaxRank) throw invalid("Shape has ", t->size(), " dimensions, but at most ", kMaxRank, " are supported");
  PartialShape p{true, {}};
  for (int64_t i = 0; i < t->size(); ++i) {
    if (at(i) < -1) throw invalid("Dimension ", at(i), " must be >= -1");
    p.dims.push_back(at(i));
  }
  if (p.full()) p.shape();  // throws where the product overflows
  return p;
}

bool PartialShape::full() const {
  return ranked && std::none_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; });
}

bool PartialShape::fits(const Shape* s) const {
  if (!ranked) return true;
  if (static_cast<int>(dims.size()) != s->rank) return false;
  for (int i = 0; i < s->rank; ++i) {
    const int64_t d = dims[static_cast<size_t>(i)];
    if (d >= 0 && d != s->dims[i]) return false;
  }
  return true;
}

PartialShape PartialShape::without_first() const { return {true, {dims.begin() + 1, dims.end()}}; }

ShapeRef PartialShape::shape() const { return ShapeRef(static_cast<int>(dims.size()), dims.data()); }

std::string PartialShape::str() const {
  if (!ranked) return "<unknown>";
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ",";
    out += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return out + "]";
}

PartialShape merge(const PartialShape& a, const PartialShape& b) {
  if (!a.ranked) return b;
  if (!b.ranked) return a;
  if (a.dims.size() != b.dims.size()) {
    throw invalid("PartialTensorShape: Incompatible ranks during merge: ", a.dims.size(), " vs. ", b.dims.size());
  }
  PartialShape out = a;
  for (size_t i = 0; i < out.dims.size(); ++i) {
    if (out.dims[i] < 0) out.dims[i] = b.dims[i];
    else if (b.dims[i] >= 0 && b.dims[i] != out.dims[i]) {
      throw invalid("PartialTensorShape: Incompatible shapes during merge: ", a.str(), " vs. ", b.str());
    }
  }
  return out;
}

// -- the list --------------------------------------------------------------------------------------

namespace {

TensorList* list_of(PyObject* o) { return reinterpret_cast<TensorList*>(o); }

// Room for a window of n elements.
void make_room(TensorList* l, int64_t n) {
  if (n <= l->capacity) return;
  if (n > INT64_MAX / 16) throw exhausted("OOM when allocating a list of ", n, " tensors");
  const int64_t room = l->capacity == 0 ? n : std::max(n, l->capacity + l->capacity / 2 + 4);
  auto* p = static_cast<Tensor**>(std::realloc(l->items, static_cast<size_t>(room) * sizeof(Tensor*)));
  if (!p) throw exhausted("OOM when allocating a list of ", n, " tensors");
  l->items = p;
  l->capacity = room;
}

// Lets the window hold element i.
void reach(TensorList* l, int64_t i) {
  if (l->used == 0) {
    make_room(l, 1);
    l->first = i;
    l->items[0] = nullptr;
    l->used = 1;
  } else if (i >= l->first + l->used) {
    const int64_t n = i - l->first + 1;
    make_room(l, n);
    std::fill(l->items + l->used, l->items + n, nullptr);
    l->used = n;
  } else if (i < l->first) {  // down to the front at once: lists are filled backwards, too
    const int64_t n = l->first + l->used;
    make_room(l, n);
    std::memmove(l->items + l->first, l->items, static_cast<size_t>(l->used) * sizeof(Tensor*));
    std::fill(l->items, l->items + l->first, nullptr);
    l->first = 0;
    l->used = n;
  }
}

void list_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, list_dealloc)  // lists may hold lists, as deep as a program likes
  TensorList* l = list_of(self);
  for (int64_t i = l->used; i-- > 0;) Py_XDECREF(l->items[i]);
  std::free(l->items);
  delete l->shape;
  PyObject_GC_Del(self);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

int list_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  TensorList* l = list_of(self);
  for (int64_t i = 0; i < l->used; ++i) Py_VISIT(l->items[i]);
  return 0;
}

int list_clear(PyObject* self) {
  list_of(self)->resize(0);
  return 0;
}

Py_ssize_t list_length(PyObject* self) { return list_of(self)->size; }

PyObject* list_item(PyObject* self, PyObject* key) {
  TensorList* l = list_of(self);
  const Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred()) return nullptr;
  if (i < 0 || i >= l->size) return PyErr_Format(PyExc_IndexError, "%zd is not in [0, %zd)", i, l->size);
  Tensor* t = l->at(i);
  return Py_NewRef(t ? object(t) : Py_None);
}

PyObject* list_tensors(PyObject* self, PyObject*) {
  TensorList* l = list_of(self);
  if (l->size > INT32_MAX / 8) return PyErr_NoMemory();
  PyObject* out = PyList_New(l->size);
  for (int64_t i = 0; out && i < l->size; ++i) {
    Tensor* t = l->at(i);
    PyList_SET_ITEM(out, i, Py_NewRef(t ? object(t) : Py_None));
  }
  return out;
}

// Whether both are unset, or the same elements.
bool same_element(Tensor* a, Tensor* b) {
  if (a == b) return true;
  if (!a || !b || a->dtype != b->dtype || !a->shape->same(b->shape)) return false;
  if (a->data && b->data) return std::memcmp(a->data, b->data, static_cast<size_t>(a->bytes())) == 0;
  check_stack("a comparison of lists");  // which may hold lists
  const Ref x(to_array(a, false)), y(to_array(b, false));
  const Ref m(PyObject_CallMethod(x.get(), "tolist", nullptr)), n(PyObject_CallMethod(y.get(), "tolist", nullptr));
  const int same = PyObject_RichCompareBool(m.get(), n.get(), Py_EQ);
  if (same < 0) throw PythonError();
  return same == 1;
}

PyObject* list_compare(PyObject* self, PyObject* other, int how) {
  if ((how != Py_EQ && how != Py_NE) || !is_tensor_list(other)) Py_RETURN_NOTIMPLEMENTED;
  const TensorList *a = list_of(self), *b = list_of(other);
  return guarded([&] {
    bool same = a->dtype == b->dtype && a->size == b->size && a->shape->same(*b->shape);
    for (int64_t i = 0; same && i < std::min(a->size, b->size); ++i) same = same_element(a->at(i), b->at(i));
    return PyBool_FromLong(same == (how == Py_EQ));
  });
}

PyObject* list_repr(PyObject*) { return PyUnicode_FromString("<TensorList>"); }

PyObject* get_dtype(PyObject* self, void*) { return Py_NewRef(dtype_object(list_of(self)->dtype)); }
PyObject* get_max(PyObject* self, void*) { return PyLong_FromLongLong(list_of(self)->max_size); }
PyObject* get_shape(PyObject* self, void*) {
  const PartialShape& s = *list_of(self)->shape;
  if (!s.ranked) Py_RETURN_NONE;
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(s.dims.size()));
  for (size_t i = 0; out && i < s.dims.size(); ++i) {
    PyObject* d = s.dims[i] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(s.dims[i]);
    if (!d) Py_CLEAR(out);
    else PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), d);
  }
  return out;
}

bool read_shape(PyObject* o, PartialShape* out) {
  if (o == Py_None) return true;
  const Ref dims(PySequence_Tuple(o));
  out->ranked = true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dims.get()); ++i) {
    PyObject* d = PyTuple_GET_ITEM(dims.get(), i);
    const int64_t n = d == Py_None ? -1 : PyLong_AsLongLong(d);
    if (n == -1 && PyErr_Occurred()) return false;
    if (n < -1) {
      PyErr_Format(PyExc_ValueError, "Dimension %lld must be >= -1", static_cast<long long>(n));
      return false;
    }
    out->dims.push_back(n);
  }
  return true;
}

PyObject* list_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"tensors", "dtype", "element_shape", "max_num_elements", nullptr};
  PyObject *tensors, *dtype, *dims = Py_None;
  long long max_size = -1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OL", const_cast<char**>(names), &tensors, &dtype, &dims, &max_size)) return nullptr;
  PartialShape shape;
  if (!read_shape(dims, &shape)) throw PythonError();
  const Ref all(PySequence_Tuple(tensors));
  Ref made(reinterpret_cast<PyObject*>(new_list(parse_dtype(dtype), shape, max_size, PyTuple_GET_SIZE(all.get()))));
  TensorList* l = list_of(made.get());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
    PyObject* o = PyTuple_GET_ITEM(all.get(), i);
    if (o == Py_None) { l->append(nullptr); continue; }
    if (!is_tensor(o) || tensor(o)->dtype != l->dtype) throw invalid("element ", i, " is no ", dtype_name(l->dtype), " tensor");
    l->append(tensor(Py_NewRef(o)));
  }
  return made.release();
}

PyMethodDef list_methods[] = {
    {"tensors", entry<list_tensors>, METH_NOARGS, "The elements as a Python list; None stands for those not set."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef list_getset[] = {
    {"dtype", entry<get_dtype>, nullptr, "The DType of the elements.", nullptr},
    {"element_shape", entry<get_shape>, nullptr, "The shape of the elements: None, or a tuple of sizes and None.", nullptr},
    {"max_num_elements", entry<get_max>, nullptr, "The largest number of elements; -1: any.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
// A mapping, not a sequence: NumPy would take a sequence apart where it is to be one element of an array.
PyType_Slot list_slots[] = {
    {Py_tp_new, slot(entry<list_new>)},
    {Py_tp_dealloc, slot(list_dealloc)},
    {Py_tp_traverse, slot(list_traverse)},
    {Py_tp_clear, slot(list_clear)},
    {Py_tp_repr, slot(entry<list_repr>)},
    {Py_tp_richcompare, slot(entry<list_compare>)},
    {Py_tp_hash, slot(PyObject_HashNotImplemented)},
    {Py_mp_length, slot(entry<list_length>)},
    {Py_mp_subscript, slot(entry<list_item>)},
    {Py_tp_methods, list_methods},
    {Py_tp_getset, list_getset},
    {Py_tp_doc, const_cast<char*>("TensorList(tensors, dtype, element_shape=None, max_num_elements=-1): "
                                  "what a scalar variant tensor of the TensorList ops holds.")},
    {0, nullptr}};
PyType_Spec list_spec = {"tapeflow._native.TensorList", sizeof(TensorList), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, list_slots};

}  // namespace

void TensorList::append(Tensor* t) {
  resize(size + 1);
  if (t) set(size - 1, t);
}

void TensorList::resize(int64_t n) {
  while (used > 0 && first + used > n) {  // freeing may run code that looks at the list: shorten it first
    Tensor* t = items[--used];
    size = first + used;
    Py_XDECREF(t);
  }
  size = n;
}

void TensorList::set(int64_t i, Tensor* t) {
  try {
    reach(this, i);
  } catch (...) {
    Py_XDECREF(t);
    throw;
  }
  Tensor* before = items[i - first];
  items[i - first] = t;
  Py_XDECREF(before);
}

TensorList* new_list(DType dtype, PartialShape shape, int64_t max_size, int64_t room) {
  auto* l = PyObject_GC_New(TensorList, TensorListType);
  if (!l) throw PythonError();
  l->items = nullptr;
  l->size = l->first = l->used = l->capacity = 0;
  l->shape = nullptr;
  l->dtype = dtype;
  l->max_size = max_size;
  try {
    l->shape = new PartialShape(std::move(shape));
    make_room(l, room);
  } catch (...) {
    PyObject_GC_Track(l);
    Py_DECREF(l);
    throw;
  }
  PyObject_GC_Track(l);
  return l;
}

TensorList* copy_list(const TensorList* l, int64_t room) {
  TensorList* c = new_list(l->dtype, *l->shape, l->max_size, std::max(room, l->used));
  for (int64_t i = 0; i < l->used; ++i) c->items[i] = reinterpret_cast<Tensor*>(Py_XNewRef(reinterpret_cast<PyObject*>(l->items[i])));
  c->size = l->size;
  c->first = l->first;
  c->used = l->used;
  return c;
}

Tensor* list_tensor(TensorList* l) {
  ShapeRef s(Shape::scalar());
  return object_tensor(DType::kVariant, s.get(), reinterpret_cast<PyObject*>(l));
}

bool init_tensor_list(PyObject* module) {
  TensorListType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&list_spec));
  return TensorListType && PyModule_AddObjectRef(module, "TensorList", reinterpret_cast<PyObject*>(TensorListType)) == 0;
}

}  // namespace tapeflow
