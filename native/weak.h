// Weak references. CPython 3.15 has only the call that gives a reference of its own, 3.11 and 3.12 only the older one.
#pragma once
#include <Python.h>

#include "ref.h"

namespace tapeflow {

// What `weak` refers to; null once that is gone.
inline Ref referent(PyObject* weak) {
  PyObject* found = nullptr;
#if PY_VERSION_HEX >= 0x030d0000
  PyWeakref_GetRef(weak, &found);
#else
  found = PyWeakref_GetObject(weak);
  found = found == Py_None ? nullptr : Py_NewRef(found);
#endif
  return Ref::or_null(found);
}

}  // namespace tapeflow
