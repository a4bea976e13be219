// The Python face of tensors: what module.cc sets up and what the variable's type shares with them.
#pragma once
#include "guard.h"
#include "op.h"
#include "tensor.h"

namespace tapeflow {

bool init_tensor(PyObject* module);
bool init_tensor_operators(PyObject* module);  // called by init_tensor
bool init_dlpack(PyObject* module);            // called by init_tensor
bool init_tensor_protocols(PyObject* module);  // called by init_tensor
bool init_public(PyObject* module);

// What +, <, [] and the like do with a tensor or a variable on either side.
extern PyNumberMethods tensor_number_methods;
PyObject* tensor_richcompare(PyObject* x, PyObject* y, int how);
Py_hash_t tensor_hash(PyObject* o);
PyObject* tensor_getitem(PyObject* o, PyObject* key);
OpDef* getitem_op();  // null: no such operator yet

// What Python asks of a tensor's type: slots, which set Python's error.
int tensor_bool(PyObject* o);
PyObject* tensor_int(PyObject* o);
PyObject* tensor_float(PyObject* o);
PyObject* tensor_index(PyObject* o);
PyObject* tensor_complex(PyObject* o, PyObject*);
Py_ssize_t tensor_length(PyObject* o);
PyObject* tensor_iterate(PyObject* o);
int tensor_get_buffer(PyObject* o, Py_buffer* view, int flags);
void tensor_release_buffer(PyObject* o, Py_buffer* view);

PyObject* make_reference(PyObject* o);         // what ref() returns: hashable, equal by identity
PyObject* tuple_of(const Shape* shape);  // new reference; throws
PyObject* tensor_shape_object(Shape* shape);   // new reference to the TensorShape

PyObject* tensor_dlpack(PyObject* self, PyObject* args, PyObject* kwargs);
PyObject* tensor_dlpack_device(PyObject* self, PyObject*);

inline PyObject* object(Tensor* t) { return reinterpret_cast<PyObject*>(t); }
inline Tensor* tensor(PyObject* o) { return reinterpret_cast<Tensor*>(o); }

}  // namespace tapeflow
