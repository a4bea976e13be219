// Rows of the integer divisions. One divisor for all elements is multiplied by its reciprocal; of two int32 the
// quotient in float64, truncated, is exact: it is 2^-31 at least from the next integer, in proportion.
#pragma once
#include <bit>

#include "elementwise_rows.h"

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

// x / y for |y| > 1, truncated: the upper half of a product, shifted (Granlund and Montgomery, 1994). With N bits and
// 2^s < |y| <= 2^(s+1) the factor is 2^(N+s) / |y|, rounded up.
template <typename T> struct Reciprocal {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>;
  static constexpr int kBits = 8 * sizeof(T);

  explicit Reciprocal(T y) : sign_(y >> (kBits - 1)) {
    const U d = static_cast<U>(y < 0 ? U(0) - static_cast<U>(y) : static_cast<U>(y));
    shift_ = static_cast<int>(std::bit_width(static_cast<U>(d - 1))) - 1;
    factor_ = static_cast<U>(((Wide(1) << (kBits + shift_)) + d - 1) / d);
  }
  T quotient(T x) const {
    const T sign = x >> (kBits - 1);
    const U size = (static_cast<U>(x) ^ static_cast<U>(sign)) - static_cast<U>(sign);
    const U q = static_cast<U>(static_cast<Wide>(size) * factor_ >> kBits) >> shift_;
    const U flip = static_cast<U>(sign ^ sign_);
    return static_cast<T>((q ^ flip) - flip);
  }

  T sign_;
  int shift_;
  U factor_;
};

// From the quotient q of x and y, truncated, what each op wants.
struct TruncatedQuotient {
  template <typename T> static T of(T, T, T q) { return q; }
};
struct TruncatedRest {
  template <typename T> static T of(T x, T y, T q) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(x) - static_cast<U>(q) * static_cast<U>(y));
  }
};
struct FloorQuotient {
  template <typename T> static T of(T x, T y, T q) {
    const T rest = TruncatedRest::of(x, y, q);
    return static_cast<T>(q - ((rest != 0) & ((rest ^ y) < 0)));
  }
};
struct FloorRest {
  template <typename T> static T of(T x, T y, T q) {
    const T rest = TruncatedRest::of(x, y, q);
    return static_cast<T>(rest + ((rest != 0) & ((rest ^ y) < 0) ? y : T(0)));
  }
};

template <typename Want, typename T>
constexpr auto kDivide = [](T x, T y) { return Want::of(x, y, truncated_quotient(x, y)); };

template <typename Want, typename T>
void divide_by_one_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  const T y = *static_cast<const T*>(in[1]);
  if (y >= -1 && y <= 1) return scalar_right_row<kDivide<Want, T>, T>(in, out, n, attrs);
  const T* __restrict x = static_cast<const T*>(in[0]);
  T* __restrict z = static_cast<T*>(out);
  const Reciprocal<T> reciprocal(y);
  for (int64_t i = 0; i < n; ++i) z[i] = Want::of(x[i], y, reciprocal.quotient(x[i]));
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
                         cost<T>(kCostly), has_zero<T>});
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
