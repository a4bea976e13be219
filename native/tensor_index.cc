// tensor[key]: basic keys become one StridedSlice; all others are Python's.
#include "convert.h"
#include "ref.h"
#include "stack.h"
#include "tensor_type.h"
#include "variable.h"

namespace tapeflow {

namespace {

constexpr Py_ssize_t kMaxKeys = 62;  // the masks are 64-bit numbers

enum class Found { kYes, kNo, kError };

Found integer(PyObject* o, int64_t* value) {
  if (PyBool_Check(o)) return Found::kNo;
  Ref number;
  if (PyLong_Check(o)) {
    number = Ref::share(o);
  } else if (is_tensor(o)) {
    const Tensor* t = tensor(o);
    if (t->rank() != 0 || !t->on_host()) return Found::kNo;
    if (t->dtype == DType::kInt32) { *value = *t->as<int32_t>(); return Found::kYes; }
    if (t->dtype == DType::kInt64) { *value = *t->as<int64_t>(); return Found::kYes; }
    return Found::kNo;
  } else {
    if (!PyIndex_Check(o) || PyObject_TypeCheck(o, TensorBaseType) || is_variable(o)) return Found::kNo;
    number = Ref::or_null(PyNumber_Index(o));
    if (!number) {  // arrays, for one
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) return Found::kError;
      PyErr_Clear();
      return Found::kNo;
    }
    // A one-element array is an array, not a number: it keeps its axis.
    const Ref ndim = Ref::or_null(PyObject_GetAttrString(o, "ndim"));
    const bool array = ndim && PyLong_Check(ndim.get()) && PyLong_AsLong(ndim.get()) != 0;
    PyErr_Clear();
    if (array) return Found::kNo;
  }
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow) {  // as in the conversion of any list of numbers
    PyErr_SetString(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
    return Found::kError;
  }
  if (v == -1 && PyErr_Occurred()) return Found::kError;
  *value = v;
  return Found::kYes;
}

struct Keys {
  int n = 0;
  bool wide = false;
  int64_t begin[kMaxKeys], end[kMaxKeys], stride[kMaxKeys];
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;

  void put(int64_t b, int64_t e, int64_t s) {
    for (int64_t v : {b, e, s}) wide |= v < INT32_MIN || v > INT32_MAX;
    begin[n] = b;
    end[n] = e;
    stride[n++] = s;
  }

  Found add(PyObject* k) {
    const int64_t here = int64_t{1} << n;
    if (k == Py_None) { new_axis_mask |= here; put(0, 0, 1); return Found::kYes; }
    if (k == Py_Ellipsis) { ellipsis_mask |= here; put(0, 0, 1); return Found::kYes; }
    if (PySlice_Check(k)) {
      auto* s = reinterpret_cast<PySliceObject*>(k);
      int64_t v[3] = {0, 0, 1};
      PyObject* parts[3] = {s->start, s->stop, s->step};
      for (int i = 0; i < 3; ++i) {
        if (parts[i] == Py_None) {
          if (i == 0) begin_mask |= here;
          if (i == 1) end_mask |= here;
          continue;
        }
        const Found f = integer(parts[i], &v[i]);
        if (f != Found::kYes) return f;
      }
      put(v[0], v[1], v[2]);
      return Found::kYes;
    }
    int64_t i;
    const Found f = integer(k, &i);
    if (f != Found::kYes) return f;
    shrink_mask |= here;
    put(i, i == INT64_MAX ? i : i + 1, 1);
    return Found::kYes;
  }

  PyObject* vector(const int64_t* v) const {
    const int64_t dims[1] = {n};
    Tensor* t = new_tensor(wide ? DType::kInt64 : DType::kInt32, 1, dims);
    for (int i = 0; i < n; ++i) {
      if (wide) t->as<int64_t>()[i] = v[i];
      else t->as<int32_t>()[i] = static_cast<int32_t>(v[i]);
    }
    return object(t);
  }
};

struct Arguments {
  PyObject* of[9] = {};
  ~Arguments() { for (PyObject* o : of) Py_XDECREF(o); }
};

PyObject* by_hook(PyObject* o, PyObject* key) {
  if (!hooks.getitem) return PyErr_Format(PyExc_TypeError, "Tensors cannot be indexed by %R", key);
  PyObject* args[] = {o, key};
  return PyObject_Vectorcall(hooks.getitem, args, 2, nullptr);
}

}  // namespace

PyObject* tensor_getitem(PyObject* o, PyObject* key) {
  return guarded([&]() -> PyObject* {
    check_stack("indexing");
    Keys keys;
    Found f = Found::kYes;
    if (PyTuple_Check(key)) {
      const Py_ssize_t n = PyTuple_GET_SIZE(key);
      if (n > kMaxKeys) return by_hook(o, key);
      for (Py_ssize_t i = 0; i < n && f == Found::kYes; ++i) f = keys.add(PyTuple_GET_ITEM(key, i));
    } else {
      f = keys.add(key);
    }
    if (f == Found::kError) return nullptr;
    if (f == Found::kNo) return by_hook(o, key);
    Arguments a;
    a.of[0] = Py_NewRef(o);
    a.of[1] = keys.vector(keys.begin);
    a.of[2] = keys.vector(keys.end);
    a.of[3] = keys.vector(keys.stride);
    const int64_t masks[] = {keys.begin_mask, keys.end_mask, keys.ellipsis_mask, keys.new_axis_mask,
                             keys.shrink_mask};
    for (int i = 0; i < 5; ++i) {
      if (!(a.of[4 + i] = PyLong_FromLongLong(masks[i]))) return nullptr;
    }
    bool known;
    PyObject* r = call_getitem_op(a.of, 9, &known);
    return known ? r : by_hook(o, key);
  });
}

}  // namespace tapeflow
