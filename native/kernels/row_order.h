// The order of the elements of a row: larger first, of equals the one that comes first; NaN is larger than all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace tapeflow {

template <typename T>
struct Larger {
  const T* x;
  bool operator()(int32_t a, int32_t b) const {
    const T p = x[a], q = x[b];
    if constexpr (std::is_floating_point_v<T>) {
      const bool p_nan = p != p, q_nan = q != q;
      if (p_nan || q_nan) return p_nan == q_nan ? a < b : p_nan;
    }
    return p > q || (p == q && a < b);
  }
};

// The indices of the k largest of n elements, k > 0, in order: a heap of the best so far, the least of them on top.
template <typename T>
void largest_of_row(const T* x, int64_t n, int64_t k, int32_t* indices) {
  constexpr int64_t kBlock = 32;  // elements that are looked at together, as most blocks have nothing to offer
  const Larger<T> larger{x};
  std::iota(indices, indices + k, 0);
  std::make_heap(indices, indices + k, larger);
  for (int64_t i = k; i < n;) {
    const T least = x[indices[0]];
    if (least != least) break;  // NaNs all, and these came first
    if (i + kBlock <= n) {
      int any = 0;
      for (int64_t j = 0; j < kBlock; ++j) any |= !(x[i + j] <= least);
      if (!any) {
        i += kBlock;
        continue;
      }
    }
    for (const int64_t end = std::min(n, i + kBlock); i < end; ++i) {
      const auto at = static_cast<int32_t>(i);
      if (!larger(at, indices[0])) continue;
      std::pop_heap(indices, indices + k, larger);
      indices[k - 1] = at;
      std::push_heap(indices, indices + k, larger);
    }
  }
  std::sort_heap(indices, indices + k, larger);
}

// A number of T's size that is the smaller, the earlier an element stands in the order; the same for equals.
template <typename T>
auto rank_key(T x) {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr U sign = U{1} << (8 * sizeof(T) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return U{0};
    x += T{0};  // -0 equals 0
    U bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & sign ? bits : static_cast<U>(~bits ^ sign);
  } else {
    return static_cast<U>(~static_cast<U>(x) ^ sign);
  }
}

template <typename T>
struct Ranked {
  decltype(rank_key(T{})) key;
  int32_t index;
};

// The indices of a row in order; `scratch` has room for 2 * n. A radix sort by bytes, the lowest first.
template <typename T>
void order_row(const T* x, int64_t n, int32_t* indices, Ranked<T>* scratch) {
  constexpr int64_t kFew = 48;  // so few are sorted sooner by comparing
  if (n <= kFew) {
    std::iota(indices, indices + n, 0);
    std::sort(indices, indices + n, Larger<T>{x});
    return;
  }
  constexpr int kPasses = sizeof(T);
  Ranked<T> *from = scratch, *to = scratch + n;
  uint32_t counts[kPasses][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    const auto key = rank_key(x[i]);
    from[i] = {key, static_cast<int32_t>(i)};
    for (int pass = 0; pass < kPasses; ++pass) ++counts[pass][key >> (8 * pass) & 255];
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* count = counts[pass];
    if (count[from[0].key >> (8 * pass) & 255] == n) continue;  // all have the same byte
    uint32_t total = 0;
    for (int byte = 0; byte < 256; ++byte) total += std::exchange(count[byte], total);
    for (int64_t i = 0; i < n; ++i) to[count[from[i].key >> (8 * pass) & 255]++] = from[i];
    std::swap(from, to);
  }
  for (int64_t i = 0; i < n; ++i) indices[i] = from[i].index;
}

}  // namespace tapeflow
