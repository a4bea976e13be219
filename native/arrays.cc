#include "arrays.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>

#include "convert.h"
#include "guard.h"
#include "owned_tensor.h"
#include "ref.h"
#include "tensor_list.h"

namespace tapeflow {

namespace {

PyObject* tf_dtypes[kDTypeCount];        // tf.float32, ...
PyArray_Descr* np_dtypes[kDTypeCount];   // null for resource and variant
PyObject* dtype_parser;                  // as_dtype

// Numbers of the NumPy dtypes that have a fixed type_num; ml_dtypes' are found by comparing.
DType from_descr(PyArray_Descr* d) {
  switch (d->type_num) {
    case NPY_FLOAT: return DType::kFloat32;
    case NPY_DOUBLE: return DType::kFloat64;
    case NPY_BOOL: return DType::kBool;
    case NPY_BYTE: return DType::kInt8;
    case NPY_UBYTE: return DType::kUInt8;
    case NPY_SHORT: return DType::kInt16;
    case NPY_USHORT: return DType::kUInt16;
    case NPY_INT: return DType::kInt32;
    case NPY_UINT: return DType::kUInt32;
    case NPY_LONG: return sizeof(long) == 8 ? DType::kInt64 : DType::kInt32;
    case NPY_ULONG: return sizeof(long) == 8 ? DType::kUInt64 : DType::kUInt32;
    case NPY_LONGLONG: return DType::kInt64;
    case NPY_ULONGLONG: return DType::kUInt64;
    case NPY_HALF: return DType::kFloat16;
    case NPY_CFLOAT: return DType::kComplex64;
    case NPY_CDOUBLE: return DType::kComplex128;
    case NPY_OBJECT: case NPY_STRING: case NPY_UNICODE: return DType::kString;
    default: break;
  }
  for (int i = 1; i < kDTypeCount; ++i) {
    if (!np_dtypes[i] || d->type_num != np_dtypes[i]->type_num) continue;
    // Records, as quantized numbers are, share a number.
    if (d->type_num != NPY_VOID || PyArray_EquivTypes(d, np_dtypes[i])) return static_cast<DType>(i);
  }
  return DType::kInvalid;
}

PyArrayObject* array_of(const Ref& r) { return reinterpret_cast<PyArrayObject*>(r.get()); }

ShapeRef shape_of(PyArrayObject* a) {
  int64_t dims[kMaxRank];
  for (int i = 0; i < PyArray_NDIM(a); ++i) dims[i] = PyArray_DIM(a, i);
  return ShapeRef(PyArray_NDIM(a), dims);
}

// A string tensor over a new object array of bytes made from any array of text, bytes or objects.
Tensor* string_tensor(PyArrayObject* a) {
  // A copy of the base class: nobody else can change its elements meanwhile.
  Ref objects(PyArray_FromArray(a, PyArray_DescrFromType(NPY_OBJECT), NPY_ARRAY_ENSUREARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST));
  Ref flat(PyArray_NewLikeArray(array_of(objects), NPY_CORDER, nullptr, 0));
  // iterate in C order over both
  Ref in(PyArray_IterNew(objects.get()));
  auto* it = reinterpret_cast<PyArrayIterObject*>(in.get());
  auto** out = static_cast<PyObject**>(PyArray_DATA(array_of(flat)));
  int64_t i = 0;
  while (PyArray_ITER_NOTDONE(it)) {
    PyObject* item = *reinterpret_cast<PyObject**>(PyArray_ITER_DATA(it));
    PyObject* b = item ? as_bytes(item) : nullptr;
    if (!b) {
      if (item) unsupported(item);
      PyErr_SetString(PyExc_ValueError, "empty object array cannot be converted to a string tensor");
      throw PythonError();
    }
    Py_XDECREF(out[i]);
    out[i++] = b;
    PyArray_ITER_NEXT(it);
  }
  ShapeRef s = shape_of(array_of(objects));
  return object_tensor(DType::kString, s.get(), flat.release());
}

void release_object(void* o) {
  if (Py_IsInitialized()) Py_DECREF(static_cast<PyObject*>(o));
}

}  // namespace

[[noreturn]] void cannot_convert(PyObject* given, DType want) {
  const Ref kept = Ref::share(given);
  PyObject* value = kept.get();
  PyErr_Format(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", value, dtype_short_name(want));
  throw PythonError();
}

[[noreturn]] void unsupported(PyObject* given) {
  const Ref kept = Ref::share(given);
  PyObject* value = kept.get();
  PyErr_Format(PyExc_ValueError, "Attempt to convert a value (%R) with an unsupported type (%R) to a Tensor.",
               value, reinterpret_cast<PyObject*>(Py_TYPE(value)));
  throw PythonError();
}

PyObject* as_bytes(PyObject* o) {
  if (PyBytes_CheckExact(o)) return Py_NewRef(o);
  if (PyBytes_Check(o)) return PyBytes_FromStringAndSize(PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o));
  if (PyUnicode_Check(o)) {
    PyObject* b = PyUnicode_AsUTF8String(o);
    if (!b) throw PythonError();
    return b;
  }
  if (PyByteArray_Check(o)) return PyBytes_FromStringAndSize(PyByteArray_AS_STRING(o), PyByteArray_GET_SIZE(o));
  return nullptr;
}

Tensor* copy_array(PyObject* array, DType dtype) {
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  ShapeRef s = shape_of(a);
  OwnedTensor t(new_tensor(dtype, s.get()));
  PyArray_Descr* d = np_dtypes[static_cast<int>(dtype)];
  if (PyArray_ISCARRAY_RO(a) && PyArray_DESCR(a)->type_num == d->type_num) {
    std::memcpy(t->data, PyArray_DATA(a), static_cast<size_t>(t->bytes()));
    make_truths(t.get());
    return t.leak();
  }
  Py_INCREF(d);
  const Ref view(PyArray_NewFromDescr(&PyArray_Type, d, s->rank, reinterpret_cast<npy_intp*>(s->dims), nullptr, t->data,
                                      NPY_ARRAY_CARRAY, nullptr));
  if (PyArray_CopyInto(array_of(view), a) < 0) throw PythonError();
  make_truths(t.get());
  return t.leak();
}

Tensor* array_to_tensor(PyObject* array, DType want) {
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  const DType have = from_descr(PyArray_DESCR(a));
  if (have == DType::kString) {
    const bool none = want == DType::kInvalid && PyArray_SIZE(a) == 0;  // then texts, which alone stay objects
    if (PyArray_DESCR(a)->type_num == NPY_OBJECT && want != DType::kString && !none) {
      // Python objects: numbers, perhaps, or anything; a list knows best.
      Ref list(PyArray_ToList(a));
      return to_tensor(list.get(), want);
    }
    if (want != DType::kInvalid && want != DType::kString) cannot_convert(array, want);
    return string_tensor(a);
  }
  if (have == DType::kInvalid) {
    PyErr_Format(PyExc_ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: %R).",
                 reinterpret_cast<PyObject*>(PyArray_DESCR(a)));
    throw PythonError();
  }
  if (want == DType::kInvalid) want = have;
  if (want == DType::kString) return string_tensor(a);  // of no elements; the class of others is refused
  if (is_object(want)) cannot_convert(array, want);
  // Arrays are cast to whatever dtype is asked for, as in TensorFlow; only Python values are checked.
  return copy_array(array, want);
}

PyObject* object_array(int rank, const int64_t* dims) {
  npy_intp d[kMaxRank];
  for (int i = 0; i < rank; ++i) d[i] = dims[i];
  return PyArray_SimpleNew(rank, d, NPY_OBJECT);
}

Ref first_element_array(Tensor* t) {
  PyArray_Descr* descr = np_dtypes[static_cast<int>(t->dtype)];
  Py_INCREF(descr);
  return Ref(PyArray_NewFromDescr(&PyArray_Type, descr, 0, nullptr, nullptr, t->data, NPY_ARRAY_CARRAY, nullptr));
}

PyObject* element_object(const Tensor* t) {
  if (!t->payload || !PyArray_Check(t->payload)) return nullptr;
  auto* a = reinterpret_cast<PyArrayObject*>(t->payload);
  return PyArray_TYPE(a) == NPY_OBJECT && PyArray_NDIM(a) == 0 ? *static_cast<PyObject**>(PyArray_DATA(a)) : nullptr;
}

PyObject* to_array(Tensor* t, bool copy) {
  if (is_tensor_list(t->payload)) {
    PyObject* a = object_array(0, nullptr);
    if (!a) throw PythonError();
    auto** at = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(a)));
    Py_XSETREF(*at, Py_NewRef(t->payload));
    return a;
  }
  if (t->payload) {
    if (!PyArray_Check(t->payload)) {  // on an accelerator: jax copies to the host
      PyObject* a = PyArray_FromAny(t->payload, nullptr, 0, 0, NPY_ARRAY_CARRAY, nullptr);
      if (!a) throw PythonError();
      return a;
    }
    if (!copy) return Py_NewRef(t->payload);
    PyObject* a = PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(t->payload), NPY_CORDER);
    if (!a) throw PythonError();
    return a;
  }
  PyArray_Descr* d = np_dtypes[static_cast<int>(t->dtype)];
  if (!d) {
    PyErr_Format(PyExc_TypeError, "Tensors of dtype %s have no NumPy form", dtype_name(t->dtype));
    throw PythonError();
  }
  auto* dims = reinterpret_cast<npy_intp*>(t->shape->dims);
  if (t->rank() > NPY_MAXDIMS) {
    PyErr_Format(PyExc_ValueError, "NumPy arrays have at most %d dimensions, the tensor has %d", NPY_MAXDIMS, t->rank());
    throw PythonError();
  }
  Py_INCREF(d);
  if (copy) {
    PyObject* a = PyArray_NewFromDescr(&PyArray_Type, d, t->rank(), dims, nullptr, nullptr, 0, nullptr);
    if (!a) throw PythonError();
    std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(a)), t->data, static_cast<size_t>(t->bytes()));
    return a;
  }
  Ref a(PyArray_NewFromDescr(&PyArray_Type, d, t->rank(), dims, nullptr, t->data,
                             NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, nullptr));
  Py_INCREF(t);
  if (PyArray_SetBaseObject(array_of(a), reinterpret_cast<PyObject*>(t)) < 0) throw PythonError();
  return a.release();
}

Tensor* from_array(PyObject* value, DType dtype) {
  if (is_tensor(value)) return to_tensor(value, dtype);
  if (!tf_dtypes[static_cast<int>(dtype)]) throw invalid("no such dtype: ", static_cast<int>(dtype));
  if (dtype == DType::kString) {
    // As objects: NumPy's own strings lose the zeros at their end.
    PyArray_Descr* d = PyArray_Check(value) ? nullptr : PyArray_DescrFromType(NPY_OBJECT);
    Ref a(PyArray_FromAny(value, d, 0, 0, 0, nullptr));
    return string_tensor(array_of(a));
  }
  if (is_object(dtype)) {  // resource, variant: the object is the element
    if (is_tensor_list(value)) return list_tensor(reinterpret_cast<TensorList*>(Py_NewRef(value)));
    Ref a(PyArray_Check(value) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)) == NPY_OBJECT
              ? Py_NewRef(value) : object_array(0, nullptr));
    auto** at = static_cast<PyObject**>(PyArray_DATA(array_of(a)));
    if (a.get() != value) {
      Py_XSETREF(*at, Py_NewRef(value));
    } else if (PyArray_NDIM(array_of(a)) == 0 && is_tensor_list(*at)) {
      return list_tensor(reinterpret_cast<TensorList*>(Py_NewRef(*at)));
    }
    ShapeRef s = shape_of(array_of(a));
    return object_tensor(dtype, s.get(), a.release());
  }
  PyArray_Descr* d = np_dtypes[static_cast<int>(dtype)];
  if (PyArray_Check(value) && PyArray_ISCOMPLEX(reinterpret_cast<PyArrayObject*>(value)) && !is_complex(dtype)) {
    throw invalid("the result is complex, which ", dtype_name(dtype), " cannot hold");
  }
  Py_INCREF(d);
  Ref a(PyArray_FromAny(value, d, 0, 0, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED |
                                            NPY_ARRAY_FORCECAST, nullptr));
  const auto* data = static_cast<const char*>(PyArray_DATA(array_of(a)));
  const int64_t bytes = PyArray_NBYTES(array_of(a));
  if (bytes < 1024 || (dtype == DType::kBool && !are_truths(data, bytes))) return copy_array(a.get(), dtype);
  ShapeRef s = shape_of(array_of(a));
  // Fresh memory (ours alone, except for the caller's own reference to the result) may be updated in place later.
  const bool fresh = PyArray_CHKFLAGS(array_of(a), NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE) &&
                     Py_REFCNT(a.get()) <= (a.get() == value ? 2 : 1);
  auto* b = Buffer::wrap(PyArray_DATA(array_of(a)), static_cast<size_t>(PyArray_NBYTES(array_of(a))), fresh,
                         release_object, nullptr);
  b->foreign = a.release();
  Tensor* t = object_tensor(dtype, s.get(), nullptr);
  t->buffer = b;
  t->data = b->data;
  return t;
}

PyObject* dtype_object(DType d) { return tf_dtypes[static_cast<int>(d)]; }
PyObject* numpy_dtype_object(DType d) { return reinterpret_cast<PyObject*>(np_dtypes[static_cast<int>(d)]); }
DType dtype_of_descr(PyObject* np_dtype) { return from_descr(reinterpret_cast<PyArray_Descr*>(np_dtype)); }

DType parse_dtype(PyObject* o) {
  for (int i = 1; i < kDTypeCount; ++i) if (tf_dtypes[i] == o) return static_cast<DType>(i);
  Ref d(PyObject_CallOneArg(dtype_parser, o));
  Ref number(PyObject_GetAttrString(d.get(), "as_datatype_enum"));
  const long v = PyLong_AsLong(number.get()) % 100;  // reference types are counted from 100
  if (v <= 0 || v >= kDTypeCount || !tf_dtypes[v]) {
    PyErr_Format(PyExc_TypeError, "Cannot convert %R to a TensorFlow DType.", o);
    throw PythonError();
  }
  return static_cast<DType>(v);
}

namespace {

// register_dtype(number, tf_dtype, numpy_dtype or None)
PyObject* register_dtype(PyObject*, PyObject* args) {
  int number;
  PyObject *tf, *np;
  if (!PyArg_ParseTuple(args, "iOO", &number, &tf, &np)) return nullptr;
  if (number <= 0 || number >= kDTypeCount) return PyErr_Format(PyExc_ValueError, "no such dtype: %d", number);
  tf_dtypes[number] = Py_NewRef(tf);
  if (np != Py_None) {
    PyArray_Descr* d = nullptr;
    if (!PyArray_DescrConverter(np, &d)) return nullptr;
    np_dtypes[number] = d;
  }
  Py_RETURN_NONE;
}

PyObject* set_dtype_parser(PyObject*, PyObject* f) {
  dtype_parser = Py_NewRef(f);  // the one before stays: it may be running
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"register_dtype", entry<register_dtype>, METH_VARARGS, "register_dtype(number, tf_dtype, numpy_dtype)"},
    {"set_dtype_parser", entry<set_dtype_parser>, METH_O, "set_dtype_parser(as_dtype)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_arrays(PyObject* module) {
  if (_import_array() < 0) return false;
  return PyModule_AddFunctions(module, methods) == 0;
}

}  // namespace tapeflow
