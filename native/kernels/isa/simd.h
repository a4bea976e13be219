// Vectors as wide as the instruction set's registers, loads and stores of a part of one, and the
// transposition of a block: what matrix multiplication is written with.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernel.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// Integers wrap around: their arithmetic is done on the unsigned type.
template <typename T> struct WrappingOf {
  using type = T;
};
template <> struct WrappingOf<int32_t> {
  using type = uint32_t;
};
template <> struct WrappingOf<int64_t> {
  using type = uint64_t;
};
template <typename T> using Wrapping = typename WrappingOf<T>::type;

template <typename T> struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <typename T> using Vec = typename VectorOf<T>::type;
template <typename T> constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <typename T> inline Vec<T> load(const T* p) {
  Vec<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <typename T> inline void store(T* p, Vec<T> v) { __builtin_memcpy(p, &v, sizeof v); }
template <typename T> inline Vec<T> broadcast_lane(T x) { return x - Vec<T>{}; }

// The first n lanes of a vector (0 < n <= lanes): memory beyond them is neither read nor written,
// lanes beyond them load as 0.
#if defined(__AVX512F__)
template <typename T> struct Lanes {
  explicit Lanes(int n) : mask_(static_cast<__mmask16>((1u << n) - 1)) {}
  Vec<T> load(const T* p) const {
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_maskz_loadu_epi32(mask_, p);
    else return (Vec<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask_), p);
  }
  void store(T* p, Vec<T> v) const {
    if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(p, mask_, (__m512i)v);
    else _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(mask_), (__m512i)v);
  }
  __mmask16 mask_;
};
#elif defined(__AVX2__)
template <typename T> struct Lanes {
  explicit Lanes(int n) : bytes_(n * static_cast<int>(sizeof(T))) {
    if constexpr (sizeof(T) == 4)
      mask_ = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    else mask_ = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  Vec<T> load(const T* p) const {
    if constexpr (sizeof(T) == 4)
      return (Vec<T>)_mm256_maskload_ps(reinterpret_cast<const float*>(p), mask_);
    else return (Vec<T>)_mm256_maskload_pd(reinterpret_cast<const double*>(p), mask_);
  }
  // Piece by piece: a masked store is 40 instructions on AMD's processors before Zen 4.
  void store(T* p, Vec<T> v) const {
    if (bytes_ == kVectorBytes) return TAPEFLOW_ISA::store(p, v);
    auto* to = reinterpret_cast<char*>(p);
    __m128i part = _mm256_castsi256_si128((__m256i)v);
    if (bytes_ & 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), part);
      part = _mm256_extracti128_si256((__m256i)v, 1);
      to += 16;
    }
    if (bytes_ & 8) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), part);
      part = _mm_unpackhi_epi64(part, part);
      to += 8;
    }
    if (bytes_ & 4) {
      const int last = _mm_cvtsi128_si32(part);
      __builtin_memcpy(to, &last, sizeof last);
    }
  }
  __m256i mask_;
  int bytes_;
};
#else
template <typename T> struct Lanes {
  explicit Lanes(int n) : n_(n) {}
  Vec<T> load(const T* p) const {
    Vec<T> v{};
    if (n_ == kLanes<T>) return TAPEFLOW_ISA::load(p);
    for (int i = 0; i < n_; ++i) v[i] = p[i];
    return v;
  }
  void store(T* p, Vec<T> v) const {
    if (n_ == kLanes<T>) return TAPEFLOW_ISA::store(p, v);
    for (int i = 0; i < n_; ++i) p[i] = v[i];
  }
  int n_;
};
#endif

// The lanes folded into one by f(vector, vector).
template <typename T, int step, typename F, int... lane>
inline Vec<T> fold_lanes(Vec<T> v, F f, std::integer_sequence<int, lane...> all) {
  if constexpr (step == 0) return v;
  else
    return fold_lanes<T, step / 2>(f(v, __builtin_shufflevector(v, v, (lane ^ step)...)), f, all);
}
template <typename T, typename F> inline T fold(Vec<T> v, F f) {
  return fold_lanes<T, kLanes<T> / 2>(v, f, std::make_integer_sequence<int, kLanes<T>>{})[0];
}
template <typename T> inline T sum_of_lanes(Vec<T> v) {
  return fold<T>(v, [](Vec<T> x, Vec<T> y) { return x + y; });
}

// The first n lanes of v; the others are `rest`.
template <typename T, int... lane>
inline Vec<T> first_lanes(Vec<T> v, int n, T rest, std::integer_sequence<int, lane...>) {
  using Int = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  return Vec<Int>{lane...} < broadcast_lane<Int>(n) ? v : broadcast_lane(rest);
}
template <typename T> inline Vec<T> first_lanes(Vec<T> v, int n, T rest) {
  return first_lanes(v, n, rest, std::make_integer_sequence<int, kLanes<T>>{});
}

// One step of a block's transposition: rows r and r + step exchange their off-diagonal blocks.
template <typename T, int step, int... lane>
inline void exchange_blocks(Vec<T>& x, Vec<T>& y, std::integer_sequence<int, lane...>) {
  constexpr int n = kLanes<T>;
  Vec<T> lo = __builtin_shufflevector(x, y, (lane & step ? n + lane - step : lane)...);
  Vec<T> hi = __builtin_shufflevector(x, y, (lane & step ? n + lane : lane + step)...);
  x = lo;
  y = hi;
}

template <typename T, int step = 1> inline void transpose(Vec<T> (&rows)[kLanes<T>]) {
  constexpr int n = kLanes<T>;
  if constexpr (step < n) {
#pragma GCC unroll 16
    for (int r = 0; r < n; ++r)
      if (!(r & step))
        exchange_blocks<T, step>(rows[r], rows[r + step], std::make_integer_sequence<int, n>{});
    transpose<T, step * 2>(rows);
  }
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
