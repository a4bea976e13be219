// A variable: a named cell that holds one tensor and replaces or updates it in place.
#pragma once
#include "tensor.h"

namespace tapeflow {

struct Variable {
  PyObject_HEAD
  Tensor* value;       // null until initialised
  Tensor* handle;      // scalar resource tensor that stands for the variable as an op's input; made on first use
  int64_t id;          // tapes know the variable by it
  DType dtype;
  bool trainable;
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject* VariableType;  // base of tf.Variable
inline bool is_variable(PyObject* o) { return PyObject_TypeCheck(o, VariableType); }

// The tensor that stands for v as an input of type resource. Borrowed.
Tensor* handle_of(Variable* v);

// The variable behind an input of type resource, initialised or not; null where there is none. Borrowed.
Variable* variable_behind(const Tensor* handle);

// The same, where its value is wanted; throws FailedPrecondition when it is gone or uninitialised.
Variable* variable_of(const Tensor* handle);

// The variable's value, in memory that nobody else sees (copied first when somebody does), to be updated in place.
Tensor* writable_value(Variable* v);

// Replaces the value. Steals t. The dtype must be the variable's (checked by the caller).
void set_value(Variable* v, Tensor* t);

}  // namespace tapeflow
