// The eager tensor: dtype, shape, a counted buffer. A CPython object, made and freed in a few ns.
#pragma once
#include <Python.h>

#include "buffer.h"
#include "dtype.h"
#include "error.h"
#include "shape.h"

namespace tapeflow {

struct Tensor {
  PyObject_HEAD
  Shape* shape;
  Buffer* buffer;       // null when payload holds the elements
  char* data;           // first element; null when payload holds the elements
  PyObject* payload;    // strings, resources, variants: a NumPy object array; accelerators: a jax.Array
  int64_t id;           // unique; tapes know tensors by it
  Shared<uint64_t> watch;       // which recording tapes watch it (see tape.h)
  Shared<int64_t> watch_epoch;
  DType dtype;
  uint8_t device;       // index in the device list; 0 is the host
  PyObject* dict;
  PyObject* weakrefs;

  int rank() const { return shape->rank; }
  int64_t dim(int i) const { return shape->dims[i]; }
  int64_t size() const { return shape->size; }
  int64_t bytes() const { return shape->size * item_size(dtype); }
  bool on_host() const { return data != nullptr; }
  template <typename T> T* as() { return reinterpret_cast<T*>(data); }
  template <typename T> const T* as() const { return reinterpret_cast<const T*>(data); }
  // Nobody but the holder of the one reference can see its memory.
  bool unshared() const {
    return sole_reference(reinterpret_cast<const PyObject*>(this)) && buffer && buffer->refs.is_one() && buffer->writable;
  }
};

extern PyTypeObject* TensorBaseType;  // tf.Tensor: symbolic tensors derive from it too
extern PyTypeObject* TensorType;      // EagerTensor
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == TensorType; }

int64_t next_tensor_id();

// New references. Memory is not initialised. Sizes were checked when the shape was made; an
// allocation that fails throws ResourceExhausted.
Tensor* new_tensor(DType dtype, Shape* shape);          // retains shape
Tensor* new_tensor(DType dtype, int rank, const int64_t* dims);

// Truth values from elsewhere may be any byte but 0, where kernels, and C++, count on 1.
bool are_truths(const char* data, int64_t n);           // whether all bytes are 0 or 1
void make_truths(Tensor* t);                            // in place; other dtypes stay as they are
Tensor* view_tensor(Tensor* of, Shape* shape, int64_t first_element = 0);  // shares of's buffer; same dtype
// Makes t, whose memory nobody else sees, a fresh tensor over it: a new reference, uninitialised. False: somebody may
// still ask for t itself.
inline bool reuse_tensor(Tensor* t, DType dtype) {
  if (t->dict || t->weakrefs) return false;
  t->id = next_tensor_id();
  t->watch = 0;
  t->dtype = dtype;
  Py_INCREF(t);
  return true;
}
Tensor* object_tensor(DType dtype, Shape* shape, PyObject* payload);       // steals payload
PyObject* beside(Tensor* t, const Tensor* like);  // takes t over; the same elements on the device of `like`
template <typename T>
Tensor* scalar_tensor(T value) {
  ShapeRef s(Shape::scalar());
  Tensor* t = new_tensor(DTypeOf<T>::value, s.get());
  *t->as<T>() = value;
  return t;
}

// The one integer of a scalar tensor, or all of a vector's (int32 or int64, on the host); for shapes,
// axes and the like. Throws InvalidArgument, naming `what`, on any other dtype or rank.
int64_t scalar_int(const Tensor* t, const char* what);
struct IntVector { int n; int64_t v[kMaxRank]; };
void vector_ints(const Tensor* t, const char* what, IntVector* out);

}  // namespace tapeflow
