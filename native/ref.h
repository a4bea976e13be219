// Owning references to Python objects.
#pragma once
#include <Python.h>

#include <utility>

#include "error.h"

namespace tapeflow {

class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* o) : p_(o) { if (!o) throw PythonError(); }  // takes over what a call returned
  static Ref share(PyObject* o) { return Ref(Py_NewRef(o)); }
  static Ref or_null(PyObject* o) { Ref r; r.p_ = o; return r; }  // null: with the exception left as it is
  Ref(Ref&& o) noexcept : p_(o.release()) {}
  Ref& operator=(Ref&& o) noexcept { std::swap(p_, o.p_); return *this; }
  ~Ref() { Py_XDECREF(p_); }
  PyObject* get() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  PyObject* release() { return std::exchange(p_, nullptr); }

 private:
  PyObject* p_ = nullptr;
};

// The exception that is set, if any, put aside while other code runs. It is dropped unless it is restored.
class Raised {
 public:
  Raised() { PyErr_Fetch(&type, &value, &trace); }
  ~Raised() {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;
  // Makes value the exception itself, which knows its traceback.
  void normalize() {
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value) PyException_SetTraceback(value, trace);
  }
  void restore() {
    PyErr_Restore(std::exchange(type, nullptr), std::exchange(value, nullptr), std::exchange(trace, nullptr));
  }
  PyObject *type, *value, *trace;
};

// The element of a list or tuple, a new reference; null with IndexError where it has so many no more.
inline PyObject* element_of(PyObject* sequence, Py_ssize_t i) {
#ifdef Py_GIL_DISABLED
  if (PyList_Check(sequence)) return PyList_GetItemRef(sequence, i);
#endif
  if (i < PySequence_Fast_GET_SIZE(sequence)) return Py_NewRef(PySequence_Fast_GET_ITEM(sequence, i));
  PyErr_SetString(PyExc_IndexError, "the list has fewer elements");
  return nullptr;
}

// A tuple or list that is filled while Python code may run. The collector, and with it gc.get_objects(), sees it
// only once whole() says that no item is missing.
inline Ref unfinished_tuple(Py_ssize_t n) {
  Ref t(PyTuple_New(n));
  if (n > 0) PyObject_GC_UnTrack(t.get());  // the empty tuple is everybody's
  return t;
}
inline Ref unfinished_list(Py_ssize_t n) {
  Ref l(PyList_New(n));
  PyObject_GC_UnTrack(l.get());
  return l;
}
inline PyObject* whole(Ref container) {
  if (!PyObject_GC_IsTracked(container.get())) PyObject_GC_Track(container.get());
  return container.release();
}

}  // namespace tapeflow
