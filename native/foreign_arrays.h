// Tensors over arrays of another library's that are in the host's memory, and the arrays that tensors were made over.
#pragma once
#include <Python.h>

namespace tapeflow {

extern PyMethodDef foreign_array_methods[];

}  // namespace tapeflow
