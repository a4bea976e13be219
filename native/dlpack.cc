// Exchange of memory with other libraries by DLPack, without copies where their layout allows.
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "convert.h"
#include "exit.h"
#include "owned_tensor.h"
#include "ref.h"
#include "tensor_type.h"

namespace tapeflow {

namespace {

// The ABI of DLPack 1.0 and of the unversioned one before it.
struct Device { int32_t type, id; };
struct DataType { uint8_t code, bits; uint16_t lanes; };
struct Array {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C-contiguous
  uint64_t byte_offset;
};
struct Managed {
  Array array;
  void* context;
  void (*deleter)(Managed*);
};
struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  Array array;
};
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;
constexpr int32_t kCpu = 1, kCudaHost = 3;
constexpr const char* kPlainName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6,
                          kFloat8E4M3FN = 10, kFloat8E5M2 = 12 };

struct Mapping { DType dtype; uint8_t code, bits; };
constexpr Mapping mappings[] = {
    {DType::kFloat32, kFloat, 32}, {DType::kFloat64, kFloat, 64}, {DType::kFloat16, kFloat, 16},
    {DType::kBFloat16, kBfloat, 16}, {DType::kInt8, kInt, 8}, {DType::kInt16, kInt, 16},
    {DType::kInt32, kInt, 32}, {DType::kInt64, kInt, 64}, {DType::kUInt8, kUInt, 8},
    {DType::kUInt16, kUInt, 16}, {DType::kUInt32, kUInt, 32}, {DType::kUInt64, kUInt, 64},
    {DType::kBool, kBool, 8}, {DType::kComplex64, kComplex, 64}, {DType::kComplex128, kComplex, 128},
    {DType::kFloat8E4M3FN, kFloat8E4M3FN, 8}, {DType::kFloat8E5M2, kFloat8E5M2, 8}};

// -- export ----------------------------------------------------------------------------------------

template <typename M>
struct Export {
  M managed;
  Tensor* tensor;
  int64_t dims[2 * kMaxRank];  // shape, then strides
};

template <typename M>
void release_export(M* m) {
  if (!m || !Py_IsInitialized() || (is_finalizing() && !PyGILState_Check())) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  auto* e = static_cast<Export<M>*>(m->context);
  Py_DECREF(object(e->tensor));
  PyMem_RawFree(e);
  PyGILState_Release(state);
}

template <typename M>
void capsule_gone(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // somebody took it over
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (m && m->deleter) m->deleter(m);
}

void plain_gone(PyObject* c) { capsule_gone<Managed>(c, kPlainName); }
void versioned_gone(PyObject* c) { capsule_gone<Versioned>(c, kVersionedName); }

// Takes over the reference to t.
template <typename M>
PyObject* export_tensor(Tensor* t, const Mapping& m, uint64_t flags) {
  auto* e = static_cast<Export<M>*>(PyMem_RawCalloc(1, sizeof(Export<M>)));
  if (!e) {
    Py_DECREF(object(t));
    return PyErr_NoMemory();
  }
  const int n = t->rank();
  int64_t step = 1;
  for (int i = n - 1; i >= 0; --i) {
    e->dims[i] = t->dim(i);
    e->dims[n + i] = step;
    step *= t->dim(i) > 0 ? t->dim(i) : 1;
  }
  e->tensor = t;
  Array& a = e->managed.array;
  a.data = t->size() ? t->data : nullptr;
  a.device = {kCpu, 0};
  a.ndim = n;
  a.dtype = {m.code, m.bits, 1};
  a.shape = e->dims;
  a.strides = e->dims + n;
  e->managed.context = e;
  e->managed.deleter = release_export<M>;
  constexpr bool versioned = std::is_same_v<M, Versioned>;
  if constexpr (versioned) {
    e->managed.major = 1;
    e->managed.minor = 0;
    e->managed.flags = flags;
  } else {
    (void)flags;
  }
  PyObject* c = PyCapsule_New(&e->managed, versioned ? kVersionedName : kPlainName,
                              versioned ? versioned_gone : plain_gone);
  if (!c) release_export<M>(&e->managed);
  return c;
}

// -- import ----------------------------------------------------------------------------------------

template <typename M>
void delete_managed(void* m) {
  auto* managed = static_cast<M*>(m);
  if (managed->deleter) managed->deleter(managed);
}

// Copies strided elements to dense ones.
void gather(const Array& a, int depth, const char* from, int64_t item, char*& to) {
  if (depth == a.ndim) {
    std::memcpy(to, from, static_cast<size_t>(item));
    to += item;
    return;
  }
  for (int64_t i = 0; i < a.shape[depth]; ++i) {
    gather(a, depth + 1, from + i * a.strides[depth] * item, item, to);
  }
}

// Checks everything; *shared says whether the result still needs the memory of a.
Tensor* import_array(const Array& a, void (*release)(void*), void* owner, bool* shared) {
  *shared = false;
  if (a.device.type != kCpu && a.device.type != kCudaHost) {
    throw invalid("DLPack: tensors on device type ", a.device.type, " cannot be imported, only those on the CPU");
  }
  DType dtype = DType::kInvalid;
  for (const Mapping& m : mappings) {
    if (m.code == a.dtype.code && m.bits == a.dtype.bits && a.dtype.lanes == 1) dtype = m.dtype;
  }
  if (dtype == DType::kInvalid) {
    throw invalid("DLPack: unsupported element type (code ", int{a.dtype.code}, ", ", int{a.dtype.bits}, " bits, ",
                  a.dtype.lanes, " lanes)");
  }
  if (a.ndim < 0 || a.ndim > kMaxRank || (a.ndim > 0 && !a.shape)) {
    throw invalid("DLPack: malformed tensor of rank ", a.ndim);
  }
  ShapeRef shape(a.ndim, a.shape);
  const int64_t item = item_size(dtype);
  if (shape->size > INT64_MAX / item) throw invalid("DLPack: too many elements in shape ", shape->str());
  if (shape->size == 0) return new_tensor(dtype, shape.get());
  if (!a.data) throw invalid("DLPack: null data in a tensor of shape ", shape->str());
  bool dense = true;
  int64_t step = 1, farthest = 0;
  for (int i = 0; a.strides && i < a.ndim; ++i) {
    int64_t reach;
    if (a.strides[i] == INT64_MIN || __builtin_mul_overflow(std::abs(a.strides[i]), (a.shape[i] - 1) * item, &reach) ||
        __builtin_add_overflow(farthest, reach, &farthest)) {
      throw invalid("DLPack: the strides of shape ", shape->str(), " reach beyond all memory");
    }
  }
  for (int i = a.ndim - 1; a.strides && i >= 0; --i) {
    dense &= a.shape[i] == 1 || a.strides[i] == step;
    step *= a.shape[i];
  }
  char* data = static_cast<char*>(a.data) + a.byte_offset;
  const auto bytes = static_cast<size_t>(shape->size * item);
  const int64_t align = is_complex(dtype) ? item / 2 : item;
  const bool usable = dtype != DType::kBool || !dense || are_truths(data, shape->size);
  if (dense && usable && reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(align) == 0) {
    OwnedTensor t(object_tensor(dtype, shape.get(), nullptr));
    t->buffer = Buffer::wrap(data, bytes, false, release, owner);  // never written to: its owner sees it too
    t->data = data;
    *shared = true;
    return t.leak();
  }
  Tensor* t = new_tensor(dtype, shape.get());
  char* to = t->data;
  if (dense) std::memcpy(to, data, bytes);
  else gather(a, 0, data, item, to);
  make_truths(t);
  return t;
}

template <typename M>
PyObject* consume(PyObject* capsule, const char* name, const char* used) {
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (!m) return nullptr;
  if constexpr (std::is_same_v<M, Versioned>) {
    if (m->major > 1) {
      return PyErr_Format(PyExc_BufferError, "DLPack version %u.%u is not supported", m->major, m->minor);
    }
  }
  // Taken before it is read, so that no code in the middle takes it too; given back where it cannot be read.
  if (PyCapsule_SetName(capsule, used) < 0) return nullptr;
  bool shared;
  Tensor* t;
  try {
    t = import_array(m->array, delete_managed<M>, m, &shared);
  } catch (...) {
    if (PyCapsule_SetName(capsule, name) < 0) PyErr_Clear();  // cannot happen to a valid capsule
    throw;
  }
  if (!shared) delete_managed<M>(m);
  return object(t);
}

PyObject* ask(PyObject* o) {
  const Ref f(PyObject_GetAttrString(o, "__dlpack__")), none(PyTuple_New(0));
  const Ref version(Py_BuildValue("{s:(ii)}", "max_version", 1, 0));
  PyObject* capsule = PyObject_Call(f.get(), none.get(), version.get());
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {  // from before versions
    PyErr_Clear();
    capsule = PyObject_CallNoArgs(f.get());
  }
  return capsule;
}

PyObject* from_dlpack(PyObject*, PyObject* o) {
  Ref capsule;
  if (PyCapsule_CheckExact(o)) {
    capsule = Ref::share(o);
  } else {
    if (!Ref::or_null(PyObject_GetAttrString(o, "__dlpack__"))) {
      PyErr_Clear();
      return PyErr_Format(PyExc_TypeError, "from_dlpack takes a DLPack capsule or an object with __dlpack__, got %R",
                          reinterpret_cast<PyObject*>(Py_TYPE(o)));
    }
    capsule = Ref(ask(o));
    if (!PyCapsule_CheckExact(capsule.get())) {
      return PyErr_Format(PyExc_TypeError, "__dlpack__ of %R did not return a capsule",
                          reinterpret_cast<PyObject*>(Py_TYPE(o)));
    }
  }
  const char* name = PyCapsule_GetName(capsule.get());
  if (name && !std::strcmp(name, kPlainName)) return consume<Managed>(capsule.get(), kPlainName, "used_dltensor");
  if (name && !std::strcmp(name, kVersionedName)) {
    return consume<Versioned>(capsule.get(), kVersionedName, "used_dltensor_versioned");
  }
  if (name && !std::strncmp(name, "used_dltensor", 13)) {
    PyErr_SetString(PyExc_ValueError, "A DLPack tensor may be consumed at most once.");
  } else {
    PyErr_Format(PyExc_ValueError, "not a DLPack capsule: its name is '%s'", name ? name : "");
  }
  return nullptr;
}

PyMethodDef functions[] = {
    {"from_dlpack", entry<from_dlpack>, METH_O, "from_dlpack(capsule or object with __dlpack__) -> tensor"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* tensor_dlpack(PyObject* self, PyObject* args, PyObject* kwargs) {
  const char* keywords[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO", const_cast<char**>(keywords), &stream, &version, &device,
                                   &copy)) return nullptr;
  Tensor* t = tensor(self);
  if (!t->on_host()) {
    const bool exports = t->payload && !is_object(t->dtype);
    const Ref f = Ref::or_null(exports ? PyObject_GetAttrString(t->payload, "__dlpack__") : nullptr);
    if (f) return PyObject_Call(f.get(), args, kwargs);  // on an accelerator: its own library knows
    PyErr_Clear();
    return PyErr_Format(PyExc_BufferError, "Tensors of dtype %s cannot be exported by DLPack", dtype_name(t->dtype));
  }
  if (stream != Py_None && !(PyLong_Check(stream) && PyLong_AsLong(stream) == -1)) {
    PyErr_Clear();
    return PyErr_Format(PyExc_ValueError, "stream must be None for a tensor on the CPU, got %R", stream);
  }
  int major = 0, minor = 0, type = kCpu, id = 0;
  if (version != Py_None && (!PyTuple_Check(version) || !PyArg_ParseTuple(version, "ii", &major, &minor))) {
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "max_version must be None or a tuple of two ints, got %R", version);
  }
  if (device != Py_None && (!PyTuple_Check(device) || !PyArg_ParseTuple(device, "ii", &type, &id))) {
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "dl_device must be None or a tuple of two ints, got %R", device);
  }
  if (type != kCpu || id != 0) {
    return PyErr_Format(PyExc_BufferError, "a tensor on the CPU cannot be exported to device %R", device);
  }
  const int copies = copy == Py_None ? 0 : PyObject_IsTrue(copy);
  if (copies < 0) return nullptr;
  for (const Mapping& m : mappings) {
    if (m.dtype != t->dtype) continue;
    return guarded([&]() -> PyObject* {
      Tensor* given = t;
      if (copies) {
        given = new_tensor(t->dtype, t->shape);
        std::memcpy(given->data, t->data, static_cast<size_t>(t->bytes()));
      } else {
        Py_INCREF(self);
      }
      if (major >= 1) return export_tensor<Versioned>(given, m, copies ? kIsCopied : kReadOnly);
      return export_tensor<Managed>(given, m, 0);
    });
  }
  return PyErr_Format(PyExc_BufferError, "Tensors of dtype %s cannot be exported by DLPack", dtype_name(t->dtype));
}

PyObject* tensor_dlpack_device(PyObject* self, PyObject*) {
  const Tensor* t = tensor(self);
  if (!t->on_host() && t->payload && !is_object(t->dtype)) {
    return PyObject_CallMethod(t->payload, "__dlpack_device__", nullptr);
  }
  return Py_BuildValue("(ii)", kCpu, 0);
}

bool init_dlpack(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace tapeflow
