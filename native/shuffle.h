// The order that a shuffle buffer gives to numbers.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace tapeflow {

// shuffle_through and shuffle_rest for Python.
extern PyMethodDef shuffle_methods[];

}  // namespace tapeflow
