// From a function of elements to a kernel: the contiguous loops, written once.
#pragma once
#include <cstring>
#include <type_traits>

#include "../elementwise.h"
#include "../loops.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Rough cost of one element, in picoseconds for 4 bytes; template arguments are integers.
constexpr int kCheap = 250, kModerate = 500, kCostly = 1000, kLibrary = 12000;
template <typename T> constexpr double cost(int picoseconds) {
  return picoseconds * 1e-3 * (sizeof(T) < 4 ? 0.5 : sizeof(T) / 4.0);
}

// As bytes, booleans are converted in vectors; as bool they are not (GCC 12).
template <typename T> using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <auto F, typename T>
void unary_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto* __restrict x = static_cast<const Stored<T>*>(in[0]);
  auto* __restrict y = static_cast<Stored<decltype(F(T{}))>*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);
}

// Of one element: no loop begins.
template <auto F, typename T> void unary_single(const void* const* in, void* out, int64_t, const Attr*) {
  *static_cast<Stored<decltype(F(T{}))>*>(out) = F(*static_cast<const Stored<T>*>(in[0]));
}

// For functions that cost much more in a scalar loop: the last elements too are computed as a
// vector, which overlaps those before it. It is read first: the output may be the input's memory.
template <auto F, typename T>
void padded_unary_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  using Out = decltype(F(T{}));
  const T* x = static_cast<const T*>(in[0]);
  Out* y = static_cast<Out*>(out);
  if (n % kLanes == 0) return unary_row<F, T>(in, out, n, attrs);
  T from[kLanes] = {};
  Out to[kLanes];
  const int64_t last = n < kLanes ? 0 : n - kLanes;
  if (n < kLanes) std::memcpy(from, x, static_cast<size_t>(n) * sizeof(T));
  else std::memcpy(from, x + last, sizeof from);
  for (int64_t i = 0; i < kLanes; ++i) to[i] = F(from[i]);
  unary_row<F, T>(in, out, n / kLanes * kLanes, attrs);
  if (n < kLanes) std::memcpy(y, to, static_cast<size_t>(n) * sizeof(Out));
  else std::memcpy(y + last, to, sizeof to);
}

template <int Cost> constexpr bool kPadded = Cost == kModerate || Cost == kCostly;

template <auto F, int Cost, typename T>
constexpr Row kUnaryRow = kPadded<Cost> ? padded_unary_row<F, T> : unary_row<F, T>;

template <auto F, int Cost, typename T> bool unary_kernel(KernelCall& c) {
  return map_unary(c, DTypeOf<decltype(F(T{}))>::value, cost<T>(Cost), kUnaryRow<F, Cost, T>);
}

template <auto F, int Cost, typename T> void add_unary_loops(const std::string& op) {
  register_loops(op, DTypeOf<T>::value,
                 {1, {DTypeOf<T>::value}, DTypeOf<decltype(F(T{}))>::value,
                  {kUnaryRow<F, Cost, T>}, cost<T>(Cost), nullptr, kPadded<Cost> ? nullptr : unary_single<F, T>});
}

template <auto F, int Cost, typename... T> void add_unary(const char* op) {
  (register_kernel(op, {DTypeOf<T>::value}, unary_kernel<F, Cost, T>), ...);
  (add_unary_loops<F, Cost, T>(op), ...);
}

template <auto F, typename T>
void pair_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const T* __restrict x = static_cast<const T*>(in[0]);
  const T* __restrict y = static_cast<const T*>(in[1]);
  auto* __restrict z = static_cast<decltype(F(T{}, T{}))*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = F(x[i], y[i]);
}

template <auto F, typename T> void pair_single(const void* const* in, void* out, int64_t, const Attr*) {
  *static_cast<decltype(F(T{}, T{}))*>(out) = F(*static_cast<const T*>(in[0]), *static_cast<const T*>(in[1]));
}

template <auto F, int Cost, Match M, typename T> bool pair_kernel(KernelCall& c) {
  return map_pair(c, cost<T>(Cost), pair_row<F, T>, M);
}

template <typename T> void add_pair_loops(const char* op, int picoseconds, Row row) {
  constexpr DType d = DTypeOf<T>::value;
  register_loops(op, d, {2, {d, d}, d, {row}, cost<T>(picoseconds)});
}

template <auto F, int Cost, Match M, typename... T> void add_pair(const char* op) {
  (register_kernel(op, {DTypeOf<T>::value}, pair_kernel<F, Cost, M, T>), ...);
  (add_pair_loops<T>(op, Cost, pair_row<F, T>), ...);
}

template <auto F, typename T>
void scalar_right_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const T* __restrict x = static_cast<const T*>(in[0]);
  const T y = *static_cast<const T*>(in[1]);
  auto* __restrict z = static_cast<decltype(F(T{}, T{}))*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = F(x[i], y);
}

template <auto F, typename T>
void scalar_left_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const T x = *static_cast<const T*>(in[0]);
  const T* __restrict y = static_cast<const T*>(in[1]);
  auto* __restrict z = static_cast<decltype(F(T{}, T{}))*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = F(x, y[i]);
}

template <auto F, typename T, Check check = nullptr>
constexpr BinaryRows kBinaryRows = {pair_row<F, T>, scalar_right_row<F, T>, scalar_left_row<F, T>,
                                    check};

template <auto F, int Cost, typename T> bool binary_kernel(KernelCall& c) {
  return map_binary(c, DTypeOf<decltype(F(T{}, T{}))>::value, cost<T>(Cost), kBinaryRows<F, T>);
}

template <auto F, int Cost, typename T> void add_binary_loops(const char* op) {
  constexpr DType d = DTypeOf<T>::value;
  register_loops(op, d, {2, {d, d}, DTypeOf<decltype(F(T{}, T{}))>::value,
                         {pair_row<F, T>, scalar_left_row<F, T>, scalar_right_row<F, T>},
                         cost<T>(Cost), nullptr, pair_single<F, T>});
}

template <auto F, int Cost, typename... T> void add_binary(const char* op) {
  (register_kernel(op, {DTypeOf<T>::value}, binary_kernel<F, Cost, T>), ...);
  (add_binary_loops<F, Cost, T>(op), ...);
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
