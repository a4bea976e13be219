// Runs a row's Python kernel on tensors: NumPy arrays in, tensors out, errors as tf.errors.*.
#pragma once
#include "op.h"

namespace tapeflow {

struct PythonCall {
  const OpDef* op;
  Tensor* const* in;              // list inputs are flattened
  const int* list_sizes;          // length of each list input, in order
  const Attr* attrs;
  PyObject* const* attr_objects;  // as given; null entries mean the default
  const DType* types;             // of the op's type variables
  const int* out_sizes;           // elements of each output
  Tensor** out;                   // to fill
};

// Throws PythonError, with the exception of the kernel set, named after the op.
void run_python_kernel(const PythonCall& call);

bool init_python_kernel();

}  // namespace tapeflow
