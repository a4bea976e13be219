// The best label sequences of a CTC network.
#pragma once
#include <Python.h>

namespace tapeflow {

extern PyMethodDef beam_search_methods[];  // beam_search for Python kernels

}  // namespace tapeflow
