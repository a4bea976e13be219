// Sliding windows over height and width, and depth of volumes: what convolution and pooling read from
// their attrs, checked.
#pragma once
#include <string_view>

#include "kernel.h"

namespace tapeflow {

// Where the axes of an activation are: `windows` of them, (depth,) height, width, have windows.
struct Format {
  bool channels_first;
  int windows, channels;
  int rank() const { return windows + 2; }
  int spatial(int i) const { return (channels_first ? 2 : 1) + i; }
};
// False for a format other than NHWC, NCHW, NDHWC and NCDHW.
bool parse_format(const Attr& data_format, Format* format);

// Padding attrs of an op.
struct Padding {
  enum Kind { kValid, kSame, kExplicit } kind;
  int64_t before[3], after[3];  // explicit ones, of the axes with windows
};
Padding parse_padding(const Attr& padding, const Attr* explicit_paddings, const Format& format);

template <typename Attrs>
Padding parse_padding(const Attrs& attrs, const Format& format) {
  if constexpr (requires { attrs.explicit_paddings; }) return parse_padding(attrs.padding, &attrs.explicit_paddings, format);
  else return parse_padding(attrs.padding, nullptr, format);
}

// The window's way along one axis.
struct Window {
  int64_t in, out;
  int64_t size, stride, dilation;
  int64_t pad_before, pad_after;
  int64_t extent() const { return (size - 1) * dilation + 1; }
};
// Computes out and the padding of the i-th axis with windows from the rest.
void place_window(Window* window, const Padding& padding, int i);

}  // namespace tapeflow
