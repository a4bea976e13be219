#include "window.h"

#include <algorithm>
#include <limits>

namespace tapeflow {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

}  // namespace

bool parse_format(const Attr& data_format, Format* format) {
  const std::string_view name = data_format.str();
  if (name == "NHWC") *format = {false, 2, 3};
  else if (name == "NCHW") *format = {true, 2, 1};
  else if (name == "NDHWC") *format = {false, 3, 4};
  else if (name == "NCDHW") *format = {true, 3, 1};
  else return false;
  return true;
}

Padding parse_padding(const Attr& padding, const Attr* explicit_paddings, const Format& format) {
  const std::string_view kind = padding.str();
  const int given = explicit_paddings ? explicit_paddings->n : 0;
  Padding p{};
  if (kind == "EXPLICIT" && explicit_paddings) {
    p.kind = Padding::kExplicit;
    if (given != 2 * format.rank())
      throw invalid("explicit_paddings attribute must contain ", 2 * format.rank(), " values, but got: ", given);
    for (int i = 0; i < given; ++i) {
      const int64_t value = explicit_paddings->ints[i];
      if (value < 0) throw invalid("All elements of explicit_paddings must be nonnegative");
      if (value > kMost) throw invalid("explicit_paddings value ", value, " is too large");
      const int axis = i / 2;
      if (value != 0 && (axis == 0 || axis == format.channels))
        throw invalid("Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
    for (int i = 0; i < format.windows; ++i) {
      p.before[i] = explicit_paddings->ints[2 * format.spatial(i)];
      p.after[i] = explicit_paddings->ints[2 * format.spatial(i) + 1];
    }
    return p;
  }
  if (kind == "SAME") p.kind = Padding::kSame;
  else if (kind == "VALID") p.kind = Padding::kValid;
  else throw invalid("Unknown padding type: ", kind);
  if (given != 0)
    throw invalid(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  return p;
}

void place_window(Window* w, const Padding& padding, int i) {
  if (w->stride <= 0) throw invalid("Stride must be > 0, but got ", w->stride);
  if (w->dilation < 1) throw invalid("Dilation rate must be >= 1, but got ", w->dilation);
  for (int64_t value : {w->in, w->size, w->stride, w->dilation})
    if (value > kMost) throw invalid("Window parameter ", value, " is too large");
  const int64_t extent = w->extent();  // below 2^62
  if (extent > kMost) throw invalid("Window extent ", extent, " is too large");
  if (padding.kind == Padding::kSame) {
    w->out = (w->in + w->stride - 1) / w->stride;
    const int64_t total = std::max<int64_t>((w->out - 1) * w->stride + extent - w->in, 0);
    w->pad_before = total / 2;
    w->pad_after = total - w->pad_before;
    return;
  }
  w->pad_before = padding.before[i];
  w->pad_after = padding.after[i];
  w->out = (w->in + w->pad_before + w->pad_after - extent + w->stride) / w->stride;
  if (w->out < 0)
    throw invalid("Computed output size would be negative: ", w->out, " [input_size: ", w->in,
                  ", effective_filter_size: ", extent, ", stride: ", w->stride, "]");
}

}  // namespace tapeflow
