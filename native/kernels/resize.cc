// ResizeBilinear, ResizeNearestNeighbor and their gradients, NHWC: which pixels a place of the result is made of, and with
// what weights, is worked out once for the rows and once for the columns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernel.h"
#include "kernels/registry.h"
#include "threads.h"

namespace tapeflow {
namespace {

struct Images {
  int64_t batch, height, width, channels;
};

Images images_of(const Tensor* t) { return {t->dim(0), t->dim(1), t->dim(2), t->dim(3)}; }

// The size of the result, checked as the op's own Python kernel checks it.
void check(const Tensor* images, const Tensor* size, int64_t* height, int64_t* width) {
  if (images->rank() != 4) throw invalid("input must be 4-dimensional", images->shape->str());
  if (size->rank() != 1) throw invalid("shape_t must be 1-dimensional", size->shape->str());
  if (size->size() != 2) throw invalid("shape_t must have two elements", size->shape->str());
  *height = size->as<int32_t>()[0];
  *width = size->as<int32_t>()[1];
  if (*height <= 0 || *width <= 0) throw invalid("output dimensions must be positive");
  if (images->dim(1) == 0 || images->dim(2) == 0) throw invalid("input image must be of non-zero size");
  if (images->dim(3) == 0) throw invalid("image must have at least one channel");
}

TAPEFLOW_ATTRS(ResizeAttrs, align_corners, half_pixel_centers);

void check_flags(const ResizeAttrs& attrs) {
  if (attrs.align_corners.b() && attrs.half_pixel_centers.b())
    throw invalid("If half_pixel_centers is True, align_corners must be False.");
}

float scale_of(int64_t size, int64_t out, bool align_corners) {
  if (align_corners && out > 1) return static_cast<float>(size - 1) / static_cast<float>(out - 1);
  return static_cast<float>(size) / static_cast<float>(out);
}

// Two neighbours of a place, and the weight of the second.
struct Pair {
  int64_t low, high;
  float part;
};

std::vector<Pair> bilinear_places(int64_t size, int64_t out, const ResizeAttrs& attrs) {
  const bool align_corners = attrs.align_corners.b(), half_pixel_centers = attrs.half_pixel_centers.b();
  const float scale = scale_of(size, out, align_corners);
  std::vector<Pair> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const auto f = static_cast<float>(i);
    const float at = half_pixel_centers ? (f + 0.5f) * scale - 0.5f : f * scale;
    const float low = std::floor(at);
    const auto last = static_cast<float>(size - 1);
    places[static_cast<size_t>(i)] = {static_cast<int64_t>(std::clamp(low, 0.0f, last)),
                                      static_cast<int64_t>(std::clamp(std::ceil(at), 0.0f, last)), at - low};
  }
  return places;
}

std::vector<int64_t> nearest_places(int64_t size, int64_t out, const ResizeAttrs& attrs) {
  const bool align_corners = attrs.align_corners.b(), half_pixel_centers = attrs.half_pixel_centers.b();
  const float scale = scale_of(size, out, align_corners);
  std::vector<int64_t> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const auto f = static_cast<float>(i);
    float at = half_pixel_centers ? (f + 0.5f) * scale : f * scale;
    if (align_corners) at += 0.5f;  // halves are rounded away from zero
    places[static_cast<size_t>(i)] = static_cast<int64_t>(std::clamp(std::floor(at), 0.0f, static_cast<float>(size - 1)));
  }
  return places;
}

template <typename T> bool resize_bilinear(KernelCall& c, const ResizeAttrs& attrs) {
  const Tensor* images = c.in[0];
  int64_t height, width;
  check(images, c.in[1], &height, &width);
  check_flags(attrs);
  const Images in = images_of(images);
  const int64_t dims[4] = {in.batch, height, width, in.channels};
  Tensor* out = c.out[0] = new_tensor(DType::kFloat32, 4, dims);
  if (out->size() == 0) return true;
  const auto rows = bilinear_places(in.height, height, attrs), columns = bilinear_places(in.width, width, attrs);
  const T* x = images->as<T>();
  float* y = out->as<float>();
  const int64_t n = in.channels, line = in.width * n;
  ReleaseGil unlock(out->size());
  parallel_for(in.batch * height, static_cast<double>(width * n), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const Pair& row = rows[static_cast<size_t>(k % height)];
      const T *top = x + (k / height * in.height + row.low) * line, *bottom = x + (k / height * in.height + row.high) * line;
      float* to = y + k * width * n;
      const float down = row.part, up = 1.0f - down;
      for (const Pair& column : columns) {
        const T *a = top + column.low * n, *b = top + column.high * n;
        const T *d = bottom + column.low * n, *e = bottom + column.high * n;
        float* __restrict pixel = to;
        const float right = column.part, left = 1.0f - right;
        for (int64_t j = 0; j < n; ++j) {
          const float above = static_cast<float>(a[j]) * left + static_cast<float>(b[j]) * right;
          const float below = static_cast<float>(d[j]) * left + static_cast<float>(e[j]) * right;
          pixel[j] = above * up + below * down;
        }
        to += n;
      }
    }
  });
  return true;
}

bool resize_bilinear_grad(KernelCall& c, const ResizeAttrs& attrs) {
  const Tensor *grads = c.in[0], *original = c.in[1];
  if (original->dtype != DType::kFloat32 || grads->rank() != 4 || original->rank() != 4) return false;
  const Images g = images_of(grads), in = images_of(original);
  // The Python kernel says what is wrong.
  if (g.batch != in.batch || g.channels != in.channels || g.height == 0 || g.width == 0 || in.height == 0 || in.width == 0)
    return false;
  Tensor* out = c.out[0] = new_tensor(DType::kFloat32, 4, original->shape->dims);
  std::memset(out->data, 0, out->bytes());
  if (out->size() == 0) return true;
  const auto rows = bilinear_places(in.height, g.height, attrs), columns = bilinear_places(in.width, g.width, attrs);
  const float* dy = grads->as<float>();
  float* dx = out->as<float>();
  const int64_t n = in.channels, line = in.width * n;
  ReleaseGil unlock(grads->size() * 2);
  parallel_for(in.batch, static_cast<double>(g.height * g.width * n * 2), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t i = 0; i < g.height; ++i) {
        const Pair& row = rows[static_cast<size_t>(i)];
        float *top = dx + (b * in.height + row.low) * line, *bottom = dx + (b * in.height + row.high) * line;
        const float* from = dy + (b * g.height + i) * g.width * n;
        for (const Pair& column : columns) {
          const float w[4] = {(1 - row.part) * (1 - column.part), (1 - row.part) * column.part,
                              row.part * (1 - column.part), row.part * column.part};
          float* to[4] = {top + column.low * n, top + column.high * n, bottom + column.low * n, bottom + column.high * n};
          for (int k = 0; k < 4; ++k) {
            for (int64_t j = 0; j < n; ++j) to[k][j] += from[j] * w[k];
          }
          from += n;
        }
      }
    }
  });
  return true;
}

// Pixels of `units` numbers each.
template <typename Unit> void copy_pixels(const Unit* x, Unit* y, const Images& in, int64_t units, const std::vector<int64_t>& rows,
                                          const std::vector<int64_t>& columns) {
  const auto height = static_cast<int64_t>(rows.size()), width = static_cast<int64_t>(columns.size());
  parallel_for(in.batch * height, static_cast<double>(width * units), [&](int64_t begin, int64_t end) {
    const Unit* before = nullptr;
    for (int64_t k = begin; k < end; ++k) {
      const Unit* line = x + (k / height * in.height + rows[static_cast<size_t>(k % height)]) * in.width * units;
      Unit* __restrict to = y + k * width * units;
      if (line == before) {  // the line above, once more
        std::memcpy(to, to - width * units, static_cast<size_t>(width * units) * sizeof(Unit));
        continue;
      }
      before = line;
      for (const int64_t column : columns) {
        const Unit* pixel = line + column * units;
        for (int64_t j = 0; j < units; ++j) to[j] = pixel[j];
        to += units;
      }
    }
  });
}

bool resize_nearest(KernelCall& c, const ResizeAttrs& attrs) {
  const Tensor* images = c.in[0];
  int64_t height, width;
  check(images, c.in[1], &height, &width);
  check_flags(attrs);
  const Images in = images_of(images);
  const int64_t dims[4] = {in.batch, height, width, in.channels};
  Tensor* out = c.out[0] = new_tensor(images->dtype, 4, dims);
  if (out->size() == 0) return true;
  const auto rows = nearest_places(in.height, height, attrs), columns = nearest_places(in.width, width, attrs);
  ReleaseGil unlock(out->size() / 2);
  switch (item_size(images->dtype)) {
    case 1: copy_pixels(images->as<uint8_t>(), out->as<uint8_t>(), in, in.channels, rows, columns); break;
    case 2: copy_pixels(images->as<uint16_t>(), out->as<uint16_t>(), in, in.channels, rows, columns); break;
    case 4: copy_pixels(images->as<uint32_t>(), out->as<uint32_t>(), in, in.channels, rows, columns); break;
    default: copy_pixels(images->as<uint64_t>(), out->as<uint64_t>(), in, in.channels, rows, columns); break;
  }
  return true;
}

bool resize_nearest_grad(KernelCall& c, const ResizeAttrs& attrs) {
  const Tensor* grads = c.in[0];
  int64_t height, width;
  check(grads, c.in[1], &height, &width);
  const Images g = images_of(grads);
  const int64_t dims[4] = {g.batch, height, width, g.channels};
  Tensor* out = c.out[0] = new_tensor(DType::kFloat32, 4, dims);
  std::memset(out->data, 0, out->bytes());
  if (out->size() == 0) return true;
  const auto rows = nearest_places(height, g.height, attrs), columns = nearest_places(width, g.width, attrs);
  const float* dy = grads->as<float>();
  float* dx = out->as<float>();
  const int64_t n = g.channels;
  ReleaseGil unlock(grads->size());
  parallel_for(g.batch, static_cast<double>(g.height * g.width * n), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t i = 0; i < g.height; ++i) {
        const float* from = dy + (b * g.height + i) * g.width * n;
        float* line = dx + (b * height + rows[static_cast<size_t>(i)]) * width * n;
        for (const int64_t column : columns) {
          float* to = line + column * n;
          for (int64_t j = 0; j < n; ++j) to[j] += from[j];
          from += n;
        }
      }
    }
  });
  return true;
}

}  // namespace

void register_resize() {
  register_kernel("ResizeBilinear", {DType::kFloat32}, named<resize_bilinear<float>>);
  register_kernel("ResizeBilinear", {DType::kUInt8}, named<resize_bilinear<uint8_t>>);
  register_kernel("ResizeBilinearGrad", {DType::kFloat32}, named<resize_bilinear_grad>);
  register_kernel("ResizeNearestNeighbor",
                  {DType::kFloat32, DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kInt32, DType::kInt64,
                   DType::kFloat16, DType::kBFloat16, DType::kFloat64},
                  named<resize_nearest>);
  register_kernel("ResizeNearestNeighborGrad", {DType::kFloat32}, named<resize_nearest_grad>);
}

}  // namespace tapeflow
