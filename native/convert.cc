#include "convert.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <cstring>
#include <vector>

#include "op.h"
#include "ref.h"
#include "stack.h"
#include "tape.h"
#include "tensor_list.h"
#include "variable.h"
#include "guard.h"

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

// The message asks the value for its repr: the value is owned meanwhile.
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

PyArrayObject* array_of(const Ref& r) { return reinterpret_cast<PyArrayObject*>(r.get()); }

ShapeRef shape_of(PyArrayObject* a) {
  int64_t dims[kMaxRank];
  for (int i = 0; i < PyArray_NDIM(a); ++i) dims[i] = PyArray_DIM(a, i);
  return ShapeRef(PyArray_NDIM(a), dims);
}

// bytes of a str, bytes-like, or NumPy bytes/str scalar; new reference or null when it is none of these
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

Tensor* copy_array(PyArrayObject* a, DType dtype) {
  ShapeRef s = shape_of(a);
  Tensor* t = new_tensor(dtype, s.get());
  PyArray_Descr* d = np_dtypes[static_cast<int>(dtype)];
  if (PyArray_ISCARRAY_RO(a) && PyArray_DESCR(a)->type_num == d->type_num) {
    std::memcpy(t->data, PyArray_DATA(a), static_cast<size_t>(t->bytes()));
    return t;
  }
  Py_INCREF(d);
  PyObject* view = PyArray_NewFromDescr(&PyArray_Type, d, s->rank, reinterpret_cast<npy_intp*>(s->dims), nullptr,
                                        t->data, NPY_ARRAY_CARRAY, nullptr);
  const bool ok = view && PyArray_CopyInto(reinterpret_cast<PyArrayObject*>(view), a) == 0;
  Py_XDECREF(view);
  if (!ok) {
    Py_DECREF(t);
    throw PythonError();
  }
  return t;
}

Tensor* array_to_tensor(PyArrayObject* a, DType want) {
  const DType have = from_descr(PyArray_DESCR(a));
  if (have == DType::kString) {
    if (PyArray_DESCR(a)->type_num == NPY_OBJECT && want != DType::kString) {
      // Python objects: numbers, perhaps, or anything; a list knows best.
      Ref list(PyArray_ToList(a));
      return to_tensor(list.get(), want);
    }
    if (want != DType::kInvalid && want != DType::kString) cannot_convert(reinterpret_cast<PyObject*>(a), want);
    return string_tensor(a);
  }
  if (have == DType::kInvalid) {
    PyErr_Format(PyExc_ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: %R).",
                 reinterpret_cast<PyObject*>(PyArray_DESCR(a)));
    throw PythonError();
  }
  if (want == DType::kInvalid) want = have;
  if (is_object(want)) cannot_convert(reinterpret_cast<PyObject*>(a), want);
  // Arrays are cast to whatever dtype is asked for, as in TensorFlow; only Python values are checked.
  return copy_array(a, want);
}

// -- Python numbers and nested lists ---------------------------------------------------------------

enum class Kind { kNone, kBool, kInt, kFloat, kComplex, kString, kOther };

// The dtypes whose tensors are filled element by element, Python bools as 0 and 1. For others TensorFlow first makes the
// tensor that the value is by itself.
constexpr uint64_t kFilled = bit(DType::kFloat16) | bit(DType::kFloat32) | bit(DType::kFloat64) | bit(DType::kInt32) |
                             bit(DType::kInt64) | bit(DType::kUInt64) | bit(DType::kComplex128);

// Whether values of one kind, or of narrower ones, have a place in a tensor of dtype d.
bool fits(Kind k, DType d) {
  if (k == Kind::kBool) return d == DType::kBool || (kFilled & bit(d)) != 0;
  if (k == Kind::kString || d == DType::kString) return k == Kind::kString && d == DType::kString;
  if (k == Kind::kComplex) return is_complex(d);
  if (k == Kind::kFloat) return is_complex(d) || is_floating(d);
  return k == Kind::kInt && d != DType::kBool;
}

Kind kind_of(PyObject* o) {
  if (PyFloat_Check(o)) return Kind::kFloat;
  if (PyBool_Check(o)) return Kind::kBool;
  if (PyLong_Check(o)) return Kind::kInt;
  if (PyComplex_Check(o)) return Kind::kComplex;
  if (PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o)) return Kind::kString;
  return Kind::kOther;
}

DType natural(Kind k) {
  switch (k) {
    case Kind::kBool: return DType::kBool;
    case Kind::kInt: return DType::kInt32;
    case Kind::kFloat: return DType::kFloat32;
    case Kind::kComplex: return DType::kComplex128;
    case Kind::kString: return DType::kString;
    default: return DType::kInvalid;
  }
}

[[noreturn]] void out_of_range() {
  PyErr_SetString(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
  throw PythonError();
}

int64_t checked_int(PyObject* o, DType d) {
  int overflow = 0;
  const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (v == -1 && !overflow && PyErr_Occurred()) throw PythonError();
  int64_t lo = INT64_MIN, hi = INT64_MAX;
  switch (d) {
    case DType::kInt32: case DType::kQInt32: lo = INT32_MIN; hi = INT32_MAX; break;
    case DType::kInt16: case DType::kQInt16: lo = INT16_MIN; hi = INT16_MAX; break;
    case DType::kInt8: case DType::kQInt8: lo = INT8_MIN; hi = INT8_MAX; break;
    case DType::kUInt8: case DType::kQUInt8: lo = 0; hi = UINT8_MAX; break;
    case DType::kUInt16: case DType::kQUInt16: lo = 0; hi = UINT16_MAX; break;
    case DType::kUInt32: lo = 0; hi = UINT32_MAX; break;
    case DType::kInt4: lo = -8; hi = 7; break;
    case DType::kUInt4: lo = 0; hi = 15; break;
    default: break;
  }
  if (overflow) out_of_range();
  if (v < lo || v > hi) cannot_convert(o, d);
  return v;
}

// Writes one Python scalar, which fits, as an element of dtype d, a type with a fast path. Runs no Python code but for
// errors.
void store_scalar(PyObject* o, DType d, char* at) {
  switch (d) {
    case DType::kFloat32:
    case DType::kFloat64: {
      const double v = PyFloat_Check(o) ? PyFloat_AS_DOUBLE(o) : PyLong_AsDouble(o);
      if (v == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw PythonError();
        PyErr_Clear();
        out_of_range();
      }
      if (d == DType::kFloat32) { const auto f = static_cast<float>(v); std::memcpy(at, &f, 4); }
      else std::memcpy(at, &v, 8);
      return;
    }
    case DType::kInt32: {
      const auto v = static_cast<int32_t>(checked_int(o, d));
      std::memcpy(at, &v, 4);
      return;
    }
    case DType::kInt64: {
      const int64_t v = checked_int(o, d);
      std::memcpy(at, &v, 8);
      return;
    }
    case DType::kBool:
      *at = o == Py_True;
      return;
    default: return;
  }
}

// Other number types go through NumPy. Subclasses of numbers have methods that it calls.
void store_by_numpy(PyObject* given, DType d, PyArrayObject* view, char* at) {
  const Ref kept = Ref::share(given);
  PyObject* o = kept.get();
  if (PyLong_Check(o) && !is_floating(d) && !is_complex(d) && d != DType::kUInt64) checked_int(o, d);
  if (PyArray_SETITEM(view, at, o) < 0) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) { PyErr_Clear(); out_of_range(); }
    throw PythonError();
  }
}

DType dtype_of_scalar(PyObject* numpy_scalar) {
  const Ref descr(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(numpy_scalar)));
  return from_descr(reinterpret_cast<PyArray_Descr*>(descr.get()));
}

Kind kind_of_dtype(DType d) {
  if (d == DType::kBool) return Kind::kBool;
  if (d == DType::kString) return Kind::kString;
  if (is_complex(d)) return Kind::kComplex;
  if (is_floating(d)) return Kind::kFloat;
  return is_integer(d) ? Kind::kInt : Kind::kOther;
}

// NumPy's float64, complex128 and str scalars derive from Python's types, but mean their own dtype.
bool is_numpy_scalar(PyObject* o) {
  return !(PyFloat_CheckExact(o) || PyLong_Check(o) || PyUnicode_CheckExact(o)) && PyArray_IsScalar(o, Generic);
}

// The Python number or string of a NumPy scalar. A subclass may run code.
Ref plain(PyObject* scalar, Kind k) {
  switch (k) {
    case Kind::kBool: return Ref(PyBool_FromLong(PyArrayScalar_VAL(scalar, Bool)));
    case Kind::kInt: return Ref(PyNumber_Index(scalar));
    case Kind::kFloat: return Ref(PyNumber_Float(scalar));
    case Kind::kComplex: {
      const Py_complex c = PyComplex_AsCComplex(scalar);
      if (c.real == -1.0 && PyErr_Occurred()) throw PythonError();
      return Ref(PyComplex_FromCComplex(c));
    }
    default: return Ref::share(scalar);
  }
}

bool is_list(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

// A subclass may have a __len__ of its own, which can fail; its items are still those of the list. Whether no code ran.
bool require_length(PyObject* o) {
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) return true;
  if (PyObject_Size(o) < 0) throw PythonError();
  return false;
}

[[noreturn]] void not_rectangular() {
  PyErr_SetString(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
  throw PythonError();
}

// The shape of a nested list, by its first elements, and the kinds of its leaves. Looking at an element may run Python
// code that changes the lists, so each is owned while it is looked at, and measured again when it is read.
struct Nested {
  int rank = 0;
  int64_t dims[kMaxRank];
  Kind kind = Kind::kNone;        // of the leaves: the first one's, or a wider one that follows
  Kind widest = Kind::kNone;      // of all leaves
  DType floats = DType::kFloat32; // what floats become: a first NumPy scalar decides
  bool odd = false;               // some leaf is no scalar
  bool big_int = false;           // an int outside int32
  bool mixed = false;             // leaves that do not follow the first one: only a dtype that takes them all helps
  bool numpy = false;             // some leaf is a NumPy scalar
  bool numpy_bool = false;        // which is never a number
  bool ran_code = false;          // of a list's class, which may have changed the leaves since

  void measure(PyObject* list) {
    Ref o = Ref::share(list);
    while (is_list(o.get())) {
      if (rank == kMaxRank) throw invalid("Too many nested lists: at most ", kMaxRank);
      ran_code = !require_length(o.get()) || ran_code;
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(o.get());
      dims[rank++] = n;
      if (n == 0) return;
      o = Ref::share(PySequence_Fast_GET_ITEM(o.get(), 0));
    }
  }

  // false when the list is not rectangular
  bool check(PyObject* list, int depth) {
    if (PySequence_Fast_GET_SIZE(list) != dims[depth]) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
      PyObject* o = PySequence_Fast_GET_ITEM(list, i);
      if (depth + 1 < rank) {
        if (!is_list(o)) {
          if (kind_of(o) != Kind::kOther || PyArray_IsScalar(o, Generic)) return false;
          odd = true;
          continue;
        }
        const Ref row = Ref::share(o);
        ran_code = !require_length(o) || ran_code;
        if (!check(o, depth + 1)) return false;
        continue;
      }
      if (is_list(o)) { mixed = true; return false; }
      see(o);
    }
    return true;
  }

  void see(PyObject* o) {
    if (kind == Kind::kFloat && PyFloat_CheckExact(o)) return;  // like those before
    DType own = DType::kFloat32;
    Kind k;
    Ref kept;
    if (is_numpy_scalar(o)) {
      kept = Ref::share(o);  // a subclass may run code
      own = dtype_of_scalar(o);
      k = kind_of_dtype(own);
      numpy = true;
      if (k == Kind::kBool) numpy_bool = true;
    } else {
      k = kind_of(o);
    }
    if (k == Kind::kOther) { odd = true; return; }
    if (k == Kind::kInt && !big_int) see_int(o);
    if (widest < k) widest = k;
    if (kind == Kind::kNone) {
      kind = k;
      if (k == Kind::kFloat) floats = own;
    } else if (k != kind) {
      see_another(k, own == DType::kBool);
    }
  }

  void see_int(PyObject* o) {
    int overflow = 0;
    const Ref value = PyLong_Check(o) ? Ref::share(o) : plain(o, Kind::kInt);
    const long long v = PyLong_AsLongLongAndOverflow(value.get(), &overflow);
    big_int = overflow || v < INT32_MIN || v > INT32_MAX;
  }

  // A leaf of another kind than the first: narrower ones join, and floats widen ints.
  void see_another(Kind k, bool is_numpy_bool) {
    if (k == Kind::kFloat && kind == Kind::kInt) kind = k;
    else if (kind == Kind::kBool || k > kind || kind == Kind::kString || is_numpy_bool) mixed = true;
  }

  DType natural_dtype() const {
    if (kind == Kind::kNone) return DType::kFloat32;
    if (kind == Kind::kFloat) return floats;
    return kind == Kind::kInt && big_int ? DType::kInt64 : natural(kind);
  }

  // Raises where the leaves do not make a tensor of dtype d, the one that was asked for or the natural one.
  void require_fit(PyObject* list, DType d) const {
    if (mixed && ((kFilled & bit(d)) == 0 || numpy_bool || !fits(widest, d))) {
      PyErr_SetString(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
      throw PythonError();
    }
    if (kind != Kind::kNone && (!fits(kind, d) || (numpy_bool && d != DType::kBool))) cannot_convert(list, d);
  }

  // Whether a leaf fits when it is read. Beside numbers that came first, bools are ints.
  bool takes(PyObject* leaf, DType d) const {
    const Kind k = kind_of(leaf);
    return fits(k == Kind::kBool && kind != Kind::kBool ? Kind::kInt : k, d);
  }
};

// Calls row(list, size) for the innermost lists of one that was measured: as many as were measured, each with as many
// elements, or ValueError.
template <typename F>
void for_rows(PyObject* list, int depth, const Nested& n, F&& row) {
  const int64_t size = n.dims[depth];
  if (PySequence_Fast_GET_SIZE(list) != size) not_rectangular();
  if (depth + 1 == n.rank) return row(list, size);
  for (int64_t i = 0; i < size; ++i) {
    if (i >= PySequence_Fast_GET_SIZE(list)) not_rectangular();  // it shrank under us
    PyObject* o = PySequence_Fast_GET_ITEM(list, i);
    if (!is_list(o)) not_rectangular();
    const Ref kept = Ref::share(o);
    for_rows(o, depth + 1, n, row);
  }
}

PyObject* object_array(int rank, const int64_t* dims) {
  npy_intp d[kMaxRank];
  for (int i = 0; i < rank; ++i) d[i] = dims[i];
  return PyArray_SimpleNew(rank, d, NPY_OBJECT);
}

Tensor* by_hook(PyObject* value, DType want, bool symbolic_too) {
  if (!hooks.convert) unsupported(value);
  const Ref number(PyLong_FromLong(static_cast<long>(want)));
  PyObject* args[] = {value, number.get()};
  Ref made(PyObject_Vectorcall(hooks.convert, args, 2, nullptr));
  // Classes and registered functions may return anything.
  if (!is_tensor(made.get())) {
    if (!PyObject_TypeCheck(made.get(), TensorBaseType)) unsupported(value);
    if (!symbolic_too) {
      PyErr_Format(PyExc_TypeError, "The conversion of %R returned the symbolic tensor %R where a value is needed.", value,
                   made.get());
      throw PythonError();
    }
  } else if (const DType have = reinterpret_cast<Tensor*>(made.get())->dtype; want != DType::kInvalid && have != want) {
    PyErr_Format(PyExc_RuntimeError, "The conversion of %R to dtype %s returned dtype %s.", value, dtype_name(want),
                 dtype_name(have));
    throw PythonError();
  }
  return reinterpret_cast<Tensor*>(made.release());
}

// Whether store_scalar knows elements of dtype d, without any Python code.
bool has_fast_path(DType d) {
  return (bit(d) & (bit(DType::kFloat32) | bit(DType::kFloat64) | bit(DType::kInt32) | bit(DType::kInt64) |
                    bit(DType::kBool))) != 0;
}

// A NumPy scalar array over the first element of t: its dtype as SETITEM wants it.
Ref view_of(Tensor* t) {
  PyArray_Descr* descr = np_dtypes[static_cast<int>(t->dtype)];
  Py_INCREF(descr);
  return Ref(PyArray_NewFromDescr(&PyArray_Type, descr, 0, nullptr, nullptr, t->data, NPY_ARRAY_CARRAY, nullptr));
}

Tensor* tensor_of(const Ref& r) { return reinterpret_cast<Tensor*>(r.get()); }
Ref owned(Tensor* t) { return Ref(reinterpret_cast<PyObject*>(t)); }

Tensor* list_to_tensor(PyObject* list, DType want, bool symbolic_too) {
  Nested n;
  n.measure(list);
  if (!n.check(list, 0)) {
    if (n.odd) return by_hook(list, want, symbolic_too);  // tensors or arrays beside lists
    if (!n.mixed) not_rectangular();
    PyErr_SetString(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
    throw PythonError();
  }
  if (n.odd) return by_hook(list, want, symbolic_too);  // tensors, arrays, ... among the leaves
  const DType d = want == DType::kInvalid ? n.natural_dtype() : want;
  const ShapeRef s(n.rank, n.dims);
  if (d == DType::kString || !is_object(d)) n.require_fit(list, d);
  if (d == DType::kString) {
    Ref a(object_array(n.rank, n.dims));
    auto** at = static_cast<PyObject**>(PyArray_DATA(array_of(a)));
    for_rows(list, 0, n, [&at](PyObject* row, int64_t size) {
      for (int64_t i = 0; i < size; ++i) {  // no Python code runs, but for an error
        PyObject* o = PySequence_Fast_GET_ITEM(row, i);
        PyObject* b = as_bytes(o);
        if (!b) cannot_convert(o, DType::kString);
        Py_XSETREF(*at, b);
        ++at;
      }
    });
    return object_tensor(d, s.get(), a.release());
  }
  if (is_object(d)) return by_hook(list, want, symbolic_too);
  Ref made = owned(new_tensor(d, s.get()));
  char* at = tensor_of(made)->data;
  const int step = item_size(d);
  if (has_fast_path(d) && !n.numpy) {
    for_rows(list, 0, n, [&](PyObject* row, int64_t size) {
      PyObject** items = PySequence_Fast_ITEMS(row);  // no Python code runs, but for an error
      char* to = at;
      for (int64_t i = 0; i < size; ++i, to += step) {
        if (n.ran_code && !n.takes(items[i], d)) cannot_convert(list, d);
        store_scalar(items[i], d, to);
      }
      at = to;
    });
  } else {
    const Ref view = view_of(tensor_of(made));
    for_rows(list, 0, n, [&](PyObject* row, int64_t size) {
      for (int64_t i = 0; i < size; ++i, at += step) {
        if (i >= PySequence_Fast_GET_SIZE(row)) not_rectangular();  // it shrank under us
        Ref o = Ref::share(PySequence_Fast_GET_ITEM(row, i));
        if (is_numpy_scalar(o.get())) o = plain(o.get(), kind_of_dtype(dtype_of_scalar(o.get())));
        if (!n.takes(o.get(), d)) cannot_convert(list, d);
        if (has_fast_path(d)) store_scalar(o.get(), d, at);
        else store_by_numpy(o.get(), d, array_of(view), at);
      }
    });
  }
  return reinterpret_cast<Tensor*>(made.release());
}

Tensor* scalar_to_tensor(PyObject* o, Kind k, DType want, bool symbolic_too) {
  DType d = want;
  if (d == DType::kInvalid) {
    d = natural(k);
    if (k == Kind::kInt) {
      int overflow = 0;
      const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (overflow || v < INT32_MIN || v > INT32_MAX) d = DType::kInt64;
    }
  }
  const ShapeRef s(Shape::scalar());
  if (d == DType::kString) {
    PyObject* b = as_bytes(o);
    if (!b) cannot_convert(o, d);
    const Ref bytes(b);
    Ref a(object_array(0, nullptr));
    Py_XSETREF(*static_cast<PyObject**>(PyArray_DATA(array_of(a))), Py_NewRef(b));
    return object_tensor(d, s.get(), a.release());
  }
  if (is_object(d)) return by_hook(o, want, symbolic_too);
  if (!fits(k, d)) cannot_convert(o, d);
  Ref made = owned(new_tensor(d, s.get()));
  Tensor* t = tensor_of(made);
  if (has_fast_path(d)) store_scalar(o, d, t->data);
  else store_by_numpy(o, d, array_of(view_of(t)), t->data);
  return reinterpret_cast<Tensor*>(made.release());
}

}  // namespace

Tensor* to_tensor(PyObject* value, DType want, bool symbolic_too) {
  if (is_tensor(value)) {
    auto* t = reinterpret_cast<Tensor*>(value);
    if (want != DType::kInvalid && t->dtype != want) {
      PyErr_Format(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
                   dtype_name(want), dtype_name(t->dtype), value);
      throw PythonError();
    }
    Py_INCREF(value);
    return t;
  }
  const Kind k = kind_of(value);
  // NumPy's float64 and str scalars are Python floats and strs too, but mean their own dtype.
  if (k != Kind::kOther && !PyArray_CheckScalar(value)) return scalar_to_tensor(value, k, want, symbolic_too);
  check_stack("the conversion of a value to a tensor");
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return list_to_tensor(value, want, symbolic_too);
  if (PyArray_Check(value)) return array_to_tensor(reinterpret_cast<PyArrayObject*>(value), want);
  if (is_variable(value)) {
    OwnedTensor t = read_variable(reinterpret_cast<Variable*>(value));
    if (want != DType::kInvalid && t->dtype != want) {
      PyErr_Format(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
                   dtype_name(want), dtype_name(t->dtype), value);
      throw PythonError();
    }
    return t.leak();
  }
  if (PyArray_CheckScalar(value)) {
    Ref a(PyArray_FromScalar(value, nullptr));
    return array_to_tensor(array_of(a), want);
  }
  if (value == Py_None) unsupported(value);
  return by_hook(value, want, symbolic_too);
}

namespace {

Tensor* released(Ref r) { return reinterpret_cast<Tensor*>(r.release()); }

// The tensor of an array in the preferred dtype, as TensorFlow casts it; in its own where integers would not be its numbers.
Tensor* cast_if_possible(Ref natural, DType preferred) {
  const DType own = tensor_of(natural)->dtype;
  const Kind from = kind_of_dtype(own), to = kind_of_dtype(preferred);
  const bool numbers = (to == Kind::kInt || to == Kind::kFloat || to == Kind::kComplex) && from <= Kind::kComplex;
  if (own == preferred || !numbers || (from == Kind::kComplex && to != from)) return released(std::move(natural));
  const Ref array(to_array(tensor_of(natural), false));
  Ref cast = owned(copy_array(array_of(array), preferred));
  if (is_integer(preferred)) {
    const Ref integers(to_array(tensor_of(cast), false));
    const Ref back = owned(copy_array(array_of(integers), own));
    const auto bytes = static_cast<size_t>(tensor_of(back)->bytes());
    if (std::memcmp(tensor_of(back)->data, tensor_of(natural)->data, bytes) != 0) return released(std::move(natural));
  }
  return released(std::move(cast));
}

}  // namespace

Tensor* to_tensor_preferring(PyObject* value, DType preferred, uint64_t allowed, bool beside_lists) {
  const bool array = PyArray_Check(value) || PyArray_IsScalar(value, Generic);
  if (array && !beside_lists) return cast_if_possible(owned(to_tensor(value, DType::kInvalid)), preferred);
  if (array || is_list(value)) {
    Ref natural = owned(to_tensor(value, DType::kInvalid));
    if (allowed & bit(tensor_of(natural)->dtype)) return released(std::move(natural));
  }
  try {
    return to_tensor(value, preferred);
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) throw;
    PyErr_Clear();
  }
  return to_tensor(value, DType::kInvalid);
}

DType declared_dtype(PyObject* value) {
  if (is_tensor(value)) return reinterpret_cast<Tensor*>(value)->dtype;
  if (is_variable(value)) return reinterpret_cast<Variable*>(value)->dtype;
  return DType::kInvalid;
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
  PyObject* a = PyArray_NewFromDescr(&PyArray_Type, d, t->rank(), dims, nullptr, t->data,
                                     NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, nullptr);
  if (!a) throw PythonError();
  Py_INCREF(t);
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(a), reinterpret_cast<PyObject*>(t)) < 0) {
    Py_DECREF(a);
    throw PythonError();
  }
  return a;
}

Tensor* from_array(PyObject* value, DType dtype) {
  if (is_tensor(value)) return to_tensor(value, dtype);
  if (!tf_dtypes[static_cast<int>(dtype)]) throw invalid("no such dtype: ", static_cast<int>(dtype));
  if (dtype == DType::kString) {
    Ref a(PyArray_FromAny(value, nullptr, 0, 0, 0, nullptr));
    return string_tensor(array_of(a));
  }
  if (is_object(dtype)) {  // resource, variant: the object is the element
    if (is_tensor_list(value)) return list_tensor(reinterpret_cast<TensorList*>(Py_NewRef(value)));
    PyObject* a = PyArray_Check(value) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)) == NPY_OBJECT
                      ? Py_NewRef(value) : object_array(0, nullptr);
    if (!a) throw PythonError();
    auto** at = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(a)));
    if (a != value) {
      Py_XSETREF(*at, Py_NewRef(value));
    } else if (PyArray_NDIM(reinterpret_cast<PyArrayObject*>(a)) == 0 && is_tensor_list(*at)) {
      PyObject* list = Py_NewRef(*at);
      Py_DECREF(a);
      return list_tensor(reinterpret_cast<TensorList*>(list));
    }
    ShapeRef s = shape_of(reinterpret_cast<PyArrayObject*>(a));
    return object_tensor(dtype, s.get(), a);
  }
  PyArray_Descr* d = np_dtypes[static_cast<int>(dtype)];
  if (PyArray_Check(value) && PyArray_ISCOMPLEX(reinterpret_cast<PyArrayObject*>(value)) && !is_complex(dtype)) {
    throw invalid("the result is complex, which ", dtype_name(dtype), " cannot hold");
  }
  Py_INCREF(d);
  Ref a(PyArray_FromAny(value, d, 0, 0, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED |
                                            NPY_ARRAY_FORCECAST, nullptr));
  if (PyArray_NBYTES(array_of(a)) < 1024) return copy_array(array_of(a), dtype);
  ShapeRef s = shape_of(array_of(a));
  // Fresh memory (ours alone, save for the caller's own reference to the result) may be updated in place later.
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

bool init_convert(PyObject* module) {
  if (_import_array() < 0) return false;
  return PyModule_AddFunctions(module, methods) == 0;
}

}  // namespace tapeflow
