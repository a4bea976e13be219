// The gradient of a 2-D convolution's filter, channels last, where vectors of AVX2 are the widest there are: oneDNN's
// kernel reaches half of what the multipliers of such a processor can do on this layout, tiles of registers 0.8.
//
// A tile is some rows of input channels by two vectors of output channels, for one tap of the filter; its sums stay in
// registers while the pixels of a block go by. A block's pixels of one panel of output channels are packed, so that
// all the tiles of the panel read them from the first-level cache.
#include "kernels/convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/registry.h"
#include "product.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

#if defined(__AVX2__) && !defined(__AVX512F__)

constexpr int kWide = kPanel<float>;
constexpr int64_t kBlockPixels = 384;

// Pixels beside each other in a row of the output, and where their windows' taps are in the input.
struct Run {
  const float* x;
  const float* dy;  // packed, kWide a pixel
  int64_t count;
};

// c[kRows, kWide] += sum over the pixels of x[pixel, kRows] dy[pixel, kWide]
template <int kRows>
void accumulate(const Run* runs, int64_t n_runs, int64_t x_step, float* c, int64_t c_stride, int width) {
  constexpr int n = kLanes<float>;
  Vec<float> low[kRows] = {}, high[kRows] = {};
  for (const Run* run = runs; run < runs + n_runs; ++run) {
    const float *x = run->x, *dy = run->dy;
    for (int64_t i = 0; i < run->count; ++i, x += x_step, dy += kWide) {
      const Vec<float> a = load(dy), b = load(dy + n);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Vec<float> value = broadcast_lane(x[r]);
        low[r] += value * a;
        high[r] += value * b;
      }
    }
  }
  const Lanes<float> first(std::min(width, n)), second(std::max(width - n, 1));
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r, c += c_stride) {
    first.store(c, first.load(c) + low[r]);
    if (width > n) second.store(c + n, second.load(c + n) + high[r]);
  }
}

using Accumulate = void (*)(const Run*, int64_t, int64_t, float*, int64_t, int);
constexpr Accumulate kAccumulate[] = {accumulate<1>, accumulate<2>, accumulate<3>, accumulate<4>, accumulate<5>, accumulate<6>};

// The outputs along one axis whose windows have the tap inside the input.
struct Inside {
  int64_t from, to, first;  // first: where the tap of output `from` is
};
Inside inside(const Convolution& v, int axis, int64_t tap) {
  const int64_t shift = tap * v.dilation[axis] - v.pad_before[axis], stride = v.stride[axis];
  const int64_t from = shift < 0 ? (-shift + stride - 1) / stride : 0;
  const int64_t room = v.in[axis] - 1 - shift;
  const int64_t to = room < 0 ? 0 : std::min(v.out[axis], room / stride + 1);
  return {from, std::max(from, to), from * stride + shift};
}

class FilterGradient {
 public:
  FilterGradient(const Convolution& v, const float* x, const float* dy, float* dw)
      : v_(v), x_(x), dy_(dy), dw_(dw), rows_(std::max<int64_t>(1, kBlockPixels / v.out[1])),
        packed_(static_cast<size_t>(rows_ * v.out[1] * kWide) * sizeof(float)),
        runs_(static_cast<size_t>(rows_) * sizeof(Run)) {}

  // The pairs [from, to) of a panel and a tap.
  void run(int64_t from, int64_t to) {
    const int64_t taps = v_.filter[0] * v_.filter[1], lines = v_.batch * v_.out[0];
    for (int64_t line = 0; line < lines; line += rows_) {
      const int64_t end = std::min(lines, line + rows_);
      for (int64_t at = from; at < to;) {
        const int64_t panel = at / taps, next = std::min(to, (panel + 1) * taps);
        pack(line, end, panel);
        for (; at < next; ++at) one_tap(line, end, panel, at % taps);
      }
    }
  }

 private:
  int width(int64_t panel) const { return static_cast<int>(std::min<int64_t>(kWide, v_.out_depth - panel * kWide)); }

  void pack(int64_t line, int64_t end, int64_t panel) {
    const int64_t pixels = (end - line) * v_.out[1];
    pack_b(pixels, width(panel), Matrix<float>{dy_ + line * v_.out[1] * v_.out_depth + panel * kWide, v_.out_depth, 1},
           packed_.as<float>());
  }

  void one_tap(int64_t line, int64_t end, int64_t panel, int64_t tap) {
    const int64_t depth = v_.in_depth, step = v_.stride[1] * depth;
    const Inside rows = inside(v_, 0, tap / v_.filter[1]), columns = inside(v_, 1, tap % v_.filter[1]);
    Run* const runs = runs_.as<Run>();
    int64_t n = 0;
    for (int64_t i = line; i < end && columns.to > columns.from; ++i) {
      const int64_t image = i / v_.out[0], row = i % v_.out[0];
      if (row < rows.from || row >= rows.to) continue;
      const int64_t y = rows.first + (row - rows.from) * v_.stride[0];
      const float* x = x_ + ((image * v_.in[0] + y) * v_.in[1] + columns.first) * depth;
      const float* dy = packed_.as<float>() + ((i - line) * v_.out[1] + columns.from) * kWide;
      const int64_t count = columns.to - columns.from;
      if (n > 0 && runs[n - 1].x + runs[n - 1].count * step == x && runs[n - 1].dy + runs[n - 1].count * kWide == dy)
        runs[n - 1].count += count;
      else
        runs[n++] = {x, dy, count};
    }
    float* c = dw_ + tap * depth * v_.out_depth + panel * kWide;
    int64_t tiles = (depth + kTileRows<float> - 1) / kTileRows<float>;
    for (int64_t channel = 0; tiles > 0; --tiles) {
      const int64_t high = (depth - channel + tiles - 1) / tiles;
      kAccumulate[high - 1](runs, n, step, c + channel * v_.out_depth, v_.out_depth, width(panel));
      for (int64_t i = 0; i < n; ++i) runs[i].x += high;
      channel += high;
    }
  }

  const Convolution& v_;
  const float *x_, *dy_;
  float* dw_;
  int64_t rows_;
  Scratch packed_, runs_;
};

bool filter_gradient(const Convolution& v, const float* x, const float* dy, float* dw) {
  const int64_t taps = v.filter[0] * v.filter[1];
  if (v.windows != 2 || v.channels_first || v.groups != 1 || v.in_depth < 3 || v.out_depth < kWide) return false;
  if (taps == 1 && v.stride[1] > 1) return false;  // the pixels in use are far apart, and used once
  const int64_t panels = (v.out_depth + kWide - 1) / kWide;
  std::memset(dw, 0, static_cast<size_t>(taps * v.in_depth * v.out_depth) * sizeof(float));
  const double madds = static_cast<double>(v.batch * v.out[0] * v.out[1]) * static_cast<double>(v.in_depth) * kWide;
  parallel_or_throw(panels * taps, madds * 0.014, [&](int64_t from, int64_t to) {
    FilterGradient(v, x, dy, dw).run(from, to);
  });
  return true;
}

#endif

}  // namespace

void register_convolution() {
#if defined(__AVX2__) && !defined(__AVX512F__)
  own_filter_gradient = filter_gradient;
#endif
}

}  // namespace tapeflow::TAPEFLOW_ISA
