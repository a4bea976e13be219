// An owning reference to a tensor, or null.
#pragma once
#include <utility>

#include "tensor.h"

namespace tapeflow {

class OwnedTensor {
 public:
  OwnedTensor() = default;
  explicit OwnedTensor(Tensor* t) : t_(t) {}  // takes over the reference
  OwnedTensor(OwnedTensor&& o) noexcept : t_(o.leak()) {}
  OwnedTensor& operator=(OwnedTensor o) noexcept {
    std::swap(t_, o.t_);
    return *this;
  }
  ~OwnedTensor() { Py_XDECREF(reinterpret_cast<PyObject*>(t_)); }
  static OwnedTensor share(Tensor* t) {
    Py_XINCREF(reinterpret_cast<PyObject*>(t));
    return OwnedTensor(t);
  }
  Tensor* get() const { return t_; }
  Tensor* operator->() const { return t_; }
  explicit operator bool() const { return t_ != nullptr; }
  Tensor* leak() {
    Tensor* t = t_;
    t_ = nullptr;
    return t;
  }

 private:
  Tensor* t_ = nullptr;
};

}  // namespace tapeflow
