// The list of tensors that a scalar variant tensor holds: TensorFlow's TensorList. Never changed once it is shared.
#pragma once
#include <string>
#include <vector>

#include "tensor.h"

namespace tapeflow {

// A shape of which not all need be known.
struct PartialShape {
  bool ranked = false;
  std::vector<int64_t> dims;  // -1: unknown

  static PartialShape of(const Shape* s);
  // What the input `t` of an op spells: a vector, or -1 for a shape of unknown rank. Throws InvalidArgument.
  static PartialShape parse(const Tensor* t);
  bool full() const;
  bool fits(const Shape* s) const;
  bool same(const PartialShape& o) const { return ranked == o.ranked && dims == o.dims; }
  PartialShape without_first() const;  // of a ranked shape with at least one dimension
  ShapeRef shape() const;              // of a full one
  std::string str() const;             // "<unknown>", "[2,?]"
};

// What is known when both are true of one tensor; throws InvalidArgument where they cannot be.
PartialShape merge(const PartialShape& a, const PartialShape& b);

struct TensorList {
  PyObject_HEAD
  int64_t size;          // how many elements there are
  // Those that are set lie in a window of `used` elements from `first` on; null inside of it, as all outside, are
  // elements that were reserved, but not set. So a list with one element set costs the same however long it is.
  Tensor** items;        // owned
  int64_t first, used, capacity;
  PartialShape* shape;   // of the elements
  DType dtype;           // of the elements
  int64_t max_size;      // -1: no limit

  Tensor* at(int64_t i) const {          // borrowed; null: not set
    const int64_t k = i - first;
    return k >= 0 && k < used ? items[k] : nullptr;
  }
  bool full() const { return used == size; }
  void append(Tensor* t);                // takes over the reference
  void resize(int64_t n);                // new elements are unset
  void set(int64_t i, Tensor* t);        // takes over the reference
};

extern PyTypeObject* TensorListType;
inline bool is_tensor_list(PyObject* o) { return o && Py_TYPE(o) == TensorListType; }

// Whether native kernels can have it as an input: on the host, or with a payload that they know.
inline bool ready(const Tensor* t) {
  return t->data || t->dtype == DType::kResource || t->dtype == DType::kString || is_tensor_list(t->payload);
}

// New lists; `room` is for how many elements memory is taken.
TensorList* new_list(DType dtype, PartialShape shape, int64_t max_size = -1, int64_t room = 0);
TensorList* copy_list(const TensorList* l, int64_t room = 0);  // shares the elements

// The scalar variant tensor of a list; takes over the reference.
Tensor* list_tensor(TensorList* l);

bool init_tensor_list(PyObject* module);

}  // namespace tapeflow
