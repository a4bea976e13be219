// Tensors <-> NumPy arrays, and TensorFlow's and NumPy's objects for each dtype.
#pragma once
#include "ref.h"
#include "tensor.h"

namespace tapeflow {

// A NumPy array over the tensor's memory, read-only unless copy. New reference.
PyObject* to_array(Tensor* t, bool copy);

// A tensor of `dtype` from an array-like result of a Python kernel; takes over fresh memory without a copy.
Tensor* from_array(PyObject* array, DType dtype);

// The tensor of a user's array: cast to `want`, whatever it holds, or of the array's dtype where want == kInvalid.
Tensor* array_to_tensor(PyObject* array, DType want);

// A new tensor of `dtype`, which is not string, with the array's values, cast as NumPy casts them.
Tensor* copy_array(PyObject* array, DType dtype);

// The Python object that is a scalar tensor of dtype resource or variant; borrowed, null where there is none.
PyObject* element_object(const Tensor* t);

// The bytes of a str, bytes-like, or NumPy bytes or str scalar; new reference, or null for another value.
PyObject* as_bytes(PyObject* o);

PyObject* object_array(int rank, const int64_t* dims);  // a new NumPy array of objects, all null

// A NumPy scalar array over the first element of t: its dtype as PyArray_SETITEM wants it.
Ref first_element_array(Tensor* t);

PyObject* dtype_object(DType d);             // borrowed: tf.float32
PyObject* numpy_dtype_object(DType d);       // borrowed: np.dtype, null for resource and variant
DType dtype_of_descr(PyObject* np_dtype);    // kInvalid where no tensor holds such values
DType parse_dtype(PyObject* o);              // a DType, or anything as_dtype takes; throws PythonError

// Errors of conversions. The message asks the value for its repr; the value is owned meanwhile.
[[noreturn]] void cannot_convert(PyObject* given, DType want);
[[noreturn]] void unsupported(PyObject* given);

bool init_arrays(PyObject* module);

}  // namespace tapeflow
