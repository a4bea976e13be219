// Objects that live as long as the process.
#pragma once
#include <Python.h>

namespace tapeflow {

// Ends the counting of references to o, where threads would wait for each other's counting: without a GIL.
inline void keep_for_ever([[maybe_unused]] PyObject* o) {
#ifdef Py_GIL_DISABLED
  if (PyObject_GC_IsTracked(o)) PyObject_GC_UnTrack(o);
  o->ob_ref_local = _Py_IMMORTAL_REFCNT_LOCAL;
  o->ob_ref_shared = 0;
#endif
}

}  // namespace tapeflow
