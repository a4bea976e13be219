// The cross-entropies of softmax, BiasAdd and BiasAddGrad.
#include <cmath>
#include <cstring>

#include "columns.h"
#include "kernels/registry.h"
#include "rows.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename T> bool cross_entropy(KernelCall& call) {
  const Tensor *x = call.in[0], *labels = call.in[1];
  ShapeRef shape;
  try {
    shape = broadcast(x->shape, labels->shape);
  } catch (const Error&) {
    throw invalid("logits and labels must be broadcastable: logits_size=", x->shape->str(),
                  " labels_size=", labels->shape->str());
  }
  if (shape->rank != 2)
    throw invalid(
        "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  const int64_t rows = shape->dims[0], n = shape->dims[1];
  const auto columns = [](const Tensor* t) { return t->rank() == 0 ? 1 : t->dim(t->rank() - 1); };
  if (columns(x) != n || columns(labels) != n) return false;
  Tensor* loss = call.out[0] = new_tensor(x->dtype, 1, &rows);
  Tensor* gradient = call.out[1] = new_tensor(x->dtype, shape.get());
  if (shape->size == 0) {
    std::memset(loss->data, 0, loss->bytes());
    return true;
  }
  const int64_t x_pitch = x->size() == n ? 0 : n, labels_pitch = labels->size() == n ? 0 : n;
  for_rows(rows, n, kExpNs<T>, [&](int64_t row) {
    const T *from = x->as<T>() + row * x_pitch, *target = labels->as<T>() + row * labels_pitch;
    T* to = gradient->as<T>() + row * n;
    const T shift = largest(from, n);
    const T sum = exponentials(from, shift, n, to);
    const T offset = std::log(sum), scale = T(1) / sum;
    Vec<T> total{};
    for_vectors<T>(n, [&](const Lanes<T>& lanes, int64_t c, int filled) {
      const Vec<T> t = lanes.load(target + c);
      const Vec<T> value =
          t * (broadcast_lane(offset) - (lanes.load(from + c) - broadcast_lane(shift)));
      total += first_lanes<T>(value, filled, T{});
      lanes.store(to + c, lanes.load(to + c) * scale - t);
    });
    loss->as<T>()[row] = sum_of_lanes<T>(total);
  });
  return true;
}

template <typename Label> void check_labels(const Label* labels, int64_t n, int64_t classes) {
  Label low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    low = std::min(low, labels[i]);
    high = std::max(high, labels[i]);
  }
  if (low >= 0 && high < classes) return;
  std::ostringstream values;
  for (int64_t i = 0; i < n; ++i) values << (i ? " " : "") << labels[i];
  throw invalid("Received a label value of ", low < 0 ? low : high,
                " which is outside the valid range of [0, ", classes,
                ").  Label values: ", values.str());
}

template <typename T> bool sparse_cross_entropy(KernelCall& call) {
  const Tensor *x = call.in[0], *labels = call.in[1];
  if (x->rank() != 2) throw invalid("logits must be 2-D, but got shape ", x->shape->str());
  if (labels->rank() != 1)
    throw invalid("labels must be 1-D, but got shape ", labels->shape->str());
  const int64_t rows = x->dim(0), n = x->dim(1);
  if (rows != labels->dim(0))
    throw invalid("logits and labels must have the same first dimension, got logits shape ",
                  x->shape->str(), " and labels shape ", labels->shape->str());
  if (n == 0) throw invalid("Must have at least one class, but got logits shape ", x->shape->str());
  const bool wide = labels->dtype == DType::kInt64;
  if (!wide && labels->dtype != DType::kInt32) return false;
  if (wide) check_labels(labels->as<int64_t>(), rows, n);
  else check_labels(labels->as<int32_t>(), rows, n);
  Tensor* loss = call.out[0] = new_tensor(x->dtype, 1, &rows);
  Tensor* gradient = call.out[1] = new_tensor(x->dtype, x->shape);
  if (rows == 0) return true;
  for_rows(rows, n, kExpNs<T>, [&](int64_t row) {
    const int64_t label = wide ? labels->as<int64_t>()[row] : labels->as<int32_t>()[row];
    const T* from = x->as<T>() + row * n;
    T* to = gradient->as<T>() + row * n;
    const T shift = largest(from, n);
    const T sum = exponentials(from, shift, n, to);
    const T scale = T(1) / sum;
    for (int64_t c = 0; c < n; ++c) to[c] *= scale;
    to[label] -= T(1);
    loss->as<T>()[row] = std::log(sum) - (from[label] - shift);
  });
  return true;
}

// Where the channels are: [outer, channels, inner].
struct ChannelAxis {
  int64_t outer, channels, inner;
};
bool find_channels(const Tensor* t, const Attr& data_format, ChannelAxis* a) {
  const std::string_view format = data_format.str();
  const bool first = format == "NCHW";
  if (!first && format != "NHWC") return false;
  if (t->rank() < 2) throw invalid("Input tensor must be at least 2D: ", t->shape->str());
  const int axis = first ? 1 : t->rank() - 1;
  *a = {1, t->dim(axis), 1};
  for (int i = 0; i < axis; ++i) a->outer *= t->dim(i);
  for (int i = axis + 1; i < t->rank(); ++i) a->inner *= t->dim(i);
  return true;
}

template <typename T> void add_row(const T* x, const T* bias, T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + bias[i];
}

TAPEFLOW_ATTRS(BiasAttrs, data_format);

template <typename T> bool bias_add(KernelCall& call, const BiasAttrs& attrs) {
  using W = Wrapping<T>;
  const Tensor *x = call.in[0], *bias = call.in[1];
  ChannelAxis a;
  if (!find_channels(x, attrs.data_format, &a)) return false;
  if (bias->rank() != 1) throw invalid("Biases must be 1D: ", bias->shape->str());
  if (bias->dim(0) != a.channels)
    throw invalid("Must provide as many biases as the last dimension of the input tensor: ",
                  bias->shape->str(), " vs. ", x->shape->str());
  Tensor* y = call.out[0] = new_tensor(x->dtype, x->shape);
  if (x->size() == 0) return true;
  const W *from = x->as<W>(), *b = bias->as<W>();
  W* to = y->as<W>();
  const double ns = 0.1 * sizeof(T) / 4;
  ReleaseGil release(static_cast<int64_t>(static_cast<double>(x->size()) * ns));
  if (a.inner > 1) {
    parallel_for(a.outer * a.channels, static_cast<double>(a.inner) * ns,
                 [&](int64_t first, int64_t last) {
                   for (int64_t r = first; r < last; ++r) {
                     const W value = b[r % a.channels];
                     for (int64_t i = r * a.inner; i < (r + 1) * a.inner; ++i)
                       to[i] = from[i] + value;
                   }
                 });
    return true;
  }
  // A short row is repeated, so that the inner loop is worth starting.
  constexpr int64_t enough = 256;
  W repeated[enough];
  int64_t together = 1;
  if (a.channels <= enough / 4) {
    together = std::min(enough / a.channels, a.outer);
    for (int64_t i = 0; i < together * a.channels; ++i) repeated[i] = b[i % a.channels];
    b = repeated;
  }
  const int64_t width = together * a.channels, size = x->size();
  parallel_for((size + width - 1) / width, static_cast<double>(width) * ns,
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r)
                   add_row(from + r * width, b, to + r * width, std::min(width, size - r * width));
               });
  return true;
}

template <typename T> bool bias_add_gradient(KernelCall& call, const BiasAttrs& attrs) {
  using W = Wrapping<T>;
  const Tensor* dy = call.in[0];
  ChannelAxis a;
  if (!find_channels(dy, attrs.data_format, &a)) return false;
  Tensor* out = call.out[0] = new_tensor(dy->dtype, 1, &a.channels);
  W* const to = out->as<W>();
  const W* const from = dy->as<W>();
  if (dy->size() == 0) {
    std::fill(to, to + a.channels, W{});
    return true;
  }
  const double ns = 0.1 * sizeof(T) / 4;
  ReleaseGil release(static_cast<int64_t>(static_cast<double>(dy->size()) * ns));
  if (a.inner == 1) {
    const auto term = [from](const Lanes<W>& lanes, int64_t at, int64_t, Vec<W>* sum) {
      sum[0] += lanes.load(from + at);
    };
    column_sums<W, 1>(a.outer, a.channels, ns, term, {to});
    return true;
  }
  parallel_for(a.channels, static_cast<double>(a.outer * a.inner) * ns,
               [&](int64_t first, int64_t last) {
                 for (int64_t c = first; c < last; ++c) {
                   W total{};
                   for (int64_t o = 0; o < a.outer; ++o) {
                     Vec<W> sum{};
                     for_vectors<W>(a.inner, [&](const Lanes<W>& lanes, int64_t i, int) {
                       sum += lanes.load(from + (o * a.channels + c) * a.inner + i);
                     });
                     total += sum_of_lanes<W>(sum);
                   }
                   to[c] = total;
                 }
               });
  return true;
}

template <typename T> void register_bias() {
  const std::initializer_list<DType> dtype = {DTypeOf<T>::value};
  register_kernel("BiasAdd", dtype, named<bias_add<T>>);
  register_kernel("BiasAddGrad", dtype, named<bias_add_gradient<T>>);
}

template <typename T> void register_floating() {
  const std::initializer_list<DType> dtype = {DTypeOf<T>::value};
  register_kernel("SoftmaxCrossEntropyWithLogits", dtype, cross_entropy<T>);
  register_kernel("SparseSoftmaxCrossEntropyWithLogits", dtype, sparse_cross_entropy<T>);
}

}  // namespace

void register_nn() {
  register_floating<float>();
  register_floating<double>();
  register_bias<float>();
  register_bias<double>();
  register_bias<int32_t>();
  register_bias<int64_t>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
