// tensor[key]: basic keys become one StridedSlice; all others are Python's.
#include "convert.h"
#include "guard.h"
#include "op.h"
#include "owned_tensor.h"
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

  OwnedTensor vector(const int64_t* v) const {
    const int64_t dims[1] = {n};
    OwnedTensor t(new_tensor(wide ? DType::kInt64 : DType::kInt32, 1, dims));
    for (int i = 0; i < n; ++i) {
      if (wide) t->as<int64_t>()[i] = v[i];
      else t->as<int32_t>()[i] = static_cast<int32_t>(v[i]);
    }
    return t;
  }
};

constexpr int kMasks = 5;

// Whether the op's kernel says it all: no tape watches, and no graph or other device has a say.
bool is_plain(const OpDef* op, const Tensor* t) {
  return op->native[static_cast<int>(t->dtype)] && t->on_host() && !t->dict && thread_state.graph_scope == 0 &&
         thread_state.device == 0 && thread_state.n_tapes == 0;
}

// Null without an exception where the kernel leaves it to Python's.
PyObject* slice_plainly(const OpDef* op, Tensor* const* in, const int64_t (&values)[kMasks]) {
  Attr masks[kMasks];
  for (int i = 0; i < kMasks; ++i) masks[i].i = values[i];
  Tensor* out = nullptr;
  KernelCall c{op, 4, in, masks, 1, &out};
  return op->native[static_cast<int>(in[0]->dtype)](c) ? object(out) : nullptr;
}

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
    OpDef* op = getitem_op();
    if (!op) return by_hook(o, key);
    const OwnedTensor begin = keys.vector(keys.begin), end = keys.vector(keys.end), stride = keys.vector(keys.stride);
    const int64_t masks[kMasks] = {keys.begin_mask, keys.end_mask, keys.ellipsis_mask, keys.new_axis_mask,
                                   keys.shrink_mask};
    if (is_tensor(o)) {
      Tensor* const in[] = {tensor(o), begin.get(), end.get(), stride.get()};
      if (is_plain(op, in[0])) {
        if (PyObject* r = guarded(op, [&] { return slice_plainly(op, in, masks); })) return r;
        if (PyErr_Occurred()) return nullptr;
      }
    }
    Ref numbers[kMasks];
    PyObject* args[4 + kMasks] = {o, object(begin.get()), object(end.get()), object(stride.get())};
    for (int i = 0; i < kMasks; ++i) {
      numbers[i] = Ref(PyLong_FromLongLong(masks[i]));
      args[4 + i] = numbers[i].get();
    }
    return call_op(op, args, 4 + kMasks, nullptr);
  });
}

}  // namespace tapeflow
