// Pixels of three channels between red, green, blue and hue, saturation, value; hue turned and saturation scaled; contrast.
// The formulas are those of ops/image/color.py, step by step: results are the same.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../registry.h"
#include "error.h"
#include "threads.h"
#include "kernel.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

constexpr int kBlock = 128;  // pixels, whose channels lie apart while they are computed

template <typename T> struct Pixels {
  T a[kBlock], b[kBlock], c[kBlock];
};

// NaN if one of them is.
template <typename T> T larger(T x, T y) { return x > y || x != x ? x : y; }
template <typename T> T smaller(T x, T y) { return x < y || x != x ? x : y; }
template <typename T> T from_0_to_1(T x) { return smaller(larger(x, T(0)), T(1)); }

template <typename T> void to_hsv(Pixels<T>& p) {
  for (int i = 0; i < kBlock; ++i) {
    const T r = p.a[i], g = p.b[i], b = p.c[i];
    const T value = larger(larger(r, g), b), span = value - smaller(smaller(r, g), b);
    const T sixth = 1 / (6 * (span > 0 ? span : T(1)));
    const T by_red = sixth * (g - b), by_green = sixth * (b - r) + T(2.0 / 6), by_blue = sixth * (r - g) + T(4.0 / 6);
    const T of_largest = r == value ? by_red : g == value ? by_green : by_blue;
    const T hue = span > 0 ? of_largest : T(0), quotient = span / (value > 0 ? value : T(1));
    p.a[i] = hue < 0 ? hue + 1 : hue;
    p.b[i] = value > 0 ? quotient : T(0);
    p.c[i] = value;
  }
}

template <typename T> void to_rgb(Pixels<T>& p) {
  for (int i = 0; i < kBlock; ++i) {
    const T sixths = p.a[i] * 6, saturation = p.b[i], value = p.c[i], rest = 1 - saturation;
    const T red = from_0_to_1(std::abs(sixths - 3) - 1);
    const T green = from_0_to_1(2 - std::abs(sixths - 2));
    const T blue = from_0_to_1(2 - std::abs(sixths - 4));
    p.a[i] = (rest + saturation * red) * value;
    p.b[i] = (rest + saturation * green) * value;
    p.c[i] = (rest + saturation * blue) * value;
  }
}

// out[0] = change(in[0]), block by block; `change` computes whole blocks, the last one with what is left of others.
template <typename T, typename F> void change_pixels(KernelCall& c, F&& change) {
  const Tensor* x = c.in[0];
  Tensor* y = c.out[0] = new_tensor(x->dtype, x->shape);
  const int64_t pixels = x->size() / 3, blocks = (pixels + kBlock - 1) / kBlock;
  constexpr double ns = 2.0 * kBlock;
  ReleaseGil unlock(static_cast<int64_t>(ns * static_cast<double>(blocks)));
  parallel_for(blocks, ns, [&](int64_t begin, int64_t end) {
    Pixels<T> p{};
    for (int64_t block = begin; block < end; ++block) {
      const int n = static_cast<int>(std::min<int64_t>(kBlock, pixels - block * kBlock));
      const T* from = x->as<T>() + block * kBlock * 3;
      T* to = y->as<T>() + block * kBlock * 3;
      for (int i = 0; i < n; ++i) {
        p.a[i] = from[3 * i];
        p.b[i] = from[3 * i + 1];
        p.c[i] = from[3 * i + 2];
      }
      change(p);
      for (int i = 0; i < n; ++i) {
        to[3 * i] = p.a[i];
        to[3 * i + 1] = p.b[i];
        to[3 * i + 2] = p.c[i];
      }
    }
  });
}

// What is not an image of three channels, or not one number beside it, is an error: the Python kernel has the words.
bool are_pixels(const Tensor* x, int least_rank) { return x->rank() >= least_rank && x->dim(x->rank() - 1) == 3; }

template <typename T> bool rgb_to_hsv(KernelCall& c) {
  if (!are_pixels(c.in[0], 1)) return false;
  change_pixels<T>(c, [](Pixels<T>& p) { to_hsv(p); });
  return true;
}

template <typename T> bool hsv_to_rgb(KernelCall& c) {
  if (!are_pixels(c.in[0], 1)) return false;
  change_pixels<T>(c, [](Pixels<T>& p) { to_rgb(p); });
  return true;
}

bool adjust_hue(KernelCall& c) {
  if (!are_pixels(c.in[0], 3) || c.in[1]->rank() != 0) return false;
  const float delta = *c.in[1]->as<float>();
  change_pixels<float>(c, [delta](Pixels<float>& p) {
    to_hsv(p);
    for (float& hue : p.a) {
      const float turned = hue + delta;
      hue = turned - std::floor(turned);
    }
    to_rgb(p);
  });
  return true;
}

bool adjust_saturation(KernelCall& c) {
  if (!are_pixels(c.in[0], 3) || c.in[1]->rank() != 0) return false;
  const float scale = *c.in[1]->as<float>();
  change_pixels<float>(c, [scale](Pixels<float>& p) {
    to_hsv(p);
    for (float& saturation : p.b) saturation = from_0_to_1(saturation * scale);
    to_rgb(p);
  });
  return true;
}

// The distance from the mean of an image's channel, scaled.
bool adjust_contrast(KernelCall& c) {
  const Tensor *x = c.in[0], *factor = c.in[1];
  const int rank = x->rank();
  if (rank < 3 || factor->rank() != 0 || x->size() == 0) return false;
  const int64_t height = x->dim(rank - 3), channels = x->dim(rank - 1), columns = x->dim(rank - 2) * channels;
  const int64_t images = x->size() / (height * columns);
  const float scale = *factor->as<float>();
  Tensor* y = c.out[0] = new_tensor(x->dtype, x->shape);
  const auto work = static_cast<double>(height * columns);
  std::vector<double> sums(static_cast<size_t>(images * columns));
  std::vector<float> means(static_cast<size_t>(images * columns));
  ReleaseGil unlock(static_cast<int64_t>(work * static_cast<double>(images)));
  parallel_for(images, work * 0.3, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image) {
      double* __restrict sum = sums.data() + image * columns;
      const float* __restrict row = x->as<float>() + image * height * columns;
      for (int64_t i = 0; i < height; ++i, row += columns) {
        for (int64_t k = 0; k < columns; ++k) sum[k] += static_cast<double>(row[k]);
      }
      for (int64_t k = channels; k < columns; ++k) sum[k % channels] += sum[k];
      float* mean = means.data() + image * columns;
      for (int64_t k = 0; k < columns; ++k) mean[k] = static_cast<float>(sum[k % channels] / (work / static_cast<double>(channels)));
    }
  });
  parallel_for(images * height, 0.3 * static_cast<double>(columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* __restrict mean = means.data() + i / height * columns;
      const float* __restrict from = x->as<float>() + i * columns;
      float* __restrict to = y->as<float>() + i * columns;
      for (int64_t k = 0; k < columns; ++k) to[k] = mean[k] + (from[k] - mean[k]) * scale;
    }
  });
  return true;
}

}  // namespace

void register_colors() {
  register_kernel("RGBToHSV", {DType::kFloat32}, rgb_to_hsv<float>);
  register_kernel("RGBToHSV", {DType::kFloat64}, rgb_to_hsv<double>);
  register_kernel("HSVToRGB", {DType::kFloat32}, hsv_to_rgb<float>);
  register_kernel("HSVToRGB", {DType::kFloat64}, hsv_to_rgb<double>);
  register_kernel("AdjustHue", {DType::kFloat32}, adjust_hue);
  register_kernel("AdjustSaturation", {DType::kFloat32}, adjust_saturation);
  register_kernel("AdjustContrastv2", {DType::kFloat32}, adjust_contrast);
}

}  // namespace tapeflow::TAPEFLOW_ISA
