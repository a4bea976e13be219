// Where keys are among others.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace tapeflow {

extern PyMethodDef key_index_methods[];  // key_index and key_places for Python

}  // namespace tapeflow
