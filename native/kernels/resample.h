// Images sampled at other places: weighted sums of a few rows and of a few columns.
#pragma once
#include <Python.h>

namespace tapeflow {

extern PyMethodDef resample_methods[];  // resample and spread for Python kernels

}  // namespace tapeflow
