// Conv2D, Conv3D, DepthwiseConv2dNative and their gradients for float32: everything is checked here, oneDNN
// computes. A depthwise convolution is one with as many groups as channels; its filter
// [height, width, channels, multiplier] lies in memory as that one's [height, width, 1, out_depth].
#include <algorithm>
#include <cstring>

#include "convolution.h"
#include "onednn.h"
#include "owned_tensor.h"
#include "registry.h"
#include "threads.h"
#include "window.h"

namespace tapeflow {
namespace {

struct ConvAttrs {
  Format format;
  Padding padding;
  int64_t stride[3], dilation[3];
};

enum Kind { kImages, kDepthwise, kVolumes };
constexpr int windows_of(Kind kind) { return kind == kVolumes ? 3 : 2; }

TAPEFLOW_ATTRS(ImageAttrs, strides, use_cudnn_on_gpu, padding, explicit_paddings, data_format, dilations);
TAPEFLOW_ATTRS(DepthwiseAttrs, strides, padding, explicit_paddings, data_format, dilations);
TAPEFLOW_ATTRS(VolumeAttrs, strides, padding, data_format, dilations);
template <Kind kind>
using AttrsOf = std::conditional_t<kind == kImages, ImageAttrs,
                                   std::conditional_t<kind == kDepthwise, DepthwiseAttrs, VolumeAttrs>>;
TAPEFLOW_INPUTS(BackpropInputInputs, input_sizes, filter, out_backprop);
TAPEFLOW_INPUTS(BackpropFilterInputs, input, filter_sizes, out_backprop);

template <Kind kind>
bool parse(const AttrsOf<kind>& attrs, ConvAttrs* a) {
  const Attr &strides = attrs.strides, &dilations = attrs.dilations;
  if (!parse_format(attrs.data_format, &a->format) || a->format.windows != windows_of(kind)) return false;
  const int rank = a->format.rank();
  if (strides.n != rank) throw invalid("Sliding window strides field must specify ", rank, " dimensions");
  if (dilations.n != rank) throw invalid("Sliding window dilations field must specify ", rank, " dimensions");
  if (strides.ints[0] != 1 || strides.ints[a->format.channels] != 1)
    throw unimplemented(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  if (dilations.ints[0] != 1 || dilations.ints[a->format.channels] != 1)
    throw invalid(
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  for (int i = 0; i < a->format.windows; ++i) {
    a->stride[i] = strides.ints[a->format.spatial(i)];
    a->dilation[i] = dilations.ints[a->format.spatial(i)];
    if (a->stride[i] <= 0) throw invalid("Stride must be > 0, but got ", a->stride[i]);
    if (a->dilation[i] <= 0) throw invalid("Dilated rates should be larger than 0.");
  }
  a->padding = parse_padding(attrs, a->format);
  return true;
}

// Places the filter `filter` over an input of shape `in`; fills all but the pass.
Convolution place(const ConvAttrs& a, const int64_t* in, const int64_t* filter, Kind kind) {
  Convolution v{};
  v.windows = a.format.windows;
  const int64_t* depths = filter + v.windows;  // in, out
  v.channels_first = a.format.channels_first;
  v.batch = in[0];
  v.in_depth = in[a.format.channels];
  if (kind == kDepthwise) {
    if (v.in_depth != depths[0])
      throw invalid("input and filter must have the same depth: ", v.in_depth, " vs ", depths[0]);
    if (__builtin_mul_overflow(depths[0], depths[1], &v.out_depth))
      throw invalid("out depth ", depths[0], " * ", depths[1], " is too large");
    v.groups = v.in_depth;
  } else {
    if (depths[0] == 0) throw invalid("filter depth must be stricly positive, got 0");
    if (v.in_depth % depths[0] != 0)
      throw invalid("input depth must be evenly divisible by filter depth: ", v.in_depth, " vs ",
                    depths[0]);
    v.groups = v.in_depth / depths[0];
    v.out_depth = depths[1];
    if (v.groups > 0 && v.out_depth % v.groups != 0)
      throw invalid("output depth must be evenly divisible by number of groups: ", v.out_depth,
                    " vs ", v.groups);
  }
  for (int i = 0; i < v.windows; ++i) {
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

constexpr int64_t kMost = 1 << 24;

// An axis that the filter covers whole lies in memory as channels of the axis before it, from the last axis on. The
// convolution over the channels is the same, and oneDNN's kernels are slow with few of them.
void covered_as_channels(Convolution* v) {
  if (v->channels_first || v->groups != 1) return;
  for (int i = static_cast<int>(v->windows) - 1; i >= 0; --i) {
    const bool covered = v->in[i] == v->filter[i] && v->out[i] == 1 && v->pad_before[i] == 0 && v->pad_after[i] == 0;
    if (!covered || v->in[i] > kMost / v->in_depth) return;
    v->in_depth *= v->in[i];
    v->in[i] = v->filter[i] = v->stride[i] = v->dilation[i] = 1;
  }
}

// Sizes that oneDNN's own arithmetic is known to bear.
bool moderate(const Convolution& v) {
  if (v.batch > kMost || v.in_depth > kMost || v.out_depth > kMost) return false;
  for (int i = 0; i < v.windows; ++i) {
    const int64_t extent = (v.filter[i] - 1) * v.dilation[i] + 1;
    if (v.in[i] > kMost || v.out[i] > kMost || extent > kMost || v.stride[i] > kMost ||
        v.pad_before[i] > kMost || v.pad_after[i] > kMost)
      return false;
  }
  return true;
}

// Allocates the result and runs the pass; a sum over nothing is zero.
bool run(KernelCall& c, Convolution& v, Convolution::Pass pass, const Tensor* first,
         const Tensor* second, const int64_t* result_dims) {
  v.pass = pass;
  OwnedTensor result(new_tensor(DType::kFloat32, static_cast<int>(v.windows) + 2, result_dims));
  if (result->size() > 0) {
    if (first->size() == 0 || second->size() == 0) {
      std::memset(result->data, 0, result->bytes());
    } else {
      covered_as_channels(&v);
      const OneDnn* const library = moderate(v) ? onednn() : nullptr;
      if (!library) return false;
      double madds = static_cast<double>(v.batch) * v.out_depth * (v.in_depth / v.groups);
      for (int i = 0; i < v.windows; ++i) madds *= static_cast<double>(v.out[i]) * v.filter[i];
      // The threads of a small one would wait for each other longer than they work.
      const int threads = madds / 50 < static_cast<double>(parallel_ns) ? 1 : intra_op_threads();
      bool done;
      {
        ReleaseGil release(static_cast<int64_t>(std::min(madds / 50, 1e18)));
        done = pass == Convolution::kBackwardFilter && own_filter_gradient &&
               own_filter_gradient(v, first->as<float>(), second->as<float>(), result->as<float>());
        if (!done) {
          SignalsWait wait(threads);
          done = library->convolve(threads, v, first->as<float>(), second->as<float>(), result->as<float>());
        }
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
  for (int i = 0; i < v.windows; ++i) dims[a.format.spatial(i)] = v.out[i];
}

void require_rank(const char* what, const Tensor* t, const ConvAttrs& a) {
  if (t->rank() != a.format.rank())
    throw invalid(what, " must be ", a.format.rank(), "-dimensional: ", t->shape->str());
}

template <Kind kind> bool convolve(KernelCall& c, const AttrsOf<kind>& attrs) {
  const Tensor *input = c.in[0], *filter = c.in[1];
  ConvAttrs a;
  if (!parse<kind>(attrs, &a)) return false;
  require_rank("convolution input", input, a);
  require_rank("convolution filter", filter, a);
  if (filter->size() == 0)
    throw invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)");
  Convolution v = place(a, input->shape->dims, filter->shape->dims, kind);
  int64_t dims[5];
  output_dims(a, v, dims);
  return run(c, v, Convolution::kForward, input, filter, dims);
}

// The shape of a gradient is given as a tensor.
void read_sizes(const Tensor* t, const char* op, const char* name, int64_t* dims, int* n) {
  if (t->rank() != 1) throw invalid(op, ": ", name, " input must be 1-dim, not ", t->rank());
  if (t->dtype != DType::kInt32 && t->dtype != DType::kInt64)
    throw invalid(op, ": ", name, " must be int32, got ", dtype_name(t->dtype));
  *n = static_cast<int>(std::min<int64_t>(t->size(), 6));
  for (int i = 0; i < std::min(*n, 5); ++i) {
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
  for (int i = 0; i < v.windows; ++i) {
    const int axis = a.format.spatial(i);
    if (got[axis] != v.out[i])
      throw invalid(op, ": Size of out_backprop doesn't match computed: actual = ", got[axis],
                    ", computed = ", v.out[i], " spatial_dim: ", axis, " input: ", v.in[i],
                    " filter: ", v.filter[i], " output: ", got[axis], " stride: ", v.stride[i],
                    " dilation: ", v.dilation[i]);
  }
}

// Without a filter (or its sum over nothing) the placement has no meaning, the gradient is zero.
bool zeros(KernelCall& c, int rank, const int64_t* dims) {
  Tensor* t = new_tensor(DType::kFloat32, rank, dims);
  std::memset(t->data, 0, t->bytes());
  c.out[0] = t;
  return true;
}

constexpr const char* name_of(Kind kind, bool of_input) {
  if (kind == kVolumes) return of_input ? "Conv3DBackpropInputV2" : "Conv3DBackpropFilterV2";
  if (kind == kDepthwise) return of_input ? "DepthwiseConv2DBackpropInput" : "DepthwiseConv2DBackpropFilter";
  return of_input ? "Conv2DBackpropInput" : "Conv2DBackpropFilter";
}

template <Kind kind>
bool backprop_input(KernelCall& c, const AttrsOf<kind>& attrs, const BackpropInputInputs& in) {
  constexpr const char* op = name_of(kind, true);
  const Tensor *filter = in.filter, *dy = in.out_backprop;
  ConvAttrs a;
  if (!parse<kind>(attrs, &a)) return false;
  const int rank = a.format.rank(), windows = a.format.windows;
  int64_t dims[5];
  int n;
  read_sizes(in.input_sizes, op, "input_sizes", dims, &n);
  if (n != rank && (n != 2 || kind != kImages))
    throw invalid(op, " requires input_sizes to contain ", rank, " values", kind == kImages ? " or 2 values" : "",
                  ", but got: ", in.input_sizes->size());
  if (filter->rank() != rank) throw invalid(op, ": filter must be ", rank, "-dimensional: ", filter->shape->str());
  if (dy->rank() != rank) throw invalid(op, ": out_backprop must be ", rank, "-dimensional: ", dy->shape->str());
  if (n != rank) {
    const int64_t size[2] = {dims[0], dims[1]};
    dims[0] = dy->dim(0);
    dims[a.format.channels] = filter->dim(windows);
    for (int i = 0; i < 2; ++i) dims[a.format.spatial(i)] = size[i];
  }
  if (filter->size() == 0) return dy->dim(0) == dims[0] ? zeros(c, rank, dims) : false;
  Convolution v = place(a, dims, filter->shape->dims, kind);
  check_backprop(op, a, v, dy);
  return run(c, v, Convolution::kBackwardInput, filter, dy, dims);
}

template <Kind kind>
bool backprop_filter(KernelCall& c, const AttrsOf<kind>& attrs, const BackpropFilterInputs& in) {
  constexpr const char* op = name_of(kind, false);
  const Tensor *input = in.input, *dy = in.out_backprop;
  ConvAttrs a;
  if (!parse<kind>(attrs, &a)) return false;
  const int rank = a.format.rank();
  int64_t dims[5];
  int n;
  read_sizes(in.filter_sizes, op, "filter_sizes", dims, &n);
  if (n != rank) throw invalid(op, ": filter must be ", rank, "-dimensional, got ", in.filter_sizes->size(), " filter_sizes");
  if (input->rank() != rank) throw invalid(op, ": input must be ", rank, "-dimensional: ", input->shape->str());
  if (dy->rank() != rank) throw invalid(op, ": out_backprop must be ", rank, "-dimensional: ", dy->shape->str());
  for (int i = 0; i < rank; ++i)
    if (dims[i] == 0) return dy->dim(0) == input->dim(0) ? zeros(c, rank, dims) : false;
  Convolution v = place(a, input->shape->dims, dims, kind);
  check_backprop(op, a, v, dy);
  return run(c, v, Convolution::kBackwardFilter, input, dy, dims);
}

}  // namespace

void register_conv() {
  const std::initializer_list<DType> f32 = {DType::kFloat32};
  register_kernel("Conv2D", f32, named<convolve<kImages>>);
  register_kernel("Conv2DBackpropInput", f32, named<backprop_input<kImages>>);
  register_kernel("Conv2DBackpropFilter", f32, named<backprop_filter<kImages>>);
  register_kernel("DepthwiseConv2dNative", f32, named<convolve<kDepthwise>>);
  register_kernel("DepthwiseConv2dNativeBackpropInput", f32, named<backprop_input<kDepthwise>>);
  register_kernel("DepthwiseConv2dNativeBackpropFilter", f32, named<backprop_filter<kDepthwise>>);
  register_kernel("Conv3D", f32, named<convolve<kVolumes>>);
  register_kernel("Conv3DBackpropInputV2", f32, named<backprop_input<kVolumes>>);
  register_kernel("Conv3DBackpropFilterV2", f32, named<backprop_filter<kVolumes>>);
}

}  // namespace tapeflow
