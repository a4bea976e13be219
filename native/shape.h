// A fully known shape: immutable, shared by all tensors that have it.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>

#include "free_threads.h"

namespace tapeflow {

constexpr int kMaxRank = 254;  // TensorFlow's limit

struct Shape {
  Count<int32_t> refs;
  int32_t rank;
  int64_t size;        // product of dims
  Shared<PyObject*> py;  // the TensorShape of it, made on first use
  int64_t dims[1];     // rank of them

  // Both throw Error on a negative dimension, a rank over kMaxRank or a product over 2^63 - 1.
  static Shape* make(int rank, const int64_t* dims);  // new reference
  static Shape* scalar();                             // new reference

  Shape* retain() {
    if (!eternal()) refs.up();
    return this;
  }
  void release() {
    if (!eternal() && refs.down()) destroy(this);
  }
  bool same(const Shape* o) const;
  std::string str() const;      // "[2,3]", as in TensorFlow's messages

 private:
  // That of scalars is not counted where threads would wait for each other's counting.
  bool eternal() const { return kFreeThreads && rank == 0; }
  static void destroy(Shape*);
};

inline bool Shape::same(const Shape* o) const {
  if (this == o) return true;
  if (rank != o->rank || size != o->size) return false;
  for (int i = 0; i < rank; ++i) if (dims[i] != o->dims[i]) return false;
  return true;
}

// An owning reference.
class ShapeRef {
 public:
  ShapeRef() = default;
  explicit ShapeRef(Shape* s) : s_(s) {}  // takes over the reference
  ShapeRef(int rank, const int64_t* dims) : s_(Shape::make(rank, dims)) {}
  ShapeRef(const ShapeRef& o) : s_(o.s_ ? o.s_->retain() : nullptr) {}
  ShapeRef(ShapeRef&& o) noexcept : s_(o.s_) { o.s_ = nullptr; }
  ShapeRef& operator=(ShapeRef o) { std::swap(s_, o.s_); return *this; }
  ~ShapeRef() { if (s_) s_->release(); }
  static ShapeRef share(Shape* s) { return ShapeRef(s->retain()); }
  Shape* get() const { return s_; }
  Shape* operator->() const { return s_; }
  Shape* leak() { Shape* s = s_; s_ = nullptr; return s; }

 private:
  Shape* s_ = nullptr;
};

// The shape that x and y broadcast to; throws "Incompatible shapes: [2] vs. [3]".
ShapeRef broadcast(Shape* x, Shape* y);

}  // namespace tapeflow
