// Conv2D, DepthwiseConv2dNative and their gradients for float32: everything is checked here, oneDNN
// computes. A depthwise convolution is one with as many groups as channels; its filter
// [height, width, channels, multiplier] lies in memory as that one's [height, width, 1, out_depth].
#include <algorithm>
#include <cstring>

#include "onednn.h"
#include "registry.h"
#include "threads.h"
#include "window.h"

namespace tapeflow {
namespace {

struct ConvAttrs {
  Format format;
  Padding padding;
  int64_t stride[2], dilation[2];
};

bool parse(const KernelCall& c, bool depthwise, ConvAttrs* a) {
  // strides, (use_cudnn_on_gpu,) padding, explicit_paddings, data_format, dilations
  const Attr& strides = c.attrs[0];
  const Attr* rest = c.attrs + (depthwise ? 1 : 2);
  const Attr& dilations = rest[3];
  if (!parse_format(rest[2], &a->format)) return false;
  if (strides.n != 4) throw invalid("Sliding window strides field must specify 4 dimensions");
  if (dilations.n != 4) throw invalid("Sliding window dilations field must specify 4 dimensions");
  if (strides.ints[0] != 1 || strides.ints[a->format.channels] != 1)
    throw unimplemented(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  if (dilations.ints[0] != 1 || dilations.ints[a->format.channels] != 1)
    throw invalid(
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  for (int i = 0; i < 2; ++i) {
    a->stride[i] = strides.ints[a->format.spatial(i)];
    a->dilation[i] = dilations.ints[a->format.spatial(i)];
    if (a->stride[i] <= 0) throw invalid("Stride must be > 0, but got ", a->stride[i]);
    if (a->dilation[i] <= 0) throw invalid("Dilated rates should be larger than 0.");
  }
  a->padding = parse_padding(rest[0], &rest[1], a->format);
  return true;
}

// Places the filter `filter` over an input of shape `in`; fills all but the pass.
Convolution place(const ConvAttrs& a, const int64_t* in, const int64_t* filter, bool depthwise) {
  Convolution v{};
  v.channels_first = a.format.channels_first;
  v.batch = in[0];
  v.in_depth = in[a.format.channels];
  if (depthwise) {
    if (v.in_depth != filter[2])
      throw invalid("input and filter must have the same depth: ", v.in_depth, " vs ", filter[2]);
    if (__builtin_mul_overflow(filter[2], filter[3], &v.out_depth))
      throw invalid("out depth ", filter[2], " * ", filter[3], " is too large");
    v.groups = v.in_depth;
  } else {
    if (filter[2] == 0) throw invalid("filter depth must be stricly positive, got 0");
    if (v.in_depth % filter[2] != 0)
      throw invalid("input depth must be evenly divisible by filter depth: ", v.in_depth, " vs ",
                    filter[2]);
    v.groups = v.in_depth / filter[2];
    v.out_depth = filter[3];
    if (v.groups > 0 && v.out_depth % v.groups != 0)
      throw invalid("output depth must be evenly divisible by number of groups: ", v.out_depth,
                    " vs ", v.groups);
  }
  for (int i = 0; i < 2; ++i) {
    Window w{in[a.format.spatial(i)], 0, filter[i], a.stride[i], a.dilation[i], 0, 0};
    if (w.size == 0)
      throw invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
    place_window(&w, a.padding, i);
    v.in[i] = w.in;
    v.out[i] = w.out;
    v.filter[i] = w.size;
    v.stride[i] = w.stride;
    v.dilation[i] = w.dilation;
    v.pad_before[i] = w.pad_before;
    v.pad_after[i] = w.pad_after;
  }
  return v;
}

// Sizes that oneDNN's own arithmetic is known to bear.
bool moderate(const Convolution& v) {
  constexpr int64_t most = 1 << 24;
  if (v.batch > most || v.in_depth > most || v.out_depth > most) return false;
  for (int i = 0; i < 2; ++i) {
    const int64_t extent = (v.filter[i] - 1) * v.dilation[i] + 1;
    if (v.in[i] > most || v.out[i] > most || extent > most || v.stride[i] > most ||
        v.pad_before[i] > most || v.pad_after[i] > most)
      return false;
  }
  return true;
}

// Allocates the result and runs the pass; a sum over nothing is zero.
bool run(KernelCall& c, Convolution& v, Convolution::Pass pass, const Tensor* first,
         const Tensor* second, const int64_t* result_dims) {
  v.pass = pass;
  OwnedTensor result(new_tensor(DType::kFloat32, 4, result_dims));
  if (result->size() > 0) {
    if (first->size() == 0 || second->size() == 0) {
      std::memset(result->data, 0, result->bytes());
    } else {
      const OneDnn* const library = moderate(v) ? onednn() : nullptr;
      if (!library) return false;
      const double madds = static_cast<double>(v.batch) * v.out[0] * v.out[1] * v.filter[0] *
                           v.filter[1] * v.out_depth * (v.in_depth / v.groups);
      const int threads = intra_op_threads();
      bool done;
      {
        ReleaseGil release(static_cast<int64_t>(std::min(madds / 50, 1e18)));
        done = library->convolve(threads, v, first->as<float>(), second->as<float>(),
                                 result->as<float>());
      }
      if (!done) return false;
    }
  }
  c.out[0] = result.leak();
  return true;
}

void output_dims(const ConvAttrs& a, const Convolution& v, int64_t* dims) {
  dims[0] = v.batch;
  dims[a.format.channels] = v.out_depth;
  for (int i = 0; i < 2; ++i) dims[a.format.spatial(i)] = v.out[i];
}

template <bool depthwise> bool conv2d(KernelCall& c) {
  const Tensor *input = c.in[0], *filter = c.in[1];
  ConvAttrs a;
  if (!parse(c, depthwise, &a)) return false;
  if (input->rank() != 4)
    throw invalid("convolution input must be 4-dimensional: ", input->shape->str());
  if (filter->rank() != 4)
    throw invalid("convolution filter must be 4-dimensional: ", filter->shape->str());
  if (filter->size() == 0)
    throw invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  Convolution v = place(a, input->shape->dims, filter->shape->dims, depthwise);
  int64_t dims[4];
  output_dims(a, v, dims);
  return run(c, v, Convolution::kForward, input, filter, dims);
}

// The shape of a gradient is given as a tensor.
void read_sizes(const Tensor* t, const char* op, const char* name, int64_t* dims, int* n) {
  if (t->rank() != 1) throw invalid(op, ": ", name, " input must be 1-dim, not ", t->rank());
  if (t->dtype != DType::kInt32 && t->dtype != DType::kInt64)
    throw invalid(op, ": ", name, " must be int32, got ", dtype_name(t->dtype));
  *n = static_cast<int>(std::min<int64_t>(t->size(), 5));
  for (int i = 0; i < std::min(*n, 4); ++i) {
    dims[i] = t->dtype == DType::kInt32 ? t->as<int32_t>()[i] : t->as<int64_t>()[i];
    if (dims[i] < 0) throw invalid("Dimension ", dims[i], " must be >= 0");
  }
}

void check_backprop(const char* op, const ConvAttrs& a, const Convolution& v, const Tensor* dy) {
  const int64_t* got = dy->shape->dims;
  if (got[0] != v.batch)
    throw invalid(op,
                  ": input and out_backprop must have the same batch size. Input batch: ", v.batch,
                  ", outbackprop batch: ", got[0], ", batch_dim: 0");
  if (got[a.format.channels] != v.out_depth)
    throw invalid(op, ": filter and out_backprop must have the same out_depth: ", v.out_depth,
                  " vs ", got[a.format.channels]);
  for (int i = 0; i < 2; ++i) {
    const int axis = a.format.spatial(i);
    if (got[axis] != v.out[i])
      throw invalid(op, ": Size of out_backprop doesn't match computed: actual = ", got[axis],
                    ", computed = ", v.out[i], " spatial_dim: ", axis, " input: ", v.in[i],
                    " filter: ", v.filter[i], " output: ", got[axis], " stride: ", v.stride[i],
                    " dilation: ", v.dilation[i]);
  }
}

// Without a filter (or its sum over nothing) the placement has no meaning, the gradient is zero.
bool zeros(KernelCall& c, const int64_t* dims) {
  Tensor* t = new_tensor(DType::kFloat32, 4, dims);
  std::memset(t->data, 0, t->bytes());
  c.out[0] = t;
  return true;
}

template <bool depthwise> bool conv2d_backprop_input(KernelCall& c) {
  constexpr const char* op = depthwise ? "DepthwiseConv2DBackpropInput" : "Conv2DBackpropInput";
  const Tensor *filter = c.in[1], *dy = c.in[2];
  ConvAttrs a;
  if (!parse(c, depthwise, &a)) return false;
  int64_t dims[4];
  int n;
  read_sizes(c.in[0], op, "input_sizes", dims, &n);
  if (n != 4 && (n != 2 || depthwise))
    throw invalid(
        op, " requires input_sizes to contain 4 values or 2 values, but got: ", c.in[0]->size());
  if (filter->rank() != 4)
    throw invalid(op, ": filter must be 4-dimensional: ", filter->shape->str());
  if (dy->rank() != 4)
    throw invalid(op, ": out_backprop must be 4-dimensional: ", dy->shape->str());
  if (n == 2) {
    const int64_t size[2] = {dims[0], dims[1]};
    dims[0] = dy->dim(0);
    dims[a.format.channels] = filter->dim(2);
    for (int i = 0; i < 2; ++i) dims[a.format.spatial(i)] = size[i];
  }
  if (filter->size() == 0) return dy->dim(0) == dims[0] ? zeros(c, dims) : false;
  Convolution v = place(a, dims, filter->shape->dims, depthwise);
  check_backprop(op, a, v, dy);
  return run(c, v, Convolution::kBackwardInput, filter, dy, dims);
}

template <bool depthwise> bool conv2d_backprop_filter(KernelCall& c) {
  constexpr const char* op = depthwise ? "DepthwiseConv2DBackpropFilter" : "Conv2DBackpropFilter";
  const Tensor *input = c.in[0], *dy = c.in[2];
  ConvAttrs a;
  if (!parse(c, depthwise, &a)) return false;
  int64_t dims[4];
  int n;
  read_sizes(c.in[1], op, "filter_sizes", dims, &n);
  if (n != 4)
    throw invalid(op, ": filter must be 4-dimensional, got ", c.in[1]->size(), " filter_sizes");
  if (input->rank() != 4) throw invalid(op, ": input must be 4-dimensional: ", input->shape->str());
  if (dy->rank() != 4)
    throw invalid(op, ": out_backprop must be 4-dimensional: ", dy->shape->str());
  for (int i = 0; i < 4; ++i)
    if (dims[i] == 0) return dy->dim(0) == input->dim(0) ? zeros(c, dims) : false;
  Convolution v = place(a, input->shape->dims, dims, depthwise);
  check_backprop(op, a, v, dy);
  return run(c, v, Convolution::kBackwardFilter, input, dy, dims);
}

}  // namespace

void register_conv() {
  const std::initializer_list<DType> f32 = {DType::kFloat32};
  register_kernel("Conv2D", f32, conv2d<false>);
  register_kernel("Conv2DBackpropInput", f32, conv2d_backprop_input<false>);
  register_kernel("Conv2DBackpropFilter", f32, conv2d_backprop_filter<false>);
  register_kernel("DepthwiseConv2dNative", f32, conv2d<true>);
  register_kernel("DepthwiseConv2dNativeBackpropInput", f32, conv2d_backprop_input<true>);
  register_kernel("DepthwiseConv2dNativeBackpropFilter", f32, conv2d_backprop_filter<true>);
}

}  // namespace tapeflow
