// Rows of the integer divisions. One divisor for all elements is multiplied by its reciprocal; of two int32 the
// quotient in float64, truncated, is exact: it is 2^-31 at least from the next integer, in proportion.
#pragma once
#include <bit>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "elementwise_rows.h"
#include "simd.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Divisors are known not to be zero. -1 apart: dividing the smallest integer by it would trap.
template <typename T> T truncated_quotient(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if constexpr (sizeof(T) == 4) {
    const T negated = static_cast<T>(U(0) - static_cast<U>(x));
    const double q = static_cast<double>(x) / static_cast<double>(y);
    return y == -1 ? negated : static_cast<T>(q);
  } else {
    return y == -1 ? static_cast<T>(U(0) - static_cast<U>(x)) : x / y;
  }
}

// The upper halves of the products of lanes.
inline Vec<uint32_t> high_products(Vec<uint32_t> x, Vec<uint32_t> y) {
#if defined(__SSE2__)
  const auto of_even_lanes = [](Vec<uint64_t> a, Vec<uint64_t> b) {
#if defined(__AVX512F__)
    return (Vec<uint64_t>)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (Vec<uint64_t>)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (Vec<uint64_t>)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
  };
  const auto even = (Vec<uint64_t>)x, odd = even >> 32, factors = (Vec<uint64_t>)y;
  const auto high = [](Vec<uint64_t> a, Vec<uint64_t> b) { return (Vec<uint32_t>)((a >> 32) | (b >> 32 << 32)); };
  return high(of_even_lanes(even, factors), of_even_lanes(odd, factors >> 32));
#else
  Vec<uint32_t> z;
  for (int i = 0; i < kLanes<uint32_t>; ++i) z[i] = static_cast<uint32_t>(static_cast<uint64_t>(x[i]) * y[i] >> 32);
  return z;
#endif
}

// n / |y| for |y| > 1 and n up to half of the range: the upper half of a product, shifted (Granlund and Montgomery,
// 1994). With N bits and 2^s < |y| <= 2^(s+1) the factor is 2^(N+s) / |y|, rounded up.
template <typename T> struct Reciprocal {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>;
  static constexpr int kBits = 8 * sizeof(T);

  explicit Reciprocal(T y) {
    const U d = static_cast<U>(y < 0 ? U(0) - static_cast<U>(y) : static_cast<U>(y));
    shift_ = static_cast<int>(std::bit_width(static_cast<U>(d - 1))) - 1;
    factor_ = static_cast<U>(((Wide(1) << (kBits + shift_)) + d - 1) / d);
  }
  U quotient(U n) const { return static_cast<U>(static_cast<Wide>(n) * factor_ >> kBits) >> shift_; }
  Vec<U> quotient(Vec<U> n) const requires(sizeof(T) == 4) {
    return high_products(n, broadcast_lane<U>(factor_)) >> shift_;
  }

  int shift_;
  U factor_;
};

// The quotients of x by a divisor y with such a reciprocal, rounded towards zero or down. V is a number or a vector, U
// the same without signs.
struct Truncated {
  template <bool kNegative, typename U, typename V, typename T> static V quotient(V x, const Reciprocal<T>& r) {
    const V sign = x >> (Reciprocal<T>::kBits - 1);
    const U size = ((U)x ^ (U)sign) - (U)sign, flip = kNegative ? ~(U)sign : (U)sign;
    return (V)((r.quotient(size) ^ flip) - flip);
  }
};
struct Floored {
  // ~(~n / d) is the quotient of a negative n and d > 0, rounded down.
  template <bool kNegative, typename U, typename V, typename T> static V quotient(V x, const Reciprocal<T>& r) {
    const U n = kNegative ? U{} - (U)x : (U)x;  // of the smallest x it has no sign, as ~x says
    const U flip = (U)((kNegative ? (V)n & ~x : x) >> (Reciprocal<T>::kBits - 1));
    return (V)(r.quotient(n ^ flip) ^ flip);
  }
};

// From the quotient q of x and y, truncated, what each op wants. The quotient by one divisor is rounded by Rounding at
// once, and kRest says whether the rest is wanted.
struct TruncatedQuotient {
  using Rounding = Truncated;
  static constexpr bool kRest = false;
  template <typename T> static T of(T, T, T q) { return q; }
};
struct TruncatedRest {
  using Rounding = Truncated;
  static constexpr bool kRest = true;
  template <typename T> static T of(T x, T y, T q) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(x) - static_cast<U>(q) * static_cast<U>(y));
  }
};
struct FloorQuotient {
  using Rounding = Floored;
  static constexpr bool kRest = false;
  template <typename T> static T of(T x, T y, T q) {
    const T rest = TruncatedRest::of(x, y, q);
    return static_cast<T>(q - ((rest != 0) & ((rest ^ y) < 0)));
  }
};
struct FloorRest {
  using Rounding = Floored;
  static constexpr bool kRest = true;
  template <typename T> static T of(T x, T y, T q) {
    const T rest = TruncatedRest::of(x, y, q);
    return static_cast<T>(rest + ((rest != 0) & ((rest ^ y) < 0) ? y : T(0)));
  }
};

template <typename Want, typename T>
constexpr auto kDivide = [](T x, T y) { return Want::of(x, y, truncated_quotient(x, y)); };

template <typename Want, bool kNegative, typename U, typename V, typename T>
V divide_by_one(V x, V y, const Reciprocal<T>& reciprocal) {
  const V q = Want::Rounding::template quotient<kNegative, U>(x, reciprocal);
  return Want::kRest ? (V)((U)x - (U)q * (U)y) : q;
}

template <typename Want, bool kNegative, typename T> void divide_by_reciprocal(const T* x, T y, T* z, int64_t n) {
  using U = std::make_unsigned_t<T>;
  const Reciprocal<T> reciprocal(y);
  int64_t i = 0;
  if constexpr (sizeof(T) == 4) {
    for (; i + kLanes<T> <= n; i += kLanes<T>)
      store(z + i, divide_by_one<Want, kNegative, Vec<U>>(load(x + i), broadcast_lane(y), reciprocal));
  }
  for (; i < n; ++i) z[i] = divide_by_one<Want, kNegative, U>(x[i], y, reciprocal);
}

template <typename Want, typename T>
void divide_by_one_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  const T y = *static_cast<const T*>(in[1]);
  if (y >= -1 && y <= 1) return scalar_right_row<kDivide<Want, T>, T>(in, out, n, attrs);
  const auto row = y < 0 ? divide_by_reciprocal<Want, true, T> : divide_by_reciprocal<Want, false, T>;
  row(static_cast<const T*>(in[0]), y, static_cast<T*>(out), n);
}

template <typename T> bool has_zero(const void* y, int64_t n) {
  const T* v = static_cast<const T*>(y);
  bool zero = false;
  for (int64_t i = 0; i < n; ++i) zero |= v[i] == 0;
  return zero;
}

template <typename T> void check_divisor(const Tensor* y) {
  if (has_zero<T>(y->data, y->size())) throw invalid("Integer division by zero");
}

template <typename Want, typename T> bool division_kernel(KernelCall& c) {
  static constexpr BinaryRows rows = {pair_row<kDivide<Want, T>, T>, divide_by_one_row<Want, T>,
                                      scalar_left_row<kDivide<Want, T>, T>, check_divisor<T>};
  return map_binary(c, DTypeOf<T>::value, cost<T>(kCostly), rows);
}

template <typename Want, typename T> void add_integer_division(const char* op) {
  constexpr DType d = DTypeOf<T>::value;
  register_kernel(op, {d}, division_kernel<Want, T>);
  register_loops(op, d, {2, {d, d}, d,
                         {pair_row<kDivide<Want, T>, T>, scalar_left_row<kDivide<Want, T>, T>, divide_by_one_row<Want, T>},
                         cost<T>(kCostly), has_zero<T>, pair_single<kDivide<Want, T>, T>});
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
