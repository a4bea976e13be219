// Example messages read.
#pragma once
#include <Python.h>

namespace tapeflow {

bool init_examples(PyObject* module);  // read_features and read_feature for Python

}  // namespace tapeflow
