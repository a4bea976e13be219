// Owning references to tensors, and to other objects of ours, or null.
#pragma once
#include <utility>

#include "tensor.h"

namespace tapeflow {

template <typename T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* t) : t_(t) {}  // takes over the reference
  Owned(Owned&& o) noexcept : t_(o.leak()) {}
  Owned& operator=(Owned o) noexcept {
    std::swap(t_, o.t_);
    return *this;
  }
  ~Owned() { Py_XDECREF(reinterpret_cast<PyObject*>(t_)); }
  static Owned share(T* t) {
    Py_XINCREF(reinterpret_cast<PyObject*>(t));
    return Owned(t);
  }
  T* get() const { return t_; }
  T* operator->() const { return t_; }
  explicit operator bool() const { return t_ != nullptr; }
  T* leak() {
    T* t = t_;
    t_ = nullptr;
    return t;
  }

 private:
  T* t_ = nullptr;
};

using OwnedTensor = Owned<Tensor>;

}  // namespace tapeflow
