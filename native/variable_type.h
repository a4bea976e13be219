// The Python type of variables.
#pragma once
#include "variable.h"

namespace tapeflow {

// Adds x to the variable's value, or subtracts it, in place. False, with nothing done, where dtypes
// or shapes differ or there is no native kernel.
bool update_in_place(WritableValue& v, const Tensor* x, bool subtract);

// The variable takes the value of t: over the same memory, copied when either is updated in place. False, with nothing
// done, where it has no value yet, or one of another dtype or shape.
bool replace_value(Variable* v, Tensor* t);

bool init_variable(PyObject* module);

}  // namespace tapeflow
