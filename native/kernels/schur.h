// The Schur form of a complex matrix, and roots of triangular ones.
#pragma once
#include <Python.h>

namespace tapeflow {

extern PyMethodDef schur_methods[];  // schur and triangular_root for Python kernels

}  // namespace tapeflow
