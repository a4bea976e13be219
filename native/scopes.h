// Blocks that change what a thread does; see scopes.cc.
#pragma once
#include <Python.h>

namespace tapeflow {

bool init_scopes(PyObject* module);

}  // namespace tapeflow
