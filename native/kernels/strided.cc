#include "kernels/strided.h"

#include <algorithm>
#include <cstring>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

// Rows in turn from the first half and from the second, lane by lane; log2(n) times this transposes n rows of n lanes.
template <typename V, int n, int... lane>
inline void interleave_halves(V (&rows)[n], std::integer_sequence<int, lane...>) {
  V next[n];
#pragma GCC unroll 8
  for (int i = 0; i < n / 2; ++i) {
    const V x = rows[i], y = rows[i + n / 2];
    next[2 * i] = __builtin_shufflevector(x, y, (lane % 2 * n + lane / 2)...);
    next[2 * i + 1] = __builtin_shufflevector(x, y, (lane % 2 * n + (n + lane) / 2)...);
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) rows[i] = next[i];
}
template <typename V, int n> inline void transpose_lanes(V (&rows)[n]) {
#pragma GCC unroll 4
  for (int done = 1; done < n; done *= 2) interleave_halves(rows, std::make_integer_sequence<int, n>{});
}

// dst[i * to + j] = src[i + j * from] for i < n, j < m, square by square of vectors of 16 bytes.
template <typename T>
void transpose_tile(T* dst, int64_t to, const T* src, int64_t from, int64_t n, int64_t m) {
  int64_t rows = 0, columns = 0;  // those of whole squares
  if constexpr (sizeof(T) <= 8) {
    constexpr int kSide = 16 / sizeof(T);
    typedef T V __attribute__((vector_size(16)));
    rows = n - n % kSide;
    columns = m - m % kSide;
    for (int64_t j = 0; j < columns; j += kSide) {
      for (int64_t i = 0; i < rows; i += kSide) {
        V square[kSide];
        for (int k = 0; k < kSide; ++k) std::memcpy(&square[k], src + i + (j + k) * from, sizeof(V));
        transpose_lanes(square);
        for (int k = 0; k < kSide; ++k) std::memcpy(dst + (i + k) * to + j, &square[k], sizeof(V));
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    T* d = dst + i * to;
    const T* s = src + i;
    for (int64_t j = i < rows ? columns : 0; j < m; ++j) d[j] = s[j * from];
  }
}

// The same where m is known, as the number of an image's channels.
template <int m, typename T>
void transpose_columns(T* dst, int64_t to, const T* src, int64_t from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < m; ++j) dst[i * to + j] = src[i + j * from];
  }
}

// The same, a part at a time that stays in cache with both its sides.
template <typename T>
void transpose_by_tiles(T* dst, int64_t to, const T* src, int64_t from, int64_t n, int64_t m) {
  constexpr int64_t kTile = 32, kThin = 8;
  switch (m) {
    case 2: return transpose_columns<2>(dst, to, src, from, n);
    case 3: return transpose_columns<3>(dst, to, src, from, n);
    case 4: return transpose_columns<4>(dst, to, src, from, n);
  }
  if (std::min(n, m) < kThin) return transpose_tile(dst, to, src, from, n, m);
  for (int64_t i = 0; i < n; i += kTile) {
    for (int64_t j = 0; j < m; j += kTile) {
      transpose_tile(dst + i * to + j, to, src + i + j * from, from, std::min(kTile, n - i), std::min(kTile, m - j));
    }
  }
}

// Copies without reading what was there into the caches, where the processor can and both are aligned to 16 bytes.
inline void stream_bytes(void* dst, const void* src, int64_t bytes) {
#if defined(__SSE2__)
  auto* d = static_cast<__m128i*>(dst);
  auto* s = static_cast<const __m128i*>(src);
  for (int64_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(d + i, _mm_load_si128(s + i));
#else
  std::memcpy(dst, src, bytes);
#endif
}
inline void end_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// The same with each tile in an array on its way, so that both sides are gone through along memory: for what no cache
// holds, and where rows of the source are a power of two apart and push each other out of it. A large result is written
// past the caches.
template <typename T>
void transpose_through_tiles(T* dst, int64_t to, const T* src, int64_t from, int64_t n, int64_t m, bool large) {
  constexpr int64_t kTile = sizeof(T) > 4 ? 32 : 64, kLine = kTile + 64 / sizeof(T), kVector = 16;
  alignas(64) T tile[kTile * kLine];
  const bool aligned = reinterpret_cast<uintptr_t>(dst) % kVector == 0 && to * sizeof(T) % kVector == 0;
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t rows = std::min(kTile, n - i);
    for (int64_t j = 0; j < m; j += kTile) {
      const int64_t columns = std::min(kTile, m - j), bytes = columns * sizeof(T);
      if (j + 2 * kTile <= m) {
        for (int64_t k = 0; k < kTile; ++k) {
          const T* next = src + i + (j + kTile + k) * from;
          for (int64_t line = 0; line < rows; line += 64 / sizeof(T)) __builtin_prefetch(next + line);
        }
      }
      transpose_tile(tile, kLine, src + i + j * from, from, rows, columns);
      for (int64_t k = 0; k < rows; ++k) {
        T* d = dst + (i + k) * to + j;
        if (large && aligned && bytes % kVector == 0) stream_bytes(d, tile + k * kLine, bytes);
        else std::memcpy(d, tile + k * kLine, bytes);
      }
    }
  }
  if (large) end_streams();
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
      const bool large = total * size > (8 << 20), far = large || inner.from * size % 2048 == 0;
      const bool through = far && std::min(rows.n, inner.n) >= 16;
      const auto transpose = [&](T* d, const T* s, int64_t n, int64_t m) {
        if (through) transpose_through_tiles(d, rows.to, s, inner.from, n, m, large);
        else transpose_by_tiles(d, rows.to, s, inner.from, n, m);
      };
      ReleaseGil unlock(total);
      if (planes > 1) {
        parallel_for(planes, static_cast<double>(total) / planes, [&](int64_t begin, int64_t end) {
          walk(outer, n_outer, begin, end, [&](int64_t from, int64_t to) {
            transpose(dst + to, src + from, rows.n, inner.n);
          });
        });
      } else if (rows.n >= inner.n) {
        parallel_for(rows.n, static_cast<double>(inner.n), [&](int64_t begin, int64_t end) {
          transpose(dst + begin * rows.to, src + begin, end - begin, inner.n);
        });
      } else {
        parallel_for(inner.n, static_cast<double>(rows.n), [&](int64_t begin, int64_t end) {
          transpose(dst + begin, src + begin * inner.from, rows.n, end - begin);
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
