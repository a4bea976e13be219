// MaxPool, AvgPool and their gradients, NHWC: vectors run along the channels, a window's sums and
// maxima stay in registers. (A 2x2 maximum takes 0.7 of the time of TensorFlow's, which is
// oneDNN's; its gradient needs no workspace.)
#include <cstring>
#include <limits>

#include "columns.h"
#include "kernels/registry.h"
#include "kernels/window.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

struct Pooling {
  int64_t batch, channels;
  Window axis[2];  // height, width
  int64_t out_dims[4];
};

std::string listed(const Attr& a) {
  std::string s;
  for (int i = 0; i < a.n; ++i) s += text(i ? "," : "", a.ints[i]);
  return s;
}

TAPEFLOW_ATTRS(MaxPoolAttrs, ksize, strides, padding, explicit_paddings, data_format);
TAPEFLOW_ATTRS(AvgPoolAttrs, ksize, strides, padding, data_format);

// False: not for these kernels.
template <typename Attrs>
bool plan(const Attrs& attrs, const char* what, const int64_t* in, Pooling* p) {
  const Attr &ksize = attrs.ksize, &strides = attrs.strides;
  Format format;
  if (!parse_format(attrs.data_format, &format) || format.windows != 2) return false;
  if (ksize.n != 4) throw invalid("Sliding window ksize field must specify 4 dimensions");
  if (strides.n != 4) throw invalid("Sliding window strides field must specify 4 dimensions");
  for (int i = 0; i < 4; ++i) {
    if (ksize.ints[i] <= 0)
      throw invalid("Sliding window ksize must be positive. The specified or inferred ksize is: ",
                    listed(ksize));
    if (strides.ints[i] <= 0) throw invalid("Stride must be > 0, but got ", strides.ints[i]);
  }
  if (ksize.ints[0] != 1 || strides.ints[0] != 1)
    throw unimplemented("Pooling is not yet supported on the batch dimension.");
  const Padding padding = parse_padding(attrs, format);
  static constexpr const char* sides[2][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
  for (int i = 0; i < 2; ++i) {
    const int64_t size = ksize.ints[format.spatial(i)];
    if (padding.before[i] >= size)
      throw invalid(sides[i][0], " padding ", padding.before[i],
                    " needs to be smaller than the window size ", size);
    if (padding.after[i] >= size)
      throw invalid(sides[i][1], " padding ", padding.after[i],
                    " needs to be smaller than the window size ", size);
  }
  const int64_t deep = ksize.ints[format.channels];
  if (deep != 1 || strides.ints[format.channels] != 1) {
    if (ksize.ints[format.spatial(0)] != 1 || ksize.ints[format.spatial(1)] != 1)
      throw unimplemented(
          what,
          "Pooling supports exactly one of pooling across depth or pooling across width/height.");
    return false;
  }
  if (format.channels_first) return false;
  p->batch = in[0];
  p->channels = in[3];
  for (int i = 0; i < 2; ++i) {
    p->axis[i] = {in[1 + i], 0, ksize.ints[1 + i], strides.ints[1 + i], 1, 0, 0};
    place_window(&p->axis[i], padding, i);
  }
  p->out_dims[0] = p->batch;
  p->out_dims[1] = p->axis[0].out;
  p->out_dims[2] = p->axis[1].out;
  p->out_dims[3] = p->channels;
  return true;
}

// The part of a window that lies in the input.
struct Span {
  int64_t from, to;
  int64_t size() const { return to - from; }
};
Span clip(const Window& w, int64_t i) {
  const int64_t start = i * w.stride - w.pad_before;
  return {std::max<int64_t>(start, 0), std::max<int64_t>(std::min(start + w.size, w.in), 0)};
}

template <typename T> struct Maximum {
  static Vec<T> start() { return broadcast_lane(-std::numeric_limits<T>::infinity()); }
  static Vec<T> add(Vec<T> best, Vec<T> x) { return x > best ? x : best; }
  static Vec<T> finish(Vec<T> best, int64_t) { return best; }
};
template <typename T> struct Average {
  static Vec<T> start() { return Vec<T>{}; }
  static Vec<T> add(Vec<T> sum, Vec<T> x) { return sum + x; }
  static Vec<T> finish(Vec<T> sum, int64_t n) { return sum / broadcast_lane(static_cast<T>(n)); }
};

template <typename T, template <typename> class Op>
void pool_row(const Pooling& p, int64_t row, const T* x, T* y) {
  const auto& [h, w] = p.axis;
  const Span rows = clip(h, row % h.out);
  const T* image = x + row / h.out * h.in * w.in * p.channels;
  y += row * w.out * p.channels;
  for (int64_t j = 0; j < w.out; ++j, y += p.channels) {
    const Span columns = clip(w, j);
    for_channels<T>(p.channels, [&](auto vectors, const Lanes<T>& last, int64_t c) {
      Vec<T> sum[vectors];
      for (int v = 0; v < vectors; ++v) sum[v] = Op<T>::start();
      for (int64_t r = rows.from; r < rows.to; ++r) {
        const T* from = image + (r * w.in + columns.from) * p.channels + c;
        for (int64_t s = columns.from; s < columns.to; ++s, from += p.channels)
          for (int v = 0; v < vectors; ++v)
            sum[v] = Op<T>::add(sum[v], v == vectors - 1 ? last.load(from + v * kLanes<T>)
                                                         : load(from + v * kLanes<T>));
      }
      for (int v = 0; v < vectors; ++v) {
        const Vec<T> result = Op<T>::finish(sum[v], rows.size() * columns.size());
        if (v == vectors - 1) last.store(y + c + v * kLanes<T>, result);
        else store(y + c + v * kLanes<T>, result);
      }
    });
  }
}

double work_ns(const Pooling& p, double ns_per_element) {
  return static_cast<double>(p.axis[1].out) * static_cast<double>(p.channels) *
         static_cast<double>(std::min(p.axis[0].size, p.axis[0].in) *
                             std::min(p.axis[1].size, p.axis[1].in)) *
         ns_per_element;
}

template <typename T, template <typename> class Op, typename Attrs>
bool pool(KernelCall& c, const Attrs& attrs) {
  constexpr bool is_max = std::is_same_v<Op<T>, Maximum<T>>;
  const Tensor* x = c.in[0];
  if (x->rank() == 5) return false;
  if (x->rank() != 4) throw invalid("Input must be 4 or 5-dimensional");
  Pooling p;
  if (!plan(attrs, is_max ? "Max" : "Avg", x->shape->dims, &p)) return false;
  Tensor* y = new_tensor(x->dtype, 4, p.out_dims);
  c.out[0] = y;
  if (y->size() == 0) return true;
  const int64_t rows = p.batch * p.axis[0].out;
  const double ns = work_ns(p, 0.06 * sizeof(T) / 4);
  ReleaseGil release(static_cast<int64_t>(std::min(ns * static_cast<double>(rows), 1e18)));
  parallel_for(rows, ns, [&](int64_t from, int64_t to) {
    for (int64_t row = from; row < to; ++row) pool_row<T, Op>(p, row, x->as<T>(), y->as<T>());
  });
  return true;
}

// Windows that meet no cell twice store into it; others add.
template <typename T> void put(T* to, Vec<T> value, const Lanes<T>& lanes, bool add) {
  lanes.store(to, add ? lanes.load(to) + value : value);
}

template <typename T> struct IndexOf;
template <> struct IndexOf<float> {
  using type = int32_t;
};
template <> struct IndexOf<double> {
  using type = int64_t;
};

// The gradient goes to the first maximum of the window, in row-major order.
template <typename T>
void max_window_gradient(const T* x, const T* dy, T* dx, int64_t pitch, int64_t channels, Span rows,
                         Span columns, bool add) {
  using Index = typename IndexOf<T>::type;
  for_channels<T>(channels, [&](auto vectors, const Lanes<T>& last, int64_t c) {
    const Lanes<T> all(kLanes<T>);
    for (int v = 0; v < vectors; ++v) {
      const Lanes<T>& lanes = v == vectors - 1 ? last : all;
      const int64_t at = c + v * kLanes<T>;
      Vec<T> best = lanes.load(x + rows.from * pitch + columns.from * channels + at);
      Vec<Index> where{}, k{};
      for (int64_t r = rows.from; r < rows.to; ++r)
        for (int64_t s = columns.from; s < columns.to; ++s, k += 1) {
          const Vec<T> value = lanes.load(x + r * pitch + s * channels + at);
          const auto better = best < value;
          best = better ? value : best;
          where = better ? k : where;
        }
      const Vec<T> gradient = lanes.load(dy + at);
      k = Vec<Index>{};
      for (int64_t r = rows.from; r < rows.to; ++r)
        for (int64_t s = columns.from; s < columns.to; ++s, k += 1)
          put(dx + r * pitch + s * channels + at, where == k ? gradient : Vec<T>{}, lanes, add);
    }
  });
}

template <typename T>
void average_window_gradient(const T* dy, T* dx, int64_t pitch, int64_t channels, Span rows,
                             Span columns, bool add) {
  const T n = static_cast<T>(rows.size() * columns.size());
  for_channels<T>(channels, [&](auto vectors, const Lanes<T>& last, int64_t c) {
    const Lanes<T> all(kLanes<T>);
    for (int v = 0; v < vectors; ++v) {
      const Lanes<T>& lanes = v == vectors - 1 ? last : all;
      const int64_t at = c + v * kLanes<T>;
      const Vec<T> gradient = lanes.load(dy + at) / broadcast_lane(n);
      for (int64_t r = rows.from; r < rows.to; ++r)
        for (int64_t s = columns.from; s < columns.to; ++s)
          put(dx + r * pitch + s * channels + at, gradient, lanes, add);
    }
  });
}

// dx[batch, h, w, channels] from dy; x is null for averages.
template <typename T> void pool_gradient(const Pooling& p, const T* x, const T* dy, T* dx) {
  const auto& [h, w] = p.axis;
  const int64_t pitch = w.in * p.channels, image = h.in * pitch;
  const bool overlap = h.stride < h.size || w.stride < w.size;
  const bool covered = !overlap && h.stride == h.size && w.stride == w.size &&
                       h.out * h.size >= h.in + h.pad_before &&
                       w.out * w.size >= w.in + w.pad_before;
  const auto one_row = [&](int64_t n, int64_t i) {
    const Span rows = clip(h, i);
    const T* gradient = dy + (n * h.out + i) * w.out * p.channels;
    for (int64_t j = 0; j < w.out; ++j, gradient += p.channels) {
      const Span columns = clip(w, j);
      if (rows.size() <= 0 || columns.size() <= 0) continue;
      if (x)
        max_window_gradient(x + n * image, gradient, dx + n * image, pitch, p.channels, rows,
                            columns, overlap);
      else
        average_window_gradient(gradient, dx + n * image, pitch, p.channels, rows, columns,
                                overlap);
    }
  };
  const double ns = work_ns(p, 0.15 * sizeof(T) / 4);
  ReleaseGil release(
      static_cast<int64_t>(std::min(ns * static_cast<double>(p.batch * h.out), 1e18)));
  if (covered) {
    parallel_for(p.batch * h.out, ns, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) one_row(i / h.out, i % h.out);
    });
    return;
  }
  parallel_for(p.batch, ns * static_cast<double>(h.out), [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n) {
      std::memset(dx + n * image, 0, static_cast<size_t>(image) * sizeof(T));
      for (int64_t i = 0; i < h.out; ++i) one_row(n, i);
    }
  });
}

void check_shape(const char* name, const Tensor* t, const Pooling& p) {
  for (int i = 0; i < 4; ++i)
    if (t->dim(i) != p.out_dims[i])
      throw invalid("Expected ", name, " shape to be [", p.out_dims[0], ",", p.out_dims[1], ",",
                    p.out_dims[2], ",", p.out_dims[3], "], but got ", t->shape->str());
}

TAPEFLOW_INPUTS(MaxPoolGradInputs, orig_input, orig_output, grad);

template <typename T>
bool max_pool_gradient(KernelCall& c, const MaxPoolAttrs& attrs, const MaxPoolGradInputs& in) {
  const Tensor *x = in.orig_input, *y = in.orig_output, *dy = in.grad;
  if (x->rank() != 4) throw invalid("tensor_in must be 4-dimensional");
  if (y->rank() != 4) throw invalid("tensor_out must be 4-dimensional");
  if (dy->rank() != 4) throw invalid("out_backprop must be 4-dimensional");
  Pooling p;
  if (!plan(attrs, "Max", x->shape->dims, &p)) return false;
  check_shape("orig_output", y, p);
  check_shape("grad", dy, p);
  Tensor* dx = new_tensor(x->dtype, x->shape);
  c.out[0] = dx;
  if (dx->size() > 0) pool_gradient(p, x->as<T>(), dy->as<T>(), dx->as<T>());
  return true;
}

template <typename T> bool average_pool_gradient(KernelCall& c, const AvgPoolAttrs& attrs) {
  const Tensor *shape = c.in[0], *dy = c.in[1];
  if (shape->rank() != 1 || shape->size() != 4 || shape->dtype != DType::kInt32)
    throw invalid("orig_input_shape must be 1-dimensional and 4 elements, got shape ",
                  shape->shape->str());
  if (dy->rank() != 4) throw invalid("out_backprop must be 4-dimensional");
  int64_t dims[4];
  for (int i = 0; i < 4; ++i) {
    dims[i] = shape->as<int32_t>()[i];
    if (dims[i] < 0) throw invalid("Expected a non-negative size, got ", dims[i]);
  }
  Pooling p;
  if (!plan(attrs, "Avg", dims, &p)) return false;
  check_shape("grad", dy, p);
  Tensor* dx = new_tensor(dy->dtype, 4, dims);
  c.out[0] = dx;
  if (dx->size() > 0) pool_gradient<T>(p, nullptr, dy->as<T>(), dx->as<T>());
  return true;
}

template <typename T> void register_for() {
  const std::initializer_list<DType> dtype = {DTypeOf<T>::value};
  register_kernel("MaxPool", dtype, named<pool<T, Maximum, MaxPoolAttrs>>);
  register_kernel("AvgPool", dtype, named<pool<T, Average, AvgPoolAttrs>>);
  register_kernel("MaxPoolGrad", dtype, named<max_pool_gradient<T>>);
  register_kernel("AvgPoolGrad", dtype, named<average_pool_gradient<T>>);
}

}  // namespace

void register_pool() {
  register_for<float>();
  register_for<double>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
