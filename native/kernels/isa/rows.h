// What kernels of rows share: loops over one row in vectors, its maximum and the exponentials of its elements, and the
// rows shared out among the threads.
#pragma once
#include <algorithm>
#include <limits>

#include "exponential.h"
#include "threads.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// f(lanes, c) over a row, one vector at a time; `filled` of the lanes are used.
template <typename T, typename F> inline void for_vectors(int64_t n, F&& f) {
  const Lanes<T> all(kLanes<T>);
  int64_t c = 0;
  for (; c + kLanes<T> <= n; c += kLanes<T>) f(all, c, kLanes<T>);
  if (c < n) f(Lanes<T>(static_cast<int>(n - c)), c, static_cast<int>(n - c));
}

// A whole vector, and a part of one; what is beyond it counts as `rest`.
template <typename T> struct Whole {
  static Vec<T> load(const T* p) { return TAPEFLOW_ISA::load(p); }
  static void store(T* p, Vec<T> v) { TAPEFLOW_ISA::store(p, v); }
  static Vec<T> keep(Vec<T> v, T) { return v; }
};
template <typename T> struct Part {
  explicit Part(int filled) : lanes(filled), filled(filled) {}
  Vec<T> load(const T* p) const { return lanes.load(p); }
  void store(T* p, Vec<T> v) const { lanes.store(p, v); }
  Vec<T> keep(Vec<T> v, T rest) const { return first_lanes<T>(v, filled, rest); }
  Lanes<T> lanes;
  int filled;
};

constexpr int kUnrolled = 4;

// f(k, vector, c) over a row, where vector is a Whole or a Part and k counts in turn up to kUnrolled, so that sums and
// maxima of each k are independent chains.
template <typename T, typename F> inline __attribute__((always_inline)) void for_unrolled(int64_t n, F f) {
  constexpr int lanes = kLanes<T>;
  const Whole<T> whole;
  int64_t c = 0;
  for (; c + kUnrolled * lanes <= n; c += kUnrolled * lanes) {
    f(0, whole, c);
    f(1, whole, c + lanes);
    f(2, whole, c + 2 * lanes);
    f(3, whole, c + 3 * lanes);
  }
  for (; c + lanes <= n; c += lanes) f(0, whole, c);
  if (c < n) f(1, Part<T>(static_cast<int>(n - c)), c);
}

template <typename T> inline T sum_of(const Vec<T> (&v)[kUnrolled]) {
  return sum_of_lanes<T>((v[0] + v[1]) + (v[2] + v[3]));
}

template <typename T> inline T largest(const T* x, int64_t n) {
  constexpr T none = -std::numeric_limits<T>::infinity();
  Vec<T> best[kUnrolled];
  for (Vec<T>& b : best) b = broadcast_lane(none);
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) {
    const Vec<T> v = vector.keep(vector.load(x + c), none);
    best[k] = v > best[k] ? v : best[k];
  });
  const auto larger = [](Vec<T> x, Vec<T> y) { return x > y ? x : y; };
  return fold<T>(larger(larger(best[0], best[1]), larger(best[2], best[3])), larger);
}

// y = exp(x - shift), where shift is the largest x; returns its sum. y may be null.
template <typename T> inline T exponentials(const T* x, T shift, int64_t n, T* y) {
  Vec<T> sums[kUnrolled] = {};
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) {
    const Vec<T> e = exponential_of_negative<T>(vector.load(x + c) - broadcast_lane(shift));
    if (y) vector.store(y + c, e);
    sums[k] += vector.keep(e, T{});
  });
  return sum_of<T>(sums);
}

template <typename T> constexpr double kExpNs = sizeof(T) == 4 ? 0.5 : 1.5;

// body(row) over rows of n elements, each of which costs about `ns`.
template <typename Body> void for_rows(int64_t rows, int64_t n, double ns, Body body) {
  const double ns_per_row = 20 + static_cast<double>(n) * ns;
  ReleaseGil release(static_cast<int64_t>(std::min(ns_per_row * static_cast<double>(rows), 1e18)));
  parallel_for(rows, ns_per_row, [&](int64_t from, int64_t to) {
    for (int64_t row = from; row < to; ++row) body(row);
  });
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
