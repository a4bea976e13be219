#include "kernels/strided.h"

#include <algorithm>
#include <cstring>

#include "threads.h"

namespace tapeflow {

const std::initializer_list<DType> kPlainDTypes = {
    DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUInt8, DType::kInt16, DType::kInt8,
    DType::kComplex64, DType::kInt64, DType::kBool, DType::kQInt8, DType::kQUInt8, DType::kQInt32,
    DType::kBFloat16, DType::kQInt16, DType::kQUInt16, DType::kUInt16, DType::kComplex128,
    DType::kFloat16, DType::kUInt32, DType::kUInt64, DType::kFloat8E5M2, DType::kFloat8E4M3FN,
    DType::kInt4, DType::kUInt4};
const std::initializer_list<DType> kObjectDTypes = {DType::kString, DType::kResource, DType::kVariant};

namespace {

struct Axis { int64_t n, from, to; };  // length, stride in the source, stride in the destination

// Drops axes of length 1 and merges neighbours that step through memory as one. Returns their number.
int coalesce(int rank, const int64_t* dims, const int64_t* from, const int64_t* to, Axis* axes) {
  int count = 0;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 1) continue;
    Axis next{dims[i], from[i], to[i]};
    if (count > 0) {
      Axis& last = axes[count - 1];
      if (last.from == next.from * next.n && last.to == next.to * next.n) {
        last = {last.n * next.n, next.from, next.to};
        continue;
      }
    }
    axes[count++] = next;
  }
  return count;
}

// f(source offset, destination offset) for items [begin, end) of the index space of axes.
template <typename F>
void walk(const Axis* axes, int count, int64_t begin, int64_t end, F&& f) {
  if (begin >= end) return;
  int64_t index[2 * kMaxRank];
  int64_t from = 0, to = 0;
  int64_t rest = begin;
  for (int k = count - 1; k >= 0; --k) {
    index[k] = rest % axes[k].n;
    rest /= axes[k].n;
    from += index[k] * axes[k].from;
    to += index[k] * axes[k].to;
  }
  for (int64_t i = begin;;) {
    f(from, to);
    if (++i == end) return;
    int k = count - 1;
    while (++index[k] == axes[k].n) {
      from -= (axes[k].n - 1) * axes[k].from;
      to -= (axes[k].n - 1) * axes[k].to;
      index[k--] = 0;
    }
    from += axes[k].from;
    to += axes[k].to;
  }
}

int64_t product(const Axis* axes, int count) {
  int64_t n = 1;
  for (int i = 0; i < count; ++i) n *= axes[i].n;
  return n;
}

// dst[i * to + j] = src[i + j * from] for i < n, j < m: tile by tile, so that both sides stay in cache.
template <typename T>
void transpose_tile(T* dst, int64_t to, const T* src, int64_t from, int64_t n, int64_t m) {
  constexpr int64_t kTile = 32;
  for (int64_t i0 = 0; i0 < n; i0 += kTile) {
    const int64_t i1 = std::min(n, i0 + kTile);
    for (int64_t j0 = 0; j0 < m; j0 += kTile) {
      const int64_t j1 = std::min(m, j0 + kTile);
      for (int64_t i = i0; i < i1; ++i) {
        T* d = dst + i * to;
        const T* s = src + i;
        for (int64_t j = j0; j < j1; ++j) d[j] = s[j * from];
      }
    }
  }
}

// The same with each tile in an array on its way, so that both sides are gone through along memory: for what no cache
// holds, and where rows of the source are a power of two apart and push each other out of it.
template <typename T>
void transpose_through_tiles(T* dst, int64_t to, const T* src, int64_t from, int64_t n, int64_t m) {
  constexpr int64_t kTile = 64, kLine = kTile + 64 / sizeof(T);
  alignas(64) T tile[kTile * kLine];
  for (int64_t i0 = 0; i0 < n; i0 += kTile) {
    const int64_t rows = std::min(kTile, n - i0);
    for (int64_t j0 = 0; j0 < m; j0 += kTile) {
      const int64_t columns = std::min(kTile, m - j0);
      for (int64_t j = 0; j < columns; ++j) {
        const T* s = src + i0 + (j0 + j) * from;
        for (int64_t i = 0; i < rows; ++i) tile[i * kLine + j] = s[i];
      }
      for (int64_t i = 0; i < rows; ++i) std::copy_n(tile + i * kLine, columns, dst + (i0 + i) * to + j0);
    }
  }
}

template <typename T>
void copy_typed(T* dst, const T* src, const Axis* axes, int count, int64_t total) {
  const Axis inner = axes[count - 1];
  if (inner.to == 1 && inner.from != 1) {
    // Where another axis is contiguous in the source this is a transpose.
    int across = -1;
    for (int k = 0; k < count - 1; ++k) if (axes[k].from == 1) across = k;
    if (across >= 0 && inner.from > 1) {
      Axis outer[2 * kMaxRank];
      int n_outer = 0;
      for (int k = 0; k < count - 1; ++k) if (k != across) outer[n_outer++] = axes[k];
      const Axis rows = axes[across];
      const int64_t planes = product(outer, n_outer), size = sizeof(T);
      const bool far = total * size > (8 << 20) || inner.from * size % 2048 == 0;
      const bool through = far && std::min(rows.n, inner.n) >= 16;
      const auto transpose = [&](T* d, const T* s, int64_t n) {
        if (through) transpose_through_tiles(d, rows.to, s, inner.from, n, inner.n);
        else transpose_tile(d, rows.to, s, inner.from, n, inner.n);
      };
      ReleaseGil unlock(total);
      if (planes > 1) {
        parallel_for(planes, static_cast<double>(total) / planes, [&](int64_t begin, int64_t end) {
          walk(outer, n_outer, begin, end, [&](int64_t from, int64_t to) {
            transpose(dst + to, src + from, rows.n);
          });
        });
      } else {
        parallel_for(rows.n, static_cast<double>(inner.n), [&](int64_t begin, int64_t end) {
          transpose(dst + begin * rows.to, src + begin, end - begin);
        });
      }
      return;
    }
  }
  const int64_t lines = product(axes, count - 1);
  const double line_ns = inner.from == 1 && inner.to == 1 ? 4 + inner.n * sizeof(T) * 0.05
                                                          : 4 + inner.n * 0.7;
  ReleaseGil unlock(static_cast<int64_t>(lines * line_ns));
  parallel_for(lines, line_ns, [&](int64_t begin, int64_t end) {
    walk(axes, count - 1, begin, end, [&](int64_t from, int64_t to) {
      T* d = dst + to;
      const T* s = src + from;
      if (inner.from == 1 && inner.to == 1) {
        if (inner.n < 8) {
          for (int64_t i = 0; i < inner.n; ++i) d[i] = s[i];
        } else {
          std::memcpy(d, s, inner.n * sizeof(T));
        }
      } else if (inner.to == 1 && inner.from == 0) {
        std::fill(d, d + inner.n, *s);
      } else if (inner.to == 1) {
        for (int64_t i = 0; i < inner.n; ++i) d[i] = s[i * inner.from];
      } else {
        for (int64_t i = 0; i < inner.n; ++i) d[i * inner.to] = s[i * inner.from];
      }
    });
  });
}

}  // namespace

void strided_copy(char* dst, const int64_t* dst_strides, const char* src, const int64_t* src_strides,
                  int rank, const int64_t* dims, int item) {
  Axis axes[2 * kMaxRank];
  for (int i = 0; i < rank; ++i) if (dims[i] == 0) return;
  int count = coalesce(rank, dims, src_strides, dst_strides, axes);
  if (count == 0) axes[count++] = {1, 1, 1};
  const int64_t total = product(axes, count);
  if (count == 1 && axes[0].from == 1 && axes[0].to == 1) {
    const int64_t bytes = total * item;
    if (bytes < 200'000) {
      std::memcpy(dst, src, bytes);
    } else {
      ReleaseGil unlock(bytes / 10);
      parallel_for(bytes, 0.05, [&](int64_t b, int64_t e) { std::memcpy(dst + b, src + b, e - b); });
    }
    return;
  }
  with_item_type(item, [&](auto t) {
    using T = decltype(t);
    copy_typed(reinterpret_cast<T*>(dst), reinterpret_cast<const T*>(src), axes, count, total);
  });
}

void fill_items(char* dst, int64_t n, const void* value, int item) {
  const char* v = static_cast<const char*>(value);
  ReleaseGil unlock(n * item / 10);
  parallel_for(n, item * 0.05, [&](int64_t begin, int64_t end) {
    if (std::all_of(v, v + item, [](char c) { return c == 0; })) {
      std::memset(dst + begin * item, 0, (end - begin) * item);
      return;
    }
    with_item_type(item, [&](auto t) {
      std::memcpy(&t, v, sizeof t);
      auto* d = reinterpret_cast<decltype(t)*>(dst);
      std::fill(d + begin, d + end, t);
    });
  });
}

}  // namespace tapeflow
