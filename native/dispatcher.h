// The fast path of a traced function: which plan fits the arguments, found without Python.
#pragma once
#include <Python.h>

namespace tapeflow {

bool init_dispatcher(PyObject* module);

}  // namespace tapeflow
