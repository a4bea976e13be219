// What a tensor is to Python: a number, a container, a buffer, and what a Reference to it is.
#include <Python.h>
#include <structmember.h>

#include <cstddef>

#include "arrays.h"
#include "tensor_type.h"

namespace tapeflow {

namespace {

template <typename F>
auto with_array(PyObject* o, F&& f, decltype(f(o)) error) {
  PyObject* a = guarded([&] { return to_array(tensor(o), false); });
  if (!a) return error;
  auto r = f(a);
  Py_DECREF(a);
  return r;
}

bool plain_scalar(const Tensor* t) { return t->rank() == 0 && t->on_host(); }

struct Iterator {
  PyObject_HEAD
  Tensor* over;
  Count<int64_t> last;  // counted from 1
};
PyTypeObject* IteratorType;

PyObject* iterator_next(PyObject* self) {
  auto* it = reinterpret_cast<Iterator*>(self);
  if (it->last.n >= it->over->dim(0)) return nullptr;
  const int64_t next = it->last.next() - 1;
  if (next >= it->over->dim(0)) return nullptr;  // another thread was faster
  return tensor_getitem(object(it->over), Ref(PyLong_FromLongLong(next)).get());
}

void iterator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(object(reinterpret_cast<Iterator*>(self)->over));
  PyObject_Free(self);
  Py_DECREF(type);
}

PyType_Slot iterator_slots[] = {{Py_tp_iter, slot(PyObject_SelfIter)},
                                {Py_tp_iternext, slot(entry<iterator_next>)},
                                {Py_tp_dealloc, slot(iterator_dealloc)},
                                {0, nullptr}};
PyType_Spec iterator_spec = {"tapeflow._native.TensorIterator", sizeof(Iterator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, iterator_slots};

const char* format_of(DType d) {
  switch (d) {
    case DType::kFloat32: return "f";
    case DType::kFloat64: return "d";
    case DType::kFloat16: return "e";
    case DType::kInt8: return "b";
    case DType::kUInt8: return "B";
    case DType::kInt16: return "h";
    case DType::kUInt16: return "H";
    case DType::kInt32: return "i";
    case DType::kUInt32: return "I";
    case DType::kInt64: return sizeof(long) == 8 ? "l" : "q";
    case DType::kUInt64: return sizeof(long) == 8 ? "L" : "Q";
    case DType::kBool: return "?";
    case DType::kComplex64: return "Zf";
    case DType::kComplex128: return "Zd";
    default: return nullptr;
  }
}

// -- Reference -------------------------------------------------------------------------------------

struct Reference {
  PyObject_HEAD
  PyObject* to;
  PyObject* weakrefs;
};
PyTypeObject* ReferenceType;

PyObject* target(PyObject* self) { return reinterpret_cast<Reference*>(self)->to; }

PyObject* reference_deref(PyObject* self, PyObject*) { return Py_NewRef(target(self)); }

PyObject* reference_compare(PyObject* self, PyObject* other, int how) {
  if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  const bool same = Py_TYPE(other) == ReferenceType && target(self) == target(other);
  return PyBool_FromLong(same == (how == Py_EQ));
}

Py_hash_t reference_hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(target(self)) >> 4);
}

PyObject* reference_repr(PyObject* self) { return PyUnicode_FromFormat("<Reference wrapping %R>", target(self)); }

int reference_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(target(self));
  return 0;
}

void reference_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<Reference*>(self)->weakrefs) PyObject_ClearWeakRefs(self);
  Py_DECREF(target(self));
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMethodDef reference_methods[] = {
    {"deref", entry<reference_deref>, METH_NOARGS, "The object that this refers to."}, {nullptr, nullptr, 0, nullptr}};
PyMemberDef reference_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Reference, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot reference_slots[] = {{Py_tp_methods, reference_methods},
                                 {Py_tp_members, reference_members},
                                 {Py_tp_richcompare, slot(entry<reference_compare>)},
                                 {Py_tp_hash, slot(entry<reference_hash>)},
                                 {Py_tp_repr, slot(entry<reference_repr>)},
                                 {Py_tp_traverse, slot(reference_traverse)},
                                 {Py_tp_dealloc, slot(reference_dealloc)},
                                 {0, nullptr}};
PyType_Spec reference_spec = {"tapeflow._native.Reference", sizeof(Reference), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              reference_slots};

}  // namespace

// -- as a Python number ----------------------------------------------------------------------------

int tensor_bool(PyObject* o) {
  const Tensor* t = tensor(o);
  if (t->on_host() && t->size() == 1) {
    switch (t->dtype) {
      case DType::kBool: return *t->as<bool>();
      case DType::kInt32: return *t->as<int32_t>() != 0;
      case DType::kInt64: return *t->as<int64_t>() != 0;
      case DType::kFloat32: return *t->as<float>() != 0;
      case DType::kFloat64: return *t->as<double>() != 0;
      default: break;
    }
  }
  return with_array(o, [](PyObject* a) { return PyObject_IsTrue(a); }, -1);
}

PyObject* tensor_int(PyObject* o) {
  const Tensor* t = tensor(o);
  if (plain_scalar(t)) {
    if (t->dtype == DType::kInt32) return PyLong_FromLong(*t->as<int32_t>());
    if (t->dtype == DType::kInt64) return PyLong_FromLongLong(*t->as<int64_t>());
  }
  return with_array(o, [](PyObject* a) { return PyNumber_Long(a); }, nullptr);
}

PyObject* tensor_float(PyObject* o) {
  const Tensor* t = tensor(o);
  if (plain_scalar(t)) {
    if (t->dtype == DType::kFloat32) return PyFloat_FromDouble(*t->as<float>());
    if (t->dtype == DType::kFloat64) return PyFloat_FromDouble(*t->as<double>());
  }
  return with_array(o, [](PyObject* a) { return PyNumber_Float(a); }, nullptr);
}

PyObject* tensor_index(PyObject* o) {
  const Tensor* t = tensor(o);
  if (!is_integer(t->dtype) || t->rank() != 0) {
    PyErr_SetString(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
    return nullptr;
  }
  return tensor_int(o);
}

PyObject* tensor_complex(PyObject* o, PyObject*) {
  return with_array(
      o, [](PyObject* a) { return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), a); }, nullptr);
}

// -- as a container --------------------------------------------------------------------------------

Py_ssize_t tensor_length(PyObject* o) {
  if (tensor(o)->rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
    return -1;
  }
  return tensor(o)->dim(0);
}

PyObject* tensor_iterate(PyObject* o) {
  if (tensor(o)->rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    return nullptr;
  }
  auto* it = PyObject_New(Iterator, IteratorType);
  if (!it) return nullptr;
  it->over = tensor(Py_NewRef(o));
  it->last = {0};
  return reinterpret_cast<PyObject*>(it);
}

// -- the buffer protocol ---------------------------------------------------------------------------

int tensor_get_buffer(PyObject* o, Py_buffer* view, int flags) {
  Tensor* t = tensor(o);
  view->obj = nullptr;
  const char* format = format_of(t->dtype);
  if (!t->on_host() || !format) {
    PyErr_Format(PyExc_BufferError, "Tensors of dtype %s on this device have no buffer", dtype_name(t->dtype));
    return -1;
  }
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "Tensors are read-only");
    return -1;
  }
  const int n = t->rank();
  if (n > PyBUF_MAX_NDIM && (flags & PyBUF_ND)) {
    PyErr_Format(PyExc_BufferError, "Buffers have at most %d dimensions, the tensor has %d", PyBUF_MAX_NDIM, n);
    return -1;
  }
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && n > 1) {
    PyErr_SetString(PyExc_BufferError, "Tensors are C-contiguous");
    return -1;
  }
  Py_ssize_t* strides = nullptr;
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES && n > 0) {
    strides = static_cast<Py_ssize_t*>(PyMem_Malloc(sizeof(Py_ssize_t) * static_cast<size_t>(n)));
    if (!strides) {
      PyErr_NoMemory();
      return -1;
    }
    Py_ssize_t step = item_size(t->dtype);
    for (int i = n - 1; i >= 0; --i) {
      strides[i] = step;
      step *= t->dim(i) > 0 ? t->dim(i) : 1;
    }
  }
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  view->obj = Py_NewRef(o);
  view->buf = t->data;
  view->len = t->bytes();
  view->itemsize = item_size(t->dtype);
  view->readonly = 1;
  view->ndim = (flags & PyBUF_ND) ? n : 1;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) && n ? reinterpret_cast<Py_ssize_t*>(t->shape->dims) : nullptr;
  view->strides = strides;
  view->suboffsets = nullptr;
  view->internal = strides;
  return 0;
}

void tensor_release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

PyObject* make_reference(PyObject* o) {
  auto* r = PyObject_GC_New(Reference, ReferenceType);
  if (!r) return nullptr;
  r->to = Py_NewRef(o);
  r->weakrefs = nullptr;
  PyObject_GC_Track(r);
  return reinterpret_cast<PyObject*>(r);
}

bool init_tensor_protocols(PyObject* module) {
  IteratorType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&iterator_spec));
  ReferenceType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&reference_spec));
  return IteratorType && ReferenceType &&
         PyModule_AddObjectRef(module, "Reference", reinterpret_cast<PyObject*>(ReferenceType)) == 0;
}

}  // namespace tapeflow
