// Sliding windows over height and width: what convolution and pooling read from their attrs,
// checked.
#pragma once
#include <string_view>

#include "kernel.h"

namespace tapeflow {

// Where the axes of an activation are. False for a format other than NHWC and NCHW.
struct Format {
  bool channels_first;
  int height, width, channels;
  int spatial(int i) const { return i == 0 ? height : width; }
};
bool parse_format(const Attr& data_format, Format* format);

// Padding attrs of an op.
struct Padding {
  enum Kind { kValid, kSame, kExplicit } kind;
  int64_t before[2], after[2];  // explicit ones, of height and width
};
Padding parse_padding(const Attr& padding, const Attr* explicit_paddings, const Format& format);

// The window's way along one axis.
struct Window {
  int64_t in, out;
  int64_t size, stride, dilation;
  int64_t pad_before, pad_after;
  int64_t extent() const { return (size - 1) * dilation + 1; }
};
// Computes out and the padding of axis i (0: height, 1: width) from the rest.
void place_window(Window* window, const Padding& padding, int i);

// A tensor that is released unless handed on.
class OwnedTensor {
 public:
  explicit OwnedTensor(Tensor* t) : t_(t) {}
  ~OwnedTensor() { Py_XDECREF(reinterpret_cast<PyObject*>(t_)); }
  OwnedTensor(const OwnedTensor&) = delete;
  OwnedTensor& operator=(const OwnedTensor&) = delete;
  Tensor* operator->() const { return t_; }
  Tensor* leak() {
    Tensor* t = t_;
    t_ = nullptr;
    return t;
  }

 private:
  Tensor* t_;
};

}  // namespace tapeflow
