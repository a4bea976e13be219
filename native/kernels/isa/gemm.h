// C = A B for matrices with any strides along one axis (so that transposes cost nothing to ask
// for).
//
// The register tile: rows of A are broadcast against vectors of B's rows, sums stay in registers.
// Small products run it straight on the operands, without a start cost; only a B whose rows are not
// contiguous is packed, panel by panel. Large ones pack both operands in blocks that fit the
// caches.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "simd.h"
#include "threads.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// An operand: element (i, j) is at data[i * rows + j * cols].
template <typename T> struct Matrix {
  const T* data;
  int64_t rows, cols;  // strides
  Matrix at(int64_t i, int64_t j) const { return {data + i * rows + j * cols, rows, cols}; }
  Matrix transposed() const { return {data, cols, rows}; }
};

// Rows of the register tile that is two vectors wide: as many as the registers hold.
#if defined(__AVX512F__)
template <typename T> constexpr int kTileRows = std::is_floating_point_v<T> ? 12 : 4;
#else
template <typename T> constexpr int kTileRows = std::is_floating_point_v<T> ? 6 : 4;
#endif
template <typename T> constexpr int kPanel = 2 * kLanes<T>;  // columns of a packed panel of B

// c[rows, vectors * lanes] (+)= a[rows, k] b[k, ...]; `tail` lanes of the last vector are used. Of a
// padded b all lanes may be read.
template <typename T, int kRows, int kVectors, bool kColumnMajorA, bool kPaddedB = false>
void tile(int64_t k, Matrix<T> a, const T* b, int64_t b_stride, T* c, int64_t c_stride, int tail,
          bool add) {
  const Lanes<T> last(tail);
  Vec<T> sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      sum[i][v] = !add                ? Vec<T>{}
                  : v == kVectors - 1 ? last.load(c + i * c_stride + v * kLanes<T>)
                                      : load(c + i * c_stride + v * kLanes<T>);
  const int64_t a_rows = kColumnMajorA ? 1 : a.rows;
  const T* pa = a.data;
  for (int64_t p = 0; p < k; ++p, pa += a.cols, b += b_stride) {
    Vec<T> bv[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      bv[v] = v == kVectors - 1 && !kPaddedB ? last.load(b + v * kLanes<T>) : load(b + v * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vec<T> x = broadcast_lane(pa[i * a_rows]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[i][v] += x * bv[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      T* to = c + i * c_stride + v * kLanes<T>;
      if (v == kVectors - 1) last.store(to, sum[i][v]);
      else store(to, sum[i][v]);
    }
}

template <typename T>
using Tile = void (*)(int64_t, Matrix<T>, const T*, int64_t, T*, int64_t, int, bool);

template <typename T, bool kColumnMajorA, int kVectors, bool kPaddedB = false, int... row>
constexpr Tile<T> tile_of(int rows, std::integer_sequence<int, row...>) {
  constexpr Tile<T> tiles[] = {tile<T, row + 1, kVectors, kColumnMajorA, kPaddedB>...};
  return tiles[rows - 1];
}

template <typename T> Tile<T> choose_tile(int rows, int vectors, bool column_major_a) {
  using All = std::make_integer_sequence<int, kTileRows<T>>;
  if (vectors == 1)
    return column_major_a ? tile_of<T, true, 1>(rows, All{}) : tile_of<T, false, 1>(rows, All{});
  return column_major_a ? tile_of<T, true, 2>(rows, All{}) : tile_of<T, false, 2>(rows, All{});
}

// The tile for operands that are both packed.
template <typename T> Tile<T> choose_packed_tile(int rows, int vectors) {
  using All = std::make_integer_sequence<int, kTileRows<T>>;
  return vectors == 1 ? tile_of<T, true, 1, true>(rows, All{}) : tile_of<T, true, 2, true>(rows, All{});
}

// Packs b[0..k) x [0..width), width <= kPanel, as k rows of kPanel; columns beyond width become 0.
template <typename T> void pack_b(int64_t k, int width, Matrix<T> b, T* to) {
  constexpr int n = kLanes<T>, panel = kPanel<T>;
  if (b.cols == 1) {
    if (width == panel) {
      for (int64_t p = 0; p < k; ++p) {
        store(to + p * panel, load(b.data + p * b.rows));
        store(to + p * panel + n, load(b.data + p * b.rows + n));
      }
      return;
    }
    for (int64_t p = 0; p < k; ++p)
      for (int j = 0; j < panel; ++j) to[p * panel + j] = j < width ? b.data[p * b.rows + j] : T{};
    return;
  }
  for (int half = 0; half < panel; half += n) {
    const int filled = std::min(std::max(width - half, 0), n);
    int64_t p = 0;
    if (b.rows == 1 && filled > 0) {
      for (; p < k; p += n) {
        Vec<T> block[n];
        const int deep = static_cast<int>(std::min<int64_t>(n, k - p));
        if (deep == n && filled == n) {
#pragma GCC unroll 16
          for (int j = 0; j < n; ++j) block[j] = load(b.data + (half + j) * b.cols + p);
        } else {
          const Lanes<T> part(deep);
          for (int j = 0; j < n; ++j)
            block[j] = j < filled ? part.load(b.data + (half + j) * b.cols + p) : Vec<T>{};
        }
        transpose<T>(block);
        T* rows = to + p * panel + half;
        if (deep == n) {
#pragma GCC unroll 16
          for (int r = 0; r < n; ++r) store(rows + r * panel, block[r]);
        } else {
          for (int r = 0; r < deep; ++r) store(rows + r * panel, block[r]);
        }
      }
    }
    for (; p < k; ++p)
      for (int j = 0; j < n; ++j)
        to[p * panel + half + j] = j < filled ? b.data[p * b.rows + (half + j) * b.cols] : T{};
  }
}

// One panel of columns (at most kPanel): every row tile against it.
template <typename T>
void multiply_panel(int64_t m, int width, int64_t k, Matrix<T> a, const T* b, int64_t b_stride,
                    T* c, int64_t c_stride) {
  constexpr int n = kLanes<T>;
  const int vectors = width > n ? 2 : 1;
  const int tail = width - (vectors - 1) * n;
  const bool column_major = a.rows == 1;
  // Tiles of even heights: 13 rows run as 7 + 6, not as 12 + 1.
  int64_t tiles = (m + kTileRows<T> - 1) / kTileRows<T>;
  for (int64_t i = 0; tiles > 0; --tiles) {
    const int rows = static_cast<int>((m - i + tiles - 1) / tiles);
    choose_tile<T>(rows, vectors, column_major)(k, a.at(i, 0), b, b_stride, c + i * c_stride,
                                                c_stride, tail, false);
    i += rows;
  }
}

// c[0..n) += a[0..kRows) b[kRows, n], n being a multiple of the lanes.
template <typename T, int kRows> void add_rows(int64_t n, Matrix<T> a, Matrix<T> b, T* c) {
  Vec<T> x[kRows];
  for (int r = 0; r < kRows; ++r) x[r] = broadcast_lane(a.data[r * a.cols]);
  for (int64_t j = 0; j < n; j += kLanes<T>) {
    Vec<T> sum = load(c + j);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sum += x[r] * load(b.data + r * b.rows + j);
    store(c + j, sum);
  }
}

// c[1, n] = a[1, k] b[k, n], B's rows contiguous. Wide rows are read from their beginning to their end, a few at a time,
// which is how processors fetch ahead; the sums of a part of c wait in the first-level cache.
template <typename T> void multiply_row(int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c) {
  constexpr int64_t part = 8192 / sizeof(T), eight = 8 * kLanes<T>;
  const int64_t wide = n < 3 * eight ? 0 : n / kLanes<T> * kLanes<T>;
  for (int64_t j = 0; j < wide; j += part) {
    const int64_t width = std::min(part, wide - j);
    std::memset(c + j, 0, static_cast<size_t>(width) * sizeof(T));
    int64_t p = 0;
    for (; p + 8 <= k; p += 8) add_rows<T, 8>(width, a.at(0, p), b.at(p, j), c + j);
    if (p + 4 <= k) {
      add_rows<T, 4>(width, a.at(0, p), b.at(p, j), c + j);
      p += 4;
    }
    for (; p < k; ++p) add_rows<T, 1>(width, a.at(0, p), b.at(p, j), c + j);
  }
  a.rows = 1;
  int64_t j = wide;
  for (; j + eight <= n; j += eight) tile<T, 1, 8, true>(k, a, b.data + j, b.rows, c + j, n, kLanes<T>, false);
  for (; j < n; j += kPanel<T>) {
    const int width = static_cast<int>(std::min<int64_t>(kPanel<T>, n - j));
    multiply_panel(1, width, k, a, b.data + j, b.rows, c + j, n);
  }
}

// Few rows against a B whose columns are contiguous, as A's rows are: scalar products.
template <typename T>
void multiply_dots(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c,
                   int64_t c_stride) {
  constexpr int lanes = kLanes<T>;
  const int64_t whole = k / lanes * lanes;
  const int rest = static_cast<int>(k - whole);
  for (int64_t i = 0; i < m; ++i) {
    const T* x = a.data + i * a.rows;
    int64_t j = 0;
    auto dots = [&](auto count) {
      constexpr int columns = decltype(count)::value;
      Vec<T> sum[columns] = {};
      const T* y = b.data + j * b.cols;
      for (int64_t p = 0; p < whole; p += lanes) {
        const Vec<T> xv = load(x + p);
#pragma GCC unroll 4
        for (int q = 0; q < columns; ++q) sum[q] += xv * load(y + q * b.cols + p);
      }
      if (rest) {
        const Lanes<T> part(rest);
        const Vec<T> xv = part.load(x + whole);
#pragma GCC unroll 4
        for (int q = 0; q < columns; ++q) sum[q] += xv * part.load(y + q * b.cols + whole);
      }
      for (int q = 0; q < columns; ++q) c[i * c_stride + j + q] = sum_of_lanes<T>(sum[q]);
      j += columns;
    };
    while (j + 4 <= n) dots(std::integral_constant<int, 4>{});
    while (j < n) dots(std::integral_constant<int, 1>{});
  }
}

constexpr int64_t kPackedOnStack = 16 * 1024;  // bytes

template <typename T>
void multiply_small(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c,
                    int64_t c_stride) {
  const bool contiguous = b.cols == 1;
  if (m == 1 && contiguous) return multiply_row(n, k, a, b, c);
  if (!contiguous && b.rows == 1 && a.cols == 1 && m <= 2)
    return multiply_dots(m, n, k, a, b, c, c_stride);
  const size_t bytes = static_cast<size_t>(k) * kPanel<T> * sizeof(T);
  auto panels = [&](T* packed) {
    for (int64_t j = 0; j < n; j += kPanel<T>) {
      const int width = static_cast<int>(std::min<int64_t>(kPanel<T>, n - j));
      if (!packed) {
        multiply_panel(m, width, k, a, b.data + j, b.rows, c + j, c_stride);
      } else {
        pack_b(k, width, b.at(0, j), packed);
        multiply_panel(m, width, k, a, packed, kPanel<T>, c + j, c_stride);
      }
    }
  };
  if (contiguous) return panels(nullptr);
  if (bytes <= kPackedOnStack) {
    alignas(64) char stack[kPackedOnStack];
    return panels(reinterpret_cast<T*>(stack));
  }
  Scratch scratch(bytes);
  panels(scratch.as<T>());
}

// Packs a[0..kTileRows) x [0..k) as k columns, one after the other.
template <typename T> void pack_tile_rows(int64_t k, Matrix<T> a, T* to) {
  constexpr int high = kTileRows<T>, n = kLanes<T>;
  if (a.rows == 1) {
    for (int64_t p = 0; p < k; ++p) std::memcpy(to + p * high, a.data + p * a.cols, high * sizeof(T));
    return;
  }
  int64_t p = 0;
  if (a.cols == 1)
    for (; p + n <= k; p += n)
      for (int first = 0; first < high; first += n) {
        Vec<T> block[n];
        const int rows = std::min(n, high - first);
#pragma GCC unroll 16
        for (int r = 0; r < n; ++r) block[r] = r < rows ? load(a.data + (first + r) * a.rows + p) : Vec<T>{};
        transpose<T>(block);
#pragma GCC unroll 16
        for (int c = 0; c < n; ++c) std::memcpy(to + (p + c) * high + first, &block[c], static_cast<size_t>(rows) * sizeof(T));
      }
  for (; p < k; ++p)
    for (int r = 0; r < high; ++r) to[p * high + r] = a.data[r * a.rows + p * a.cols];
}

// Blocks of A (kBlockRows x kBlockDepth) stay in the second-level cache, panels of B in the first.
template <typename T>
constexpr int64_t kBlockDepth = 1024 / sizeof(T) * (kVectorBytes == 64 ? 2 : 1);
template <typename T> constexpr int64_t kBlockRows = kTileRows<T> * 16;
constexpr int64_t kBlockColumns = 2048;

// Memory that a thread packs its blocks into. It is kept, as large as the largest block yet: fresh pages would cost as
// much as a product of some hundred rows.
inline char* packing_space(size_t bytes) {
  static thread_local std::unique_ptr<Scratch> space;
  static thread_local size_t size = 0;
  if (bytes > size) {
    size = 0;
    space.reset();
    space = std::make_unique<Scratch>(bytes);
    size = bytes;
  }
  return space->as<char>();
}

template <typename T>
void multiply_blocked(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c,
                      int64_t c_stride) {
  constexpr int panel = kPanel<T>, high = kTileRows<T>;
  const int64_t depth = std::min(k, kBlockDepth<T>);
  const int64_t columns = std::min((n + panel - 1) / panel * panel, kBlockColumns);
  const int64_t block_rows = std::min((m + high - 1) / high * high, kBlockRows<T>);
  T* const pb = reinterpret_cast<T*>(packing_space(static_cast<size_t>(depth * (columns + block_rows)) * sizeof(T)));
  T* const pa = pb + depth * columns;
  for (int64_t j0 = 0; j0 < n; j0 += columns) {
    const int64_t nj = std::min(columns, n - j0);
    for (int64_t p0 = 0; p0 < k; p0 += depth) {
      const int64_t np = std::min(depth, k - p0);
      for (int64_t j = 0; j < nj; j += panel)
        pack_b(np, static_cast<int>(std::min<int64_t>(panel, nj - j)), b.at(p0, j0 + j),
               pb + j * np);
      for (int64_t i0 = 0; i0 < m; i0 += block_rows) {
        const int64_t ni = std::min(block_rows, m - i0);
        for (int64_t i = 0; i < ni; i += high) {
          const int rows = static_cast<int>(std::min<int64_t>(high, ni - i));
          const Matrix<T> from = a.at(i0 + i, p0);
          T* to = pa + i * np;
          if (rows == high) {
            pack_tile_rows(np, from, to);
            continue;
          }
          for (int64_t p = 0; p < np; ++p)
            for (int r = 0; r < rows; ++r)
              to[p * rows + r] = from.data[r * from.rows + p * from.cols];
        }
        for (int64_t j = 0; j < nj; j += panel) {
          const int width = static_cast<int>(std::min<int64_t>(panel, nj - j));
          const int vectors = width > kLanes<T> ? 2 : 1;
          for (int64_t i = 0; i < ni; i += high) {
            const int rows = static_cast<int>(std::min<int64_t>(high, ni - i));
            choose_packed_tile<T>(rows, vectors)(np, {pa + i * np, 1, rows}, pb + j * np, panel,
                                                 c + (i0 + i) * c_stride + j0 + j, c_stride,
                                                 width - (vectors - 1) * kLanes<T>, p0 > 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
