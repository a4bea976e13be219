#include "foreign_arrays.h"

#include <cstring>
#include <utility>

#include "arrays.h"
#include "guard.h"
#include "owned_tensor.h"
#include "ref.h"
#include "tensor.h"

namespace tapeflow {
namespace {

constexpr int64_t kCopied = 1024;  // bytes; smaller arrays are not worth a view

// What jax.Array calls them.
struct Names {
  PyObject* wait = PyUnicode_InternFromString("block_until_ready");
  PyObject* address = PyUnicode_InternFromString("unsafe_buffer_pointer");
  PyObject* shape = PyUnicode_InternFromString("shape");
};

const Names& names() {
  static const Names found;
  return found;
}

void release_array(void* array) {
  if (Py_IsInitialized()) Py_DECREF(static_cast<PyObject*>(array));
}

OwnedTensor tensor_over(PyObject* array, DType dtype) {
  const Names& name = names();
  const Ref ready(PyObject_CallMethodNoArgs(array, name.wait));
  const Ref address(PyObject_CallMethodNoArgs(array, name.address));
  const Ref sizes(PyObject_GetAttr(array, name.shape));
  if (!PyTuple_Check(sizes.get()) || PyTuple_GET_SIZE(sizes.get()) > kMaxRank) throw invalid("an array without a shape");
  int64_t dims[kMaxRank];
  const auto rank = static_cast<int>(PyTuple_GET_SIZE(sizes.get()));
  for (int i = 0; i < rank; ++i) {
    dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes.get(), i));
    if (dims[i] < 0) throw invalid("an array without a shape");
  }
  auto* data = static_cast<char*>(PyLong_AsVoidPtr(address.get()));
  if (!data && PyErr_Occurred()) throw PythonError();
  const ShapeRef shape(rank, dims);
  const int64_t bytes = shape.get()->size * item_size(dtype);
  if (bytes < kCopied) {
    OwnedTensor t(new_tensor(dtype, shape.get()));
    if (bytes) std::memcpy(t->data, data, static_cast<size_t>(bytes));
    return t;
  }
  OwnedTensor t(object_tensor(dtype, shape.get(), nullptr));
  t->buffer = Buffer::wrap(data, static_cast<size_t>(bytes), false, release_array, array);
  Py_INCREF(array);
  t->data = data;
  return t;
}

// Tensors with the elements of arrays of jax on its CPU device, of these dtypes, which they have as that attribute.
Ref all_over(PyObject* arrays, PyObject* numbers, PyObject* attribute) {
  const Ref given(PySequence_Tuple(arrays));
  const Py_ssize_t n = PyTuple_GET_SIZE(numbers);
  if (PyTuple_GET_SIZE(given.get()) != n) throw invalid(n, " dtypes for ", PyTuple_GET_SIZE(given.get()), " arrays");
  Ref made = unfinished_list(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    const long number = PyLong_AsLong(PyTuple_GET_ITEM(numbers, i));
    if (number == -1 && PyErr_Occurred()) throw PythonError();
    if (number <= 0 || number >= kDTypeCount || !numpy_dtype_object(static_cast<DType>(number))) {
      throw invalid("no dtype of arrays: ", number);
    }
    PyObject* array = PyTuple_GET_ITEM(given.get(), i);
    auto* t = reinterpret_cast<PyObject*>(tensor_over(array, static_cast<DType>(number)).leak());
    PyList_SET_ITEM(made.get(), i, t);
    if (PyObject_SetAttr(t, attribute, array) < 0) throw PythonError();
  }
  return Ref(whole(std::move(made)));
}

// The array of a tensor; null where it has none.
Ref array_of(PyObject* o, PyObject* attribute) {
  PyObject* dict = is_tensor(o) ? reinterpret_cast<Tensor*>(o)->dict : nullptr;
  PyObject* array = nullptr;
#ifdef Py_GIL_DISABLED
  if (dict && PyDict_GetItemRef(dict, attribute, &array) < 0) throw PythonError();
#else
  if (dict) array = Py_XNewRef(PyDict_GetItemWithError(dict, attribute));
  if (!array && PyErr_Occurred()) throw PythonError();
#endif
  Ref found = Ref::or_null(array);
  return found.get() == Py_None ? Ref() : std::move(found);
}

// The tensors share the memory of all but small arrays, and keep these.
PyObject* tensors_over(PyObject*, PyObject* args) {
  PyObject *arrays, *numbers, *attribute;
  if (!PyArg_ParseTuple(args, "OO!U", &arrays, &PyTuple_Type, &numbers, &attribute)) return nullptr;
  return all_over(arrays, numbers, attribute).release();
}

PyObject* arrays_of(PyObject*, PyObject* args) {
  PyObject *tensors, *attribute;
  if (!PyArg_ParseTuple(args, "O!U", &PyTuple_Type, &tensors, &attribute)) return nullptr;
  const Py_ssize_t n = PyTuple_GET_SIZE(tensors);
  Ref found = unfinished_list(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    Ref array = array_of(PyTuple_GET_ITEM(tensors, i), attribute);
    if (!array) Py_RETURN_NONE;
    PyList_SET_ITEM(found.get(), i, array.release());
  }
  return whole(std::move(found));
}

// Both, around a call: what a program costs that changes no variable.
PyObject* call_over(PyObject*, PyObject* args) {
  PyObject *function, *numbers, *attribute, *tensors;
  if (!PyArg_ParseTuple(args, "OO!UO!", &function, &PyTuple_Type, &numbers, &attribute, &PyTuple_Type, &tensors)) return nullptr;
  const Py_ssize_t n = PyTuple_GET_SIZE(tensors);
  Ref found = unfinished_tuple(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    Ref array = array_of(PyTuple_GET_ITEM(tensors, i), attribute);
    if (!array) Py_RETURN_NONE;
    PyTuple_SET_ITEM(found.get(), i, array.release());
  }
  const Ref arrays(whole(std::move(found)));
  const Ref results(PyObject_Call(function, arrays.get(), nullptr));
  return all_over(results.get(), numbers, attribute).release();
}

}  // namespace

PyMethodDef foreign_array_methods[] = {
    {"tensors_over", entry<tensors_over>, METH_VARARGS,
     "tensors_over(arrays, dtype numbers, attribute): tensors that share the memory of arrays, and have them as an attribute"},
    {"arrays_of", entry<arrays_of>, METH_VARARGS,
     "arrays_of(tensors, attribute): that attribute of each tensor; None where one has none"},
    {"call_over", entry<call_over>, METH_VARARGS,
     "call_over(function, dtype numbers, attribute, tensors): function of their arrays; None where one has none"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
