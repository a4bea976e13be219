#include "convert.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <cstring>
#include <vector>

#include "arrays.h"
#include "op.h"
#include "ref.h"
#include "stack.h"
#include "tape.h"
#include "variable.h"

namespace tapeflow {

namespace {

PyArrayObject* array_of(const Ref& r) { return reinterpret_cast<PyArrayObject*>(r.get()); }

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
  return dtype_of_descr(descr.get());
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
      o = Ref(element_of(o.get(), 0));
    }
  }

  // false when the list is not rectangular
  bool check(PyObject* list, int depth) {
    const Critical alone(list);
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
  const Critical alone(list);
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
    const Ref view = first_element_array(tensor_of(made));
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
  else store_by_numpy(o, d, array_of(first_element_array(t)), t->data);
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
  if (PyArray_Check(value)) return array_to_tensor(value, want);
  if (is_cell(value)) {
    OwnedTensor t = read_variable(variable_at(value));
    if (want != DType::kInvalid && t->dtype != want) {
      PyErr_Format(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
                   dtype_name(want), dtype_name(t->dtype), value);
      throw PythonError();
    }
    return t.leak();
  }
  if (PyArray_CheckScalar(value)) {
    Ref a(PyArray_FromScalar(value, nullptr));
    return array_to_tensor(a.get(), want);
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
  if (own == preferred || !numbers) return released(std::move(natural));
  const Ref array(to_array(tensor_of(natural), false));
  Ref cast = owned(copy_array(array.get(), preferred));
  if (is_integer(preferred)) {
    const Ref integers(to_array(tensor_of(cast), false));
    const Ref back = owned(copy_array(integers.get(), own));
    const auto bytes = static_cast<size_t>(tensor_of(back)->bytes());
    if (std::memcmp(tensor_of(back)->data, tensor_of(natural)->data, bytes) != 0) return released(std::move(natural));
  }
  return released(std::move(cast));
}

}  // namespace

Tensor* to_tensor_preferring(PyObject* value, DType preferred, uint64_t allowed, bool beside_lists) {
  const bool scalar = PyArray_IsScalar(value, Generic);
  const bool array = PyArray_Check(value) || PyArray_IsScalar(value, Double);  // the latter is a Python float, too
  if (array && !beside_lists) return cast_if_possible(owned(to_tensor(value, DType::kInvalid)), preferred);
  if (array || scalar || is_list(value) || PyComplex_Check(value)) {
    Ref natural = owned(to_tensor(value, DType::kInvalid));
    if (allowed & bit(tensor_of(natural)->dtype)) return released(std::move(natural));
    if (scalar) return cast_if_possible(std::move(natural), preferred);
  }
  try {
    return to_tensor(value, preferred);
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) throw;
    PyErr_Clear();
  }
  return to_tensor(value, DType::kInvalid);
}

namespace {

// Whether store_scalar writes a Python number as an element of dtype d without an error.
bool stores(PyObject* number, DType d) {
  if (PyFloat_CheckExact(number)) return is_floating(d);
  if (PyBool_Check(number)) return true;
  if (!PyLong_CheckExact(number) || d == DType::kBool) return false;
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(number, &overflow);
  return !overflow && (d != DType::kInt32 || (v >= INT32_MIN && v <= INT32_MAX));
}

OwnedTensor list_of_numbers(PyObject* list, DType want) {
  const Critical alone(list);
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  if (n == 0) return {};
  PyObject* first = PySequence_Fast_GET_ITEM(list, 0);
  const PyTypeObject* type = Py_TYPE(first);
  if (type != &PyFloat_Type && type != &PyLong_Type) return {};
  const DType d = want == DType::kInvalid ? natural(kind_of(first)) : want;
  if (!has_fast_path(d)) return {};
  const ShapeRef s(1, &n);
  OwnedTensor made(new_tensor(d, s.get()));  // Python 3.11 may collect garbage here: the items are looked at afterwards
  if (PySequence_Fast_GET_SIZE(list) != n) return {};
  PyObject** items = PySequence_Fast_ITEMS(list);
  char* at = made->data;
  for (Py_ssize_t i = 0; i < n; ++i, at += item_size(d)) {
    if (Py_TYPE(items[i]) != type || !stores(items[i], d)) return {};
    store_scalar(items[i], d, at);
  }
  return made;
}

}  // namespace

OwnedTensor numbers_to_tensor(PyObject* value, DType want) {
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return list_of_numbers(value, want);
  if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value) && !PyBool_Check(value)) return {};
  const DType d = want == DType::kInvalid ? natural(kind_of(value)) : want;
  if (!has_fast_path(d) || !stores(value, d)) return {};
  const ShapeRef s(Shape::scalar());
  OwnedTensor made(new_tensor(d, s.get()));
  store_scalar(value, d, made->data);
  return made;
}

DType declared_dtype(PyObject* value) {
  const DType at_hand = dtype_at_hand(value);
  if (at_hand != DType::kInvalid || !is_variable(value)) return at_hand;
  // The class says what reading gives, and of which dtype; what it runs may drop the list that holds it.
  const Ref owned = Ref::share(value);
  try {
    return parse_dtype(Ref(PyObject_GetAttrString(value, "dtype")).get());
  } catch (const PythonError&) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw;  // KeyboardInterrupt and the like
    PyErr_Clear();
    return DType::kInvalid;
  }
}

bool init_convert() { return _import_array() >= 0; }

}  // namespace tapeflow
