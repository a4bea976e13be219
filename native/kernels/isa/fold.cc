// Reductions of one tile of a fused instruction. Infinities and NaN come out as in reduce.cc; a sum is
// taken in as many accumulators as keep the adders busy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "../loops.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename T> constexpr int kAccumulators = 256 / sizeof(T);

template <typename T> Folded sum(const void* p, int64_t n) {
  constexpr int kWide = kAccumulators<T>;
  const T* __restrict x = static_cast<const T*>(p);
  T acc[kWide] = {};
  const int64_t whole = n / kWide * kWide;
  for (int64_t i = 0; i < whole; i += kWide) {
    for (int k = 0; k < kWide; ++k) acc[k] += x[i + k];
  }
  double total = 0;
  for (int k = 0; k < kWide; ++k) total += static_cast<double>(acc[k]);
  for (int64_t i = whole; i < n; ++i) total += static_cast<double>(x[i]);
  return {.real = total};
}

// Once NaN, an accumulator stays: nothing compares with it.
template <typename T, bool largest> Folded extreme(const void* p, int64_t n) {
  constexpr int kWide = kAccumulators<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const auto join = [](T a, T b) {
    const T m = (largest ? b > a : b < a) ? b : a;
    return b != b ? b : m;
  };
  const T* __restrict x = static_cast<const T*>(p);
  T acc[kWide];
  for (int k = 0; k < kWide; ++k) acc[k] = largest ? -inf : inf;
  const int64_t whole = n / kWide * kWide;
  for (int64_t i = 0; i < whole; i += kWide) {
    for (int k = 0; k < kWide; ++k) acc[k] = join(acc[k], x[i + k]);
  }
  T total = acc[0];
  for (int k = 1; k < kWide; ++k) total = join(total, acc[k]);
  for (int64_t i = whole; i < n; ++i) total = join(total, x[i]);
  return {.real = static_cast<double>(total)};
}

template <typename T> Folded integer_sum(const void* p, int64_t n) {
  using U = std::make_unsigned_t<T>;
  constexpr int kWide = kAccumulators<T>;
  const T* __restrict x = static_cast<const T*>(p);
  U acc[kWide] = {};
  const int64_t whole = n / kWide * kWide;
  for (int64_t i = 0; i < whole; i += kWide) {
    for (int k = 0; k < kWide; ++k) acc[k] += static_cast<U>(x[i + k]);
  }
  U total = 0;
  for (int k = 0; k < kWide; ++k) total += acc[k];
  for (int64_t i = whole; i < n; ++i) total += static_cast<U>(x[i]);
  return {.integer = static_cast<T>(total)};
}

template <typename T, bool largest> Folded integer_extreme(const void* p, int64_t n) {
  const T* x = static_cast<const T*>(p);
  T total = x[0];
  for (int64_t i = 1; i < n; ++i) total = (largest ? x[i] > total : x[i] < total) ? x[i] : total;
  return {.integer = total};
}

// How many of n truth values are true, in bytes that are added up before they overflow.
Folded count(const void* p, int64_t n) {
  constexpr int kWide = 64, kRounds = 255;
  const uint8_t* __restrict x = static_cast<const uint8_t*>(p);
  int64_t total = 0, i = 0;
  while (n - i >= kWide) {
    const int64_t end = std::min(i + kRounds * kWide, n - (n - i) % kWide);
    uint8_t acc[kWide] = {};
    for (; i < end; i += kWide) {
      for (int k = 0; k < kWide; ++k) acc[k] = static_cast<uint8_t>(acc[k] + x[i + k]);
    }
    uint32_t sum = 0;
    for (int k = 0; k < kWide; ++k) sum += acc[k];
    total += sum;
  }
  for (; i < n; ++i) total += x[i];
  return {.integer = total};
}

template <typename T> void register_integer_folds() {
  tapeflow::register_fold("Sum", DTypeOf<T>::value, integer_sum<T>);
  tapeflow::register_fold("Max", DTypeOf<T>::value, integer_extreme<T, true>);
  tapeflow::register_fold("Min", DTypeOf<T>::value, integer_extreme<T, false>);
}

}  // namespace

void register_fold() {
  register_integer_folds<int32_t>();
  register_integer_folds<int64_t>();
  tapeflow::register_fold("Count", DType::kBool, count);
  tapeflow::register_fold("Sum", DType::kFloat32, sum<float>);
  tapeflow::register_fold("Sum", DType::kFloat64, sum<double>);
  tapeflow::register_fold("Max", DType::kFloat32, extreme<float, true>);
  tapeflow::register_fold("Max", DType::kFloat64, extreme<double, true>);
  tapeflow::register_fold("Min", DType::kFloat32, extreme<float, false>);
  tapeflow::register_fold("Min", DType::kFloat64, extreme<double, false>);
}

}  // namespace tapeflow::TAPEFLOW_ISA
