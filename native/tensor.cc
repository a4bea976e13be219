// The tensor object: its birth and death, and its face in Python.
#include "ref.h"
#include "tensor.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "arrays.h"
#include "eternal.h"
#include "tensor_list.h"
#include "tensor_type.h"

namespace tapeflow {

PyTypeObject* TensorBaseType;
PyTypeObject* TensorType;

namespace {

constexpr int kFreeMax = kFreeThreads ? 0 : 512;  // without a GIL, the interpreter's allocator has a list for each thread
Tensor* free_tensors[std::max(kFreeMax, 1)];
int n_free;
Count<int64_t> last_id;  // without a GIL, of the last block of ids that a thread took

Shared<PyObject*> device_names;    // list of str
Shared<PyObject*> copy_to_device;  // (tensor, device name) -> tensor

// The object alone, without memory; takes over the shape's reference. The collector tracks a
// tensor only once it can be part of a cycle.
inline Tensor* make(DType dtype, Shape* shape) {
  Tensor* t;
  if (kFreeMax > 0 && n_free > 0) {
    t = free_tensors[--n_free];
    PyObject_Init(object(t), TensorType);
  } else {
    t = PyObject_GC_New(Tensor, TensorType);
    if (!t) {
      shape->release();
      throw PythonError();
    }
  }
  t->shape = shape;
  t->buffer = nullptr;
  t->data = nullptr;
  t->payload = nullptr;
  t->id = next_tensor_id();
  t->watch = {0};
  t->watch_epoch = {0};
  t->dtype = dtype;
  t->device = 0;
  t->dict = nullptr;
  t->weakrefs = nullptr;
  return t;
}

void track(Tensor* t) {
  const Critical alone(object(t));
  if ((t->dict || t->payload) && !PyObject_GC_IsTracked(object(t))) PyObject_GC_Track(object(t));
}

void dealloc(PyObject* o) {
  Tensor* t = tensor(o);
  if (PyObject_GC_IsTracked(o)) PyObject_GC_UnTrack(o);
  if (t->weakrefs) PyObject_ClearWeakRefs(o);
  Py_CLEAR(t->dict);
  Py_CLEAR(t->payload);
  if (t->buffer) t->buffer->release();
  t->shape->release();
  PyTypeObject* type = Py_TYPE(o);
  if (n_free < kFreeMax) free_tensors[n_free++] = t;
  else PyObject_GC_Del(o);
  Py_DECREF(type);
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(tensor(o)->dict);
  Py_VISIT(tensor(o)->payload);
  return 0;
}

int clear(PyObject* o) {
  Py_CLEAR(tensor(o)->dict);  // the payload stays: a tensor without elements would not be one
  return 0;
}

int set_attribute(PyObject* o, PyObject* name, PyObject* value) {
  const int r = PyObject_GenericSetAttr(o, name, value);
  track(tensor(o));
  return r;
}

PyObject* get_dict(PyObject* o, void*) {
  PyObject* d = PyObject_GenericGetDict(o, nullptr);
  track(tensor(o));
  return d;
}

// -- properties ------------------------------------------------------------------------------------

PyObject* get_dtype(PyObject* o, void*) {
  PyObject* d = dtype_object(tensor(o)->dtype);
  return d ? Py_NewRef(d) : PyErr_Format(PyExc_RuntimeError, "dtype %s is not registered",
                                         dtype_name(tensor(o)->dtype));
}
PyObject* get_shape(PyObject* o, void*) { return tensor_shape_object(tensor(o)->shape); }
PyObject* get_shape_method(PyObject* o, PyObject*) { return tensor_shape_object(tensor(o)->shape); }
PyObject* get_ndim(PyObject* o, void*) { return PyLong_FromLong(tensor(o)->rank()); }
PyObject* get_id(PyObject* o, void*) { return PyLong_FromLongLong(tensor(o)->id); }
PyObject* get_nbytes(PyObject* o, void*) { return PyLong_FromLongLong(tensor(o)->bytes()); }
PyObject* get_itemsize(PyObject* o, void*) { return PyLong_FromLong(item_size(tensor(o)->dtype)); }
PyObject* get_none(PyObject*, void*) { Py_RETURN_NONE; }

PyObject* get_device(PyObject* o, void*) {
  const Py_ssize_t i = tensor(o)->device;
  PyObject* names = device_names;
  if (names && i < PyList_GET_SIZE(names)) return Py_NewRef(PyList_GET_ITEM(names, i));
  return PyUnicode_FromFormat("/job:localhost/replica:0/task:0/device:%s:%zd", i ? "GPU" : "CPU", i ? i - 1 : i);
}

PyObject* get_undefined(PyObject*, void* name) {
  return PyErr_Format(PyExc_AttributeError, "Tensor.%s is undefined when eager execution is enabled.",
                      static_cast<const char*>(name));
}

PyGetSetDef eager_getset[] = {
    {"__dict__", entry<get_dict>, PyObject_GenericSetDict, nullptr, nullptr},
    {"dtype", entry<get_dtype>, nullptr, "The DType of the elements.", nullptr},
    {"shape", entry<get_shape>, nullptr, "The TensorShape.", nullptr},
    {"ndim", entry<get_ndim>, nullptr, "The number of axes.", nullptr},
    {"device", entry<get_device>, nullptr, "The name of the device that holds the elements.", nullptr},
    {"backing_device", entry<get_device>, nullptr, "The name of the device that holds the elements.", nullptr},
    {"nbytes", entry<get_nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"itemsize", entry<get_itemsize>, nullptr, "Bytes of one element.", nullptr},
    {"_id", entry<get_id>, nullptr, nullptr, nullptr},
    {"_handle_data", entry<get_none>, nullptr, nullptr, nullptr},
    {"name", entry<get_undefined>, nullptr, nullptr, const_cast<char*>("name")},
    {"op", entry<get_undefined>, nullptr, nullptr, const_cast<char*>("op")},
    {"graph", entry<get_undefined>, nullptr, nullptr, const_cast<char*>("graph")},
    {"value_index", entry<get_undefined>, nullptr, nullptr, const_cast<char*>("value_index")},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// -- methods ---------------------------------------------------------------------------------------

// What the elements are for NumPy: those of quantized dtypes are plain integers there.
DType shown_as(DType d) {
  switch (d) {
    case DType::kQInt8: return DType::kInt8;
    case DType::kQUInt8: return DType::kUInt8;
    case DType::kQInt16: return DType::kInt16;
    case DType::kQUInt16: return DType::kUInt16;
    case DType::kQInt32: return DType::kInt32;
    default: return d;
  }
}

PyObject* to_shown_array(Tensor* t, bool own) {
  PyObject* a = to_array(t, own);
  const DType shown = shown_as(t->dtype);
  if (!a || shown == t->dtype || !PyArray_Check(a)) return a;
  const Ref array(a);
  PyObject* d = numpy_dtype_object(shown);
  if (!d) return nullptr;
  Py_INCREF(d);  // PyArray_View takes it over
  return PyArray_View(reinterpret_cast<PyArrayObject*>(a), reinterpret_cast<PyArray_Descr*>(d), nullptr);
}

PyObject* numpy(PyObject* o, PyObject*) {
  Tensor* t = tensor(o);
  if (t->rank() == 0 && t->on_host()) {
    if (PyObject* d = numpy_dtype_object(shown_as(t->dtype))) {
      return PyArray_Scalar(t->data, reinterpret_cast<PyArray_Descr*>(d), nullptr);
    }
  }
  PyObject* a = guarded([&] { return to_shown_array(t, true); });
  if (!a || !PyArray_Check(a)) return a;
  return PyArray_Return(reinterpret_cast<PyArrayObject*>(a));  // an array of rank 0 becomes its element
}

PyObject* to_ndarray(PyObject* o, PyObject* args, PyObject* kwargs) {
  const char* keywords[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", const_cast<char**>(keywords), &dtype, &copy)) return nullptr;
  int wants_copy = 0;
  if (copy != Py_None && (wants_copy = PyObject_IsTrue(copy)) < 0) return nullptr;
  PyArray_Descr* d = nullptr;
  if (dtype != Py_None && !PyArray_DescrConverter(dtype, &d)) return nullptr;
  Ref wanted = Ref::or_null(reinterpret_cast<PyObject*>(d));
  // Strings lie in an array that could be written to.
  const bool own = wants_copy || (is_object(tensor(o)->dtype) && copy == Py_None);
  Ref a(to_shown_array(tensor(o), own));
  if (!own && is_object(tensor(o)->dtype)) {
    a = Ref(PyArray_View(reinterpret_cast<PyArrayObject*>(a.get()), nullptr, nullptr));
    PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(a.get()), NPY_ARRAY_WRITEABLE);
  }
  auto* array = reinterpret_cast<PyArrayObject*>(a.get());
  if (!d || PyArray_EquivTypes(d, PyArray_DESCR(array))) return a.release();
  if (copy != Py_None && !wants_copy) {
    PyErr_SetString(PyExc_ValueError, "Unable to avoid copy while creating an array as requested.");
    return nullptr;
  }
  return PyArray_CastToType(array, reinterpret_cast<PyArray_Descr*>(wanted.release()), 0);
}

PyObject* set_shape(PyObject* o, PyObject* shape) {
  const Ref mine(tensor_shape_object(tensor(o)->shape)), r(PyObject_CallMethod(mine.get(), "is_compatible_with", "(O)", shape));
  const int fits = PyObject_IsTrue(r.get());
  if (fits == 0) {
    PyErr_Format(PyExc_ValueError, "Tensor's shape %S is not compatible with supplied shape %S.", mine.get(), shape);
  }
  if (fits <= 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* move(PyObject* o, PyObject* device) {
  if (!copy_to_device) {
    return PyErr_Format(PyExc_RuntimeError,
                        "%S unknown device. All available devices [/job:localhost/replica:0/task:0/device:CPU:0].",
                        device);
  }
  PyObject* args[] = {o, device};
  return PyObject_Vectorcall(copy_to_device, args, 2, nullptr);
}

PyObject* cpu(PyObject* o, PyObject*) {
  if (tensor(o)->device == 0) return Py_NewRef(o);
  return move(o, Ref(PyUnicode_FromString("CPU:0")).get());
}

PyObject* gpu(PyObject* o, PyObject* args, PyObject* kwargs) {
  const char* keywords[] = {"gpu_index", nullptr};
  int i = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|i", const_cast<char**>(keywords), &i)) return nullptr;
  return move(o, Ref(PyUnicode_FromFormat("GPU:%d", i)).get());
}

PyObject* copy_to(PyObject* o, PyObject* args, PyObject* kwargs) {
  const char* keywords[] = {"ctx", "device_name", nullptr};
  PyObject *ctx = Py_None, *device = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", const_cast<char**>(keywords), &ctx, &device)) return nullptr;
  return device == Py_None ? Py_NewRef(o) : move(o, device);
}

PyObject* consumers(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError, "Tensor.consumers is undefined when eager execution is enabled.");
  return nullptr;
}

PyObject* eval(PyObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError,
                  "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?");
  return nullptr;
}

PyObject* itself(PyObject* o, PyObject*) { return Py_NewRef(o); }  // copies of what cannot change

PyObject* rebuild;

PyObject* reduce(PyObject* o, PyObject*) {
  PyObject* a = guarded([&] { return to_array(tensor(o), true); });
  return a ? Py_BuildValue("O(Ni)", rebuild, a, static_cast<int>(tensor(o)->dtype)) : nullptr;
}

PyObject* by_hook(PyObject* hook, PyObject* o) {
  return hook ? PyObject_CallOneArg(hook, o) : PyBaseObject_Type.tp_repr(o);
}
PyObject* to_str(PyObject* o) { return by_hook(hooks.to_str, o); }
PyObject* to_repr(PyObject* o) { return by_hook(hooks.to_repr, o); }

PyObject* to_format(PyObject* o, PyObject* spec) {
  if (!hooks.to_format) return PyObject_Str(o);
  PyObject* args[] = {o, spec};
  return PyObject_Vectorcall(hooks.to_format, args, 2, nullptr);
}

PyObject* ref(PyObject* o, PyObject*) { return make_reference(o); }

constexpr int kKeywords = METH_VARARGS | METH_KEYWORDS;

PyMethodDef base_methods[] = {
    {"ref", entry<ref>, METH_NOARGS, "A hashable reference to this tensor; its deref() gives the tensor back."},
    {"experimental_ref", entry<ref>, METH_NOARGS, "ref()"},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef eager_methods[] = {
    {"numpy", entry<numpy>, METH_NOARGS, "A copy of the elements: a NumPy array, or for a scalar a NumPy scalar."},
    {"__array__", method(entry<to_ndarray>), kKeywords, "__array__(dtype=None, copy=None)"},
    {"__complex__", entry<tensor_complex>, METH_NOARGS, nullptr},
    {"__copy__", entry<itself>, METH_NOARGS, nullptr},
    {"__deepcopy__", entry<itself>, METH_O, nullptr},
    {"__reduce__", entry<reduce>, METH_NOARGS, nullptr},
    {"__format__", entry<to_format>, METH_O, nullptr},
    {"__dlpack__", method(entry<tensor_dlpack>), kKeywords,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)"},
    {"__dlpack_device__", entry<tensor_dlpack_device>, METH_NOARGS, nullptr},
    {"get_shape", entry<get_shape_method>, METH_NOARGS, "The TensorShape."},
    {"set_shape", entry<set_shape>, METH_O, "Checks that the shape is compatible; raises ValueError."},
    {"cpu", entry<cpu>, METH_NOARGS, "This tensor on the host."},
    {"gpu", method(entry<gpu>), kKeywords, "gpu(gpu_index=0): a copy on an accelerator."},
    {"_copy", method(entry<copy_to>), kKeywords, "_copy(ctx=None, device_name=None)"},
    {"consumers", entry<consumers>, METH_NOARGS, nullptr},
    {"eval", method(entry<eval>), kKeywords, nullptr},
    {nullptr, nullptr, 0, nullptr}};

// -- the types -------------------------------------------------------------------------------------

PyMemberDef eager_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Tensor, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tensor, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

bool make_types(PyObject* module) {
  const PyNumberMethods& n = tensor_number_methods;
  PyType_Slot base_slots[] = {
      {Py_tp_doc, const_cast<char*>("An array of elements of one dtype.")},
      {Py_tp_methods, base_methods},
      {Py_tp_richcompare, slot(entry<tensor_richcompare>)},
      {Py_tp_hash, slot(entry<tensor_hash>)},
      {Py_mp_subscript, slot(entry<tensor_getitem>)},
      {Py_nb_add, slot(n.nb_add)},
      {Py_nb_subtract, slot(n.nb_subtract)},
      {Py_nb_multiply, slot(n.nb_multiply)},
      {Py_nb_true_divide, slot(n.nb_true_divide)},
      {Py_nb_floor_divide, slot(n.nb_floor_divide)},
      {Py_nb_remainder, slot(n.nb_remainder)},
      {Py_nb_power, slot(n.nb_power)},
      {Py_nb_matrix_multiply, slot(n.nb_matrix_multiply)},
      {Py_nb_and, slot(n.nb_and)},
      {Py_nb_or, slot(n.nb_or)},
      {Py_nb_xor, slot(n.nb_xor)},
      {Py_nb_invert, slot(n.nb_invert)},
      {Py_nb_negative, slot(n.nb_negative)},
      {Py_nb_absolute, slot(n.nb_absolute)},
      {Py_nb_positive, slot(n.nb_positive)},
      {0, nullptr}};
  PyType_Spec base_spec = {"tapeflow.Tensor", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           base_slots};
  TensorBaseType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&base_spec));
  if (!TensorBaseType) return false;

  PyType_Slot eager_slots[] = {
      {Py_tp_doc, const_cast<char*>("A tensor whose elements are known.")},
      {Py_tp_methods, eager_methods},
      {Py_tp_getset, eager_getset},
      {Py_tp_members, eager_members},
      {Py_tp_dealloc, slot(dealloc)},
      {Py_tp_traverse, slot(traverse)},
      {Py_tp_clear, slot(clear)},
      {Py_tp_setattro, slot(entry<set_attribute>)},
      {Py_tp_richcompare, slot(entry<tensor_richcompare>)},
      {Py_tp_hash, slot(entry<tensor_hash>)},
      {Py_tp_iter, slot(entry<tensor_iterate>)},
      {Py_tp_str, slot(entry<to_str>)},
      {Py_tp_repr, slot(entry<to_repr>)},
      {Py_mp_length, slot(entry<tensor_length>)},
      {Py_mp_subscript, slot(entry<tensor_getitem>)},
      {Py_nb_bool, slot(entry<tensor_bool>)},
      {Py_nb_int, slot(entry<tensor_int>)},
      {Py_nb_float, slot(entry<tensor_float>)},
      {Py_nb_index, slot(entry<tensor_index>)},
      {Py_bf_getbuffer, slot(entry<tensor_get_buffer>)},
      {Py_bf_releasebuffer, slot(tensor_release_buffer)},
      {0, nullptr}};
  PyType_Spec eager_spec = {"tapeflow._native.EagerTensor", sizeof(Tensor), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            eager_slots};
  TensorType = reinterpret_cast<PyTypeObject*>(
      PyType_FromSpecWithBases(&eager_spec, reinterpret_cast<PyObject*>(TensorBaseType)));
  if (!TensorType) return false;
  keep_for_ever(reinterpret_cast<PyObject*>(TensorType));  // counted with every tensor

  // Above that of NumPy's arrays and scalars: array + tensor is ours.
  const Ref priority = Ref::or_null(PyLong_FromLong(100));
  return priority &&
         PyObject_SetAttrString(reinterpret_cast<PyObject*>(TensorBaseType), "__array_priority__", priority.get()) == 0 &&
         PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(TensorBaseType)) == 0 &&
         PyModule_AddObjectRef(module, "EagerTensor", reinterpret_cast<PyObject*>(TensorType)) == 0;
}

// -- module functions ------------------------------------------------------------------------------

PyObject* set_device_names(PyObject*, PyObject* names) {
  PyObject* list = PySequence_List(names);
  if (!list) return nullptr;
  replace(&device_names, list);
  Py_RETURN_NONE;
}

PyObject* set_copy_to_device(PyObject*, PyObject* f) {
  copy_to_device = f == Py_None ? nullptr : Py_NewRef(f);  // the one before stays: it may be running
  Py_RETURN_NONE;
}

PyObject* rebuild_tensor(PyObject*, PyObject* args) {
  PyObject* array;
  int number;
  if (!PyArg_ParseTuple(args, "Oi", &array, &number)) return nullptr;
  if (number <= 0 || number >= kDTypeCount) return PyErr_Format(PyExc_ValueError, "no such dtype: %d", number);
  return guarded([&] { return object(from_array(array, static_cast<DType>(number))); });
}

// device_tensor(array, dtype number, device index): a tensor whose elements an accelerator's array holds.
PyObject* device_tensor(PyObject*, PyObject* args) {
  PyObject* array;
  int number, device;
  if (!PyArg_ParseTuple(args, "Oii", &array, &number, &device)) return nullptr;
  if (number <= 0 || number >= kDTypeCount) return PyErr_Format(PyExc_ValueError, "no such dtype: %d", number);
  if (device <= 0 || device > 255) return PyErr_Format(PyExc_ValueError, "no such device: %d", device);
  return guarded([&]() -> PyObject* {
    const Ref dims(PyObject_GetAttrString(array, "shape"));
    if (!PyTuple_Check(dims.get()) || PyTuple_GET_SIZE(dims.get()) > kMaxRank) throw invalid("an array without a shape");
    int64_t sizes[kMaxRank];
    const auto rank = static_cast<int>(PyTuple_GET_SIZE(dims.get()));
    for (int i = 0; i < rank; ++i) {
      sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(dims.get(), i));
      if (sizes[i] < 0) throw invalid("an array without a shape");
    }
    const ShapeRef shape(rank, sizes);
    Tensor* t = object_tensor(static_cast<DType>(number), shape.get(), Py_NewRef(array));
    t->device = static_cast<uint8_t>(device);
    return object(t);
  });
}

// device_array(tensor): (device index, the array that holds its elements); (0, None) on the host.
PyObject* device_array(PyObject*, PyObject* o) {
  if (!is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected an EagerTensor, got %.100s", Py_TYPE(o)->tp_name);
  const Tensor* t = tensor(o);
  return Py_BuildValue("iO", int{t->device}, t->device ? t->payload : Py_None);
}

PyMethodDef functions[] = {
    {"device_tensor", entry<device_tensor>, METH_VARARGS,
     "device_tensor(array, dtype number, device index): a tensor whose elements an accelerator's array holds"},
    {"device_array", entry<device_array>, METH_O,
     "device_array(tensor): (device index, the accelerator's array); (0, None) on the host"},
    {"set_device_names", entry<set_device_names>, METH_O, "set_device_names(list of str)"},
    {"set_copy_to_device", entry<set_copy_to_device>, METH_O, "set_copy_to_device(function(tensor, device name))"},
    {"_rebuild", entry<rebuild_tensor>, METH_VARARGS, "_rebuild(array, dtype number): unpickles a tensor"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int64_t next_tensor_id() {
#ifdef Py_GIL_DISABLED
  constexpr int64_t kBlock = 4096;
  thread_local int64_t last __attribute__((tls_model("initial-exec"))) = 0;
  if (last % kBlock == 0) last = last_id.next(kBlock) - kBlock;  // the first is 1, as 0 stands for none
  return ++last;
#else
  return last_id.next();
#endif
}

PyObject* beside(Tensor* t, const Tensor* like) {
  if (t->device == like->device) return object(t);
  const Ref owned(object(t));
  const Ref name(get_device(object(const_cast<Tensor*>(like)), nullptr));
  Ref moved(move(owned.get(), name.get()));
  const bool same = is_tensor(moved.get()) && tensor(moved.get())->dtype == t->dtype && tensor(moved.get())->shape->same(t->shape);
  if (!same) throw Error(Code::kInternal, text("a copy to a device gave a ", Py_TYPE(moved.get())->tp_name));
  return moved.release();
}

Tensor* new_tensor(DType dtype, Shape* shape) {
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(shape->size), static_cast<size_t>(item_size(dtype)), &bytes))
    throw exhausted("OOM when allocating tensor with shape", shape->str());
  Buffer* b = Buffer::allocate(bytes);
  Tensor* t;
  try {
    t = make(dtype, shape->retain());
  } catch (...) {
    b->release();
    throw;
  }
  t->buffer = b;
  t->data = b->data;
  return t;
}

Tensor* new_tensor(DType dtype, int rank, const int64_t* dims) {
  ShapeRef s(rank, dims);
  return new_tensor(dtype, s.get());
}

bool are_truths(const char* data, int64_t n) {
  uint64_t seen = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, data + i, 8);
    seen |= eight;
  }
  for (; i < n; ++i) seen |= static_cast<uint8_t>(data[i]);
  return (seen & 0xfefefefefefefefe) == 0;
}

void make_truths(Tensor* t) {
  if (t->dtype != DType::kBool || are_truths(t->data, t->size())) return;
  for (int64_t i = 0; i < t->size(); ++i) t->data[i] = t->data[i] != 0;
}

Tensor* object_tensor(DType dtype, Shape* shape, PyObject* payload) {
  Ref owned = Ref::or_null(payload);
  Tensor* t = make(dtype, shape->retain());
  t->payload = owned.release();
  track(t);
  return t;
}

Tensor* view_tensor(Tensor* of, Shape* shape, int64_t first_element) {
  Tensor* t;
  if (!of->payload) {
    t = make(of->dtype, shape->retain());
    t->buffer = of->buffer;
    t->buffer->retain();
    t->data = of->data + first_element * item_size(of->dtype);
    t->device = of->device;
    return t;
  }
  if (is_tensor_list(of->payload) && shape->rank == 0) return object_tensor(of->dtype, shape, Py_NewRef(of->payload));
  // NumPy's object arrays and jax's arrays speak the same language.
  const Ref whole(is_tensor_list(of->payload) ? to_array(of, false) : Py_NewRef(of->payload));
  Ref part(PyObject_CallMethod(whole.get(), "reshape", "(i)", -1));
  if (first_element != 0 || shape->size != of->size()) {
    part = Ref(PySequence_GetSlice(part.get(), first_element, first_element + shape->size));
  }
  Ref shaped(PyObject_CallMethod(part.get(), "reshape", "(O)", Ref(tuple_of(shape)).get()));
  if (of->dtype == DType::kVariant) return from_array(shaped.get(), of->dtype);  // of one list, perhaps
  t = object_tensor(of->dtype, shape, shaped.release());
  t->device = of->device;
  return t;
}

int64_t scalar_int(const Tensor* t, const char* what) {
  if (t->rank() == 0 && t->on_host()) {
    if (t->dtype == DType::kInt32) return *t->as<int32_t>();
    if (t->dtype == DType::kInt64) return *t->as<int64_t>();
  }
  throw invalid(what, " must be a scalar of int32 or int64, but got ", dtype_name(t->dtype), " of shape ",
                t->shape->str());
}

void vector_ints(const Tensor* t, const char* what, IntVector* out) {
  if (t->rank() != 1 || !t->on_host() || (t->dtype != DType::kInt32 && t->dtype != DType::kInt64)) {
    throw invalid(what, " must be a vector of int32 or int64, but got ", dtype_name(t->dtype), " of shape ",
                  t->shape->str());
  }
  if (t->size() > kMaxRank) {
    throw invalid(what, " must have at most ", kMaxRank, " elements, but has ", t->size());
  }
  out->n = static_cast<int>(t->size());
  for (int i = 0; i < out->n; ++i) {
    out->v[i] = t->dtype == DType::kInt32 ? t->as<int32_t>()[i] : t->as<int64_t>()[i];
  }
}

PyObject* tuple_of(const Shape* s) {
  Ref t(PyTuple_New(s->rank));
  for (int i = 0; i < s->rank; ++i) PyTuple_SET_ITEM(t.get(), i, Ref(PyLong_FromLongLong(s->dims[i])).release());
  return t.release();
}

PyObject* tensor_shape_object(Shape* shape) {
  if (shape->py) return Py_NewRef(shape->py);
  Ref dims(tuple_of(shape));
  if (!hooks.tensor_shape) return dims.release();
  PyObject* made = PyObject_CallOneArg(hooks.tensor_shape, dims.get());
  if (!made) return nullptr;
  return Py_NewRef(publish(&shape->py, made));
}

bool init_tensor(PyObject* module) {
  if (_import_array() < 0 || !make_types(module) || PyModule_AddFunctions(module, functions) < 0) return false;
  rebuild = PyObject_GetAttrString(module, "_rebuild");
  return rebuild && init_tensor_protocols(module) && init_tensor_operators(module) && init_dlpack(module);
}

}  // namespace tapeflow
