// Python values -> tensors, with TensorFlow's inference and strictness.
#pragma once
#include "owned_tensor.h"

namespace tapeflow {

// New reference. want == kInvalid: infer. Throws PythonError (TypeError, ValueError, ...).
// A tensor of another dtype than `want` is an error: nothing is cast silently. symbolic_too: what a class or a
// registered function makes of its own values may be a tensor of a graph, which is no Tensor but in name; else a TypeError.
Tensor* to_tensor(PyObject* value, DType want, bool symbolic_too = false);

// A value that is no tensor, for an op that prefers a dtype among those that it allows. As in TensorFlow, scalars and arrays
// become the preferred one if they can; lists, and arrays beside lists, only where their own is not allowed. An array whose
// numbers integers of the preferred dtype cannot hold keeps its own.
Tensor* to_tensor_preferring(PyObject* value, DType preferred, uint64_t allowed, bool beside_lists);

// What to_tensor makes of a Python float, int or bool, or of a list or tuple of such floats or ints alone; none of a
// subclass. kInvalid: of the dtype that they have by themselves. Null, without an exception, for other values, and where
// it would be an error or an int64 that was not asked for. Runs no Python code.
OwnedTensor numbers_to_tensor(PyObject* value, DType want);

// The dtype `value` would have, if that is seen at a glance (tensor, variable, NumPy array or scalar); else kInvalid.
DType declared_dtype(PyObject* value);

bool init_convert();

}  // namespace tapeflow
