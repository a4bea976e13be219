// The Python type CreationLock.
#pragma once
#include <Python.h>

namespace tapeflow {

// Sets a Python error where it cannot.
bool init_creation_lock(PyObject* module);

}  // namespace tapeflow
