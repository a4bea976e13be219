// Tensors read from files of raw elements.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace tapeflow {

// read_tensor for Python.
extern PyMethodDef tensor_file_methods[];

}  // namespace tapeflow
