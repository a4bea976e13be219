// FusedBatchNorm and its gradient, in the three versions, for NHWC float32.
#include <cmath>
#include <cstring>
#include <limits>

#include "columns.h"
#include "kernels/registry.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

using V = Vec<float>;

// ns per element of a pass over the data.
constexpr double kPassNs = 0.1;

bool is_nhwc(const Attr& data_format) { return std::string_view(data_format.str()) == "NHWC"; }

void check_vector(const char* name, const Tensor* t) {
  if (t->rank() != 1) throw invalid(name, " must be 1-dimensional", t->shape->str());
}
void check_channels(const char* prefix, const char* name, const Tensor* t, int64_t channels) {
  if (t->size() != channels)
    throw invalid(prefix, name, " must have the same number of elements as the channels of x, got ",
                  t->size(), " and ", channels);
}

// f(lanes, offset, c) for every vector of the data.
template <typename F> void for_each_row(int64_t rows, int64_t channels, F f) {
  parallel_for(rows, static_cast<double>(channels) * kPassNs, [&](int64_t from, int64_t to) {
    for (int64_t row = from; row < to; ++row)
      for_channels<float>(channels, [&](auto vectors, const Lanes<float>& last, int64_t c) {
        const Lanes<float> all(kLanes<float>);
        for (int v = 0; v < vectors; ++v)
          f(v == vectors - 1 ? last : all, row * channels + c + v * kLanes<float>,
            c + v * kLanes<float>);
      });
  });
}

void normalize(int64_t rows, int64_t channels, const float* x, const float* mean,
               const float* scale, const float* offset, float* y) {
  for_each_row(rows, channels, [=](const Lanes<float>& lanes, int64_t at, int64_t c) {
    lanes.store(y + at, (lanes.load(x + at) - lanes.load(mean + c)) * lanes.load(scale + c) +
                            lanes.load(offset + c));
  });
}

// Mean and (biased) variance over the rows. Each group's mean comes first, and the squares about it while the group is in
// the cache; those about the mean of all rows follow from them.
void moments(int64_t rows, int64_t channels, const float* x, float* mean, float* variance) {
  const int64_t groups = row_groups(rows), pitch = 2 * channels;
  Scratch scratch(static_cast<size_t>(groups * pitch) * sizeof(float));
  float* const partial = scratch.as<float>();
  for_column_groups<float>(rows, channels, 2 * kPassNs, [&](int64_t g, int64_t first, int64_t end, auto vectors,
                                                            const Lanes<float>& last, int64_t c) {
    const Lanes<float> all(kLanes<float>);
    const auto lanes = [&](int v) -> const Lanes<float>& { return v == vectors - 1 ? last : all; };
    const V n = broadcast_lane(static_cast<float>(end - first));
    V middle[vectors] = {}, squares[vectors] = {};
    for (int64_t row = first; row < end; ++row)
      for (int v = 0; v < vectors; ++v) middle[v] += lanes(v).load(x + row * channels + c + v * kLanes<float>);
    for (int v = 0; v < vectors; ++v) middle[v] /= n;
    for (int64_t row = first; row < end; ++row)
      for (int v = 0; v < vectors; ++v) {
        const V d = lanes(v).load(x + row * channels + c + v * kLanes<float>) - middle[v];
        squares[v] += d * d;
      }
    for (int v = 0; v < vectors; ++v) {
      float* to = partial + g * pitch + c + v * kLanes<float>;
      lanes(v).store(to, middle[v]);
      lanes(v).store(to + channels, squares[v]);
    }
  });
  const float n = static_cast<float>(rows);
  const auto size_of = [&](int64_t g) { return static_cast<float>(std::min(kRowsOfGroup, rows - g * kRowsOfGroup)); };
  std::fill(mean, mean + channels, 0.0f);
  std::fill(variance, variance + channels, 0.0f);
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < channels; ++c) mean[c] += partial[g * pitch + c] * (size_of(g) / n);
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < channels; ++c) {
      const float d = partial[g * pitch + c] - mean[c];
      variance[c] += (partial[g * pitch + channels + c] + d * d * size_of(g)) / n;
    }
}

TAPEFLOW_ATTRS(BatchNormAttrs, epsilon, exponential_avg_factor, data_format, is_training);
TAPEFLOW_INPUTS(BatchNormInputs, x, scale, offset, mean, variance);

template <bool has_reserve_3>
bool batch_norm(KernelCall& call, const BatchNormAttrs& attrs, const BatchNormInputs& in) {
  const Tensor *x = in.x, *scale = in.scale, *offset = in.offset, *old_mean = in.mean,
               *old_variance = in.variance;
  if (!is_nhwc(attrs.data_format)) return false;
  const float epsilon = static_cast<float>(attrs.epsilon.f),
              factor = static_cast<float>(attrs.exponential_avg_factor.f);
  const bool training = attrs.is_training.b();
  if (x->rank() != 4) throw invalid("input must be 4-dimensional", x->shape->str());
  check_vector("scale", scale);
  check_vector("offset", offset);
  check_vector("estimated_mean", old_mean);
  check_vector("estimated_variance", old_variance);
  const int64_t channels = x->dim(3);
  check_channels("", "scale", scale, channels);
  check_channels("", "offset", offset, channels);
  if (!training || factor != 1) {
    const char* when = training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
    check_channels(when, "mean", old_mean, channels);
    check_channels(when, "variance", old_variance, channels);
  }
  for (int i = 1; i < 5; ++i)
    if (call.in[i]->dtype != DType::kFloat32) return false;

  Tensor* y = call.out[0] = new_tensor(DType::kFloat32, x->shape);
  for (int i = 1; i < 5; ++i) call.out[i] = new_tensor(DType::kFloat32, 1, &channels);
  if constexpr (has_reserve_3) {
    const int64_t none = 0;
    call.out[5] = new_tensor(DType::kFloat32, 1, &none);
  }
  float *new_mean = call.out[1]->as<float>(), *new_variance = call.out[2]->as<float>();
  float *mean = call.out[3]->as<float>(), *variance = call.out[4]->as<float>();
  if (x->size() == 0) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::fill(new_mean, new_mean + channels, nan);
    std::fill(new_variance, new_variance + channels, nan);
    std::fill(mean, mean + channels, 0.0f);
    std::fill(variance, variance + channels, 0.0f);
    return true;
  }
  const int64_t rows = x->size() / channels;
  ReleaseGil release(
      static_cast<int64_t>(static_cast<double>(x->size()) * kPassNs * (training ? 3 : 1)));
  if (training) {
    moments(rows, channels, x->as<float>(), mean, variance);
    // The running variance is the unbiased estimate (Bessel's correction).
    const float correction =
        static_cast<float>(rows) / static_cast<float>(std::max<int64_t>(rows - 1, 1));
    for (int64_t c = 0; c < channels; ++c) {
      new_mean[c] = mean[c];
      new_variance[c] = variance[c] * correction;
      if (factor != 1) {
        new_mean[c] = (1 - factor) * old_mean->as<float>()[c] + factor * new_mean[c];
        new_variance[c] = (1 - factor) * old_variance->as<float>()[c] + factor * new_variance[c];
      }
    }
  } else {
    for (float* to : {new_mean, mean})
      std::memcpy(to, old_mean->data, static_cast<size_t>(channels) * sizeof(float));
    for (float* to : {new_variance, variance})
      std::memcpy(to, old_variance->data, static_cast<size_t>(channels) * sizeof(float));
  }
  Scratch scratch(static_cast<size_t>(channels) * sizeof(float));
  float* const slope = scratch.as<float>();
  for (int64_t c = 0; c < channels; ++c)
    slope[c] = scale->as<float>()[c] / std::sqrt(variance[c] + epsilon);
  normalize(rows, channels, x->as<float>(), mean, slope, offset->as<float>(), y->as<float>());
  return true;
}

TAPEFLOW_ATTRS(GradientAttrs, epsilon, data_format, is_training);
// The reserved ones are the mean and variance of the forward pass.
TAPEFLOW_INPUTS(GradientInputs, y_backprop, x, scale, reserve_space_1, reserve_space_2);
TAPEFLOW_INPUTS(GradientV3Inputs, y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3);

template <typename Inputs>
bool batch_norm_gradient(KernelCall& call, const GradientAttrs& attrs, const Inputs& in) {
  const Tensor *dy = in.y_backprop, *x = in.x, *scale = in.scale, *mean = in.reserve_space_1,
               *variance = in.reserve_space_2;
  if (!is_nhwc(attrs.data_format)) return false;
  const float epsilon = static_cast<float>(attrs.epsilon.f);
  const bool training = attrs.is_training.b();
  if (dy->rank() != 4) throw invalid("input must be 4-dimensional", dy->shape->str());
  if (x->rank() != 4) throw invalid("input must be 4-dimensional", x->shape->str());
  check_vector("scale", scale);
  check_vector("saved mean", mean);
  check_vector("saved variance", variance);
  if (!x->shape->same(dy->shape))
    throw invalid("x and y_backprop must have same shape, but x has shape ", x->shape->str(),
                  " and y_backprop has shape ", dy->shape->str());
  const int64_t channels = x->dim(3);
  check_channels("", "scale", scale, channels);
  check_channels("", "reserve_space_1", mean, channels);
  check_channels("", "reserve_space_2", variance, channels);
  for (int i = 0; i < 5; ++i)
    if (call.in[i]->dtype != DType::kFloat32) return false;

  Tensor* dx = call.out[0] = new_tensor(DType::kFloat32, x->shape);
  Tensor* dscale = call.out[1] = new_tensor(DType::kFloat32, 1, &channels);
  Tensor* doffset = call.out[2] = new_tensor(DType::kFloat32, 1, &channels);
  call.out[3] = scalar_tensor(0.0f);
  call.out[4] = scalar_tensor(0.0f);
  float *to_scale = dscale->as<float>(), *to_offset = doffset->as<float>();
  if (x->size() == 0) {
    std::fill(to_scale, to_scale + channels, 0.0f);
    std::fill(to_offset, to_offset + channels, 0.0f);
    return true;
  }
  const int64_t rows = x->size() / channels;
  ReleaseGil release(static_cast<int64_t>(static_cast<double>(x->size()) * kPassNs * 4));
  const float *px = x->as<float>(), *pdy = dy->as<float>(), *pm = mean->as<float>();
  column_sums<float, 2>(rows, channels, 2 * kPassNs,
                        [=](const Lanes<float>& lanes, int64_t at, int64_t c, V* sum) {
                          const V d = lanes.load(pdy + at);
                          sum[0] += d;
                          sum[1] += d * (lanes.load(px + at) - lanes.load(pm + c));
                        },
                        {to_offset, to_scale});
  // dx = slope * (dy - mean(dy) - (x - mean) * mean(dy (x - mean)) / (variance + epsilon))
  Scratch scratch(static_cast<size_t>(3 * channels) * sizeof(float));
  float *slope = scratch.as<float>(), *shift = slope + channels, *pull = shift + channels;
  const float n = static_cast<float>(rows);
  for (int64_t c = 0; c < channels; ++c) {
    const float spread = variance->as<float>()[c] + epsilon, inverse = 1 / std::sqrt(spread);
    slope[c] = scale->as<float>()[c] * inverse;
    shift[c] = training ? to_offset[c] / n : 0;
    pull[c] = training ? to_scale[c] / n / spread : 0;
    to_scale[c] *= inverse;
  }
  float* const out = dx->as<float>();
  for_each_row(rows, channels, [=](const Lanes<float>& lanes, int64_t at, int64_t c) {
    const V centred = lanes.load(px + at) - lanes.load(pm + c);
    const V inner = lanes.load(pdy + at) - lanes.load(shift + c) - centred * lanes.load(pull + c);
    lanes.store(out + at, inner * lanes.load(slope + c));
  });
  return true;
}

}  // namespace

void register_batch_norm() {
  const std::initializer_list<DType> f32 = {DType::kFloat32};
  register_kernel("FusedBatchNorm", f32, named<batch_norm<false>>);
  register_kernel("FusedBatchNormV2", f32, named<batch_norm<false>>);
  register_kernel("FusedBatchNormV3", f32, named<batch_norm<true>>);
  register_kernel("FusedBatchNormGrad", f32, named<batch_norm_gradient<GradientInputs>>);
  register_kernel("FusedBatchNormGradV2", f32, named<batch_norm_gradient<GradientInputs>>);
  register_kernel("FusedBatchNormGradV3", f32, named<batch_norm_gradient<GradientV3Inputs>>);
}

}  // namespace tapeflow::TAPEFLOW_ISA
