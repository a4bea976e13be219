// The end of the interpreter, as native code sees it.
#pragma once
#include <Python.h>

namespace tapeflow {

// From then on a thread that waits for the GIL waits for ever (exit.cc).
inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// Makes the end of the process safe for threads that compute without the GIL. Sets a Python error where it cannot.
bool init_exit();

}  // namespace tapeflow
