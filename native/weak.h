// Weak references. CPython 3.15 has only the call that gives a reference of its own, 3.11 and 3.12 only the older one.
#pragma once
#include <Python.h>

namespace tapeflow {

// What `weak` refers to, nullptr once that is gone. Borrowed: it lives on while the caller holds the GIL and runs no
// Python code, because whoever owned it before the call still does.
inline PyObject* referent(PyObject* weak) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* found = nullptr;
  PyWeakref_GetRef(weak, &found);
  Py_XDECREF(found);
  return found;
#else
  PyObject* found = PyWeakref_GetObject(weak);
  return found == Py_None ? nullptr : found;
#endif
}

}  // namespace tapeflow
