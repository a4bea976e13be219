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
  Ref(Ref&& o) noexcept : p_(o.release()) {}
  Ref& operator=(Ref&& o) noexcept { std::swap(p_, o.p_); return *this; }
  ~Ref() { Py_XDECREF(p_); }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }

 private:
  PyObject* p_ = nullptr;
};

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
