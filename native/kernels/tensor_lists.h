// What the kernels of lists share: the list of an input, and lists as outputs.
#pragma once
#include <cstring>

#include "kernel.h"
#include "tensor_list.h"

namespace tapeflow {

TAPEFLOW_ATTRS(ListOf, element_dtype);

// The list that the scalar variant input i holds; null where it holds something else, which Python rejects.
inline TensorList* input_list(const KernelCall& c, int i) {
  Tensor* t = c.in[i];
  if (t->rank() != 0) throw invalid("Input list must be a scalar saw: ", t->shape->str());
  return is_tensor_list(t->payload) ? reinterpret_cast<TensorList*>(t->payload) : nullptr;
}

inline void check_dtype(const TensorList* l, DType d) {
  if (l->dtype == d) return;
  throw invalid("Invalid data types; op elements ", dtype_short_name(d), " but list elements ", dtype_short_name(l->dtype));
}

inline int64_t scalar_of(const Tensor* t, const char* message) {
  if (t->size() != 1) throw invalid(message);
  return *t->as<int32_t>();
}

inline Tensor* shared(Tensor* t) { return reinterpret_cast<Tensor*>(Py_NewRef(reinterpret_cast<PyObject*>(t))); }

// An element as an output. It shares the memory, but is a tensor of its own: a tape would take the very tensor that was
// put into the list for both, and count its gradient twice.
inline Tensor* taken(Tensor* t) {
  if (!t->payload) return view_tensor(t, t->shape);
  Tensor* out = object_tensor(t->dtype, t->shape, Py_NewRef(t->payload));
  out->device = t->device;
  return out;
}

inline Tensor* zeros(DType d, Shape* shape) {
  Tensor* t = new_tensor(d, shape);
  std::memset(t->data, 0, static_cast<size_t>(t->bytes()));
  return t;
}

// Owns a list until it becomes an output.
class Made {
 public:
  explicit Made(TensorList* l) : l_(l) {}
  ~Made() { Py_XDECREF(reinterpret_cast<PyObject*>(l_)); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  TensorList* operator->() const { return l_; }
  TensorList* get() const { return l_; }
  Tensor* tensor() {
    TensorList* l = l_;
    l_ = nullptr;
    return list_tensor(l);
  }

 private:
  TensorList* l_;
};

// Whether the list of input i may be changed: it dies with this call, and nobody else sees it.
inline bool owned(const KernelCall& c, int i) {
  Tensor* t = c.in[i];
  for (int k = 0; k < c.n_in; ++k) if (k != i && c.in[k] == t) return false;
  return i < 64 && (c.dying >> i & 1) && sole_reference(reinterpret_cast<PyObject*>(t)) && sole_reference(t->payload) && !t->dict && !t->weakrefs;
}

// The list of input i, ready to be changed, as the output.
inline TensorList* changed(KernelCall& c, int i, int64_t room = 0) {
  if (owned(c, i)) {
    Tensor* t = c.in[i];
    t->id = next_tensor_id();
    t->watch = 0;
    c.out[0] = reinterpret_cast<Tensor*>(Py_NewRef(reinterpret_cast<PyObject*>(t)));
  } else {
    c.out[0] = list_tensor(copy_list(reinterpret_cast<TensorList*>(c.in[i]->payload), room));
  }
  return reinterpret_cast<TensorList*>(c.out[0]->payload);
}

void register_tensor_list_reading();

}  // namespace tapeflow
