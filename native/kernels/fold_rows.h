// Rows of data folded into the rows that indices name: sums, differences, products, quotients, extremes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dtype.h"
#include "kernels/half.h"
#include "threads.h"

namespace tapeflow {

enum class Fold { kSum, kDifference, kProduct, kQuotient, kMax, kMin };

// What numbers are computed in: 16-bit floats as float, rounded after each step; integers as unsigned ones, which wrap
// around without overflow being undefined.
template <typename T> struct Folding {
  static auto wide(T x) {
    if constexpr (std::is_integral_v<T>) return static_cast<std::common_type_t<std::make_unsigned_t<T>, unsigned>>(x);
    else return x;
  }
  template <typename W> static T narrow(W x) { return static_cast<T>(x); }
};
template <> struct Folding<Half> {
  static float wide(Half x) { return to_float(x); }
  static Half narrow(float x) { return to_half(x); }
};
template <> struct Folding<BFloat16> {
  static float wide(BFloat16 x) { return bits_float(uint32_t{x.bits} << 16); }
  static BFloat16 narrow(float x) { return to_bfloat16(x); }
};

// Extremes are NaN where an operand is. Quotients are those of floats.
template <Fold fold, typename T>
T folded(T y, T x) {
  using F = Folding<T>;
  if constexpr (fold == Fold::kSum) return F::narrow(F::wide(y) + F::wide(x));
  else if constexpr (fold == Fold::kDifference) return F::narrow(F::wide(y) - F::wide(x));
  else if constexpr (fold == Fold::kProduct) return F::narrow(F::wide(y) * F::wide(x));
  else if constexpr (fold == Fold::kQuotient) return F::narrow(F::wide(y) / F::wide(x));
  else if constexpr (std::is_integral_v<T>) return (fold == Fold::kMax ? y < x : x < y) ? x : y;
  else {
    const auto a = F::wide(y), b = F::wide(x);
    return (fold == Fold::kMax ? a < b : b < a) || b != b ? x : y;
  }
}

template <Fold fold, typename T>
void fold_row(T* __restrict y, const T* __restrict x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = folded<fold>(y[i], x[i]);
}

// y[ids[i]] folds x[i] for rows i in order, whatever the number of threads; negative ids are dropped. Each row has
// `columns` elements; ids are below `segments`.
template <Fold fold, typename T, typename I>
void fold_rows(T* y, const T* x, const I* ids, int64_t rows, int64_t columns, int64_t segments) {
  const double row_ns = 1 + static_cast<double>(columns) * 0.25;
  if (columns >= 64) {  // threads split the columns
    parallel_for(columns, static_cast<double>(rows) * row_ns / static_cast<double>(columns),
                 [=](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < rows; ++i) {
        if (ids[i] >= 0) fold_row<fold>(y + ids[i] * columns + begin, x + i * columns + begin, end - begin);
      }
    });
    return;
  }
  // Threads split the segments; each looks at all ids. Not worth it where looking is most of the work.
  parallel_for(segments, columns >= 4 ? static_cast<double>(rows) * row_ns / static_cast<double>(segments) : 0,
               [=](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
      if (ids[i] >= begin && ids[i] < end) fold_row<fold>(y + ids[i] * columns, x + i * columns, columns);
    }
  });
}

// Calls f(T{}) with the type of a dtype of real numbers; false for another dtype.
template <typename F>
bool with_real_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32: f(float{}); return true;
    case DType::kFloat64: f(double{}); return true;
    case DType::kFloat16: f(Half{}); return true;
    case DType::kBFloat16: f(BFloat16{}); return true;
    case DType::kInt8: f(int8_t{}); return true;
    case DType::kInt16: f(int16_t{}); return true;
    case DType::kInt32: f(int32_t{}); return true;
    case DType::kInt64: f(int64_t{}); return true;
    case DType::kUInt8: f(uint8_t{}); return true;
    case DType::kUInt16: f(uint16_t{}); return true;
    case DType::kUInt32: f(uint32_t{}); return true;
    case DType::kUInt64: f(uint64_t{}); return true;
    default: return false;
  }
}

}  // namespace tapeflow
