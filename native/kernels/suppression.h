// Boxes that overlap better ones, left out.
#pragma once
#include <Python.h>

namespace tapeflow {

extern PyMethodDef suppression_methods[];  // suppress_boxes for Python kernels

}  // namespace tapeflow
