// The product of two matrices of any size: register tiles alone, oneDNN's sgemm, or packed blocks on all threads.
#pragma once
#include <atomic>
#include <cstring>
#include <optional>

#include "gemm.h"
#include "onednn.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Rough ns of one multiply-add on one core.
template <typename T>
constexpr double kNs = std::is_same_v<T, float>    ? 0.014
                       : std::is_same_v<T, double> ? 0.03
                       : sizeof(T) == 4            ? 0.04
                                                   : 0.12;
// From here oneDNN's sgemm is faster than the register tiles alone, and so is packing in blocks.
constexpr double kLarge = 80.0 * 80 * 80;

// Whether packed blocks are faster than oneDNN's sgemm. Measured with AVX2, where that takes up to twice as long for
// large products of a transpose, as they give the gradients of weights.
template <typename T> bool packs_better(Matrix<T> a, int64_t m, int64_t n, int64_t k) {
  return kVectorBytes == 32 && m >= 256 && n >= 256 && k >= 256 && a.cols != 1;
}

// Up to here oneDNN's sgemm has its workspace on the stack, of 16 kB for 48 columns.
constexpr int64_t kStackDepth = 84;

// parallel_for for a body that may run out of scratch memory: no exception may leave a thread.
template <typename F> void parallel_or_throw(int64_t n, double ns_per_item, F&& f) {
  std::atomic<bool> failed = false;
  parallel_for(n, ns_per_item, [&](int64_t from, int64_t to) {
    try {
      f(from, to);
    } catch (const Error&) {
      failed = true;
    }
  });
  if (failed) throw exhausted("OOM when allocating scratch memory for a matrix product");
}

template <typename T>
void multiply_large(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t c_stride, double ns) {
  // Narrow results gain nothing from packing the other operand.
  const auto serial = m < 8 || n < 8 ? multiply_small<T> : multiply_blocked<T>;
  if (m >= n)
    parallel_or_throw(m, ns / static_cast<double>(m), [&](int64_t from, int64_t to) {
      serial(to - from, n, k, a.at(from, 0), b, c + from * c_stride, c_stride);
    });
  else
    parallel_or_throw(n, ns / static_cast<double>(n), [&](int64_t from, int64_t to) {
      serial(m, to - from, k, a, b.at(0, from), c + from, c_stride);
    });
}

// c[m, n] = a b, rows of c being c_stride apart, 0: n. `library` may be null.
template <typename T>
void multiply(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c,
              const OneDnn* library, int64_t c_stride = 0) {
  if (c_stride == 0) c_stride = n;
  const double madds = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (madds == 0) {
    for (int64_t i = 0; i < m && n > 0; ++i) std::memset(c + i * c_stride, 0, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  if constexpr (std::is_same_v<T, float>)
    if (library && madds >= kLarge && !packs_better(a, m, n, k)) {
      const bool ta = a.cols != 1, tb = b.cols != 1;
      const bool split = madds * kNs<T> >= static_cast<double>(parallel_ns) && !in_parallel();  // as parallel_for decides
      const int threads = split ? intra_op_threads() : 1;
      std::optional<SignalsWait> wait;
      if (k > kStackDepth) wait.emplace(threads);
      if (library->sgemm(threads, ta, tb, m, n, k, a.data, ta ? a.cols : a.rows, b.data,
                         tb ? b.cols : b.rows, c, c_stride))
        return;
    }
  if (n == 1 && m > 1 && c_stride == 1) {  // a column vector is a row vector in memory
    const Matrix<T> row = {b.data, b.cols, b.rows};
    b = a.transposed();
    a = row;
    std::swap(m, n);
    c_stride = n;
  }
  if (madds < kLarge) return multiply_small<T>(m, n, k, a, b, c, c_stride);
  multiply_large<T>(m, n, k, a, b, c, c_stride, madds * kNs<T>);
}

// some(from, to) for the products of a stack: those that are few and large split themselves.
template <typename T, typename F> void share_products(int64_t count, double madds, F&& some) {
  if (madds * kNs<T> >= static_cast<double>(parallel_ns) && count < 4 * intra_op_threads()) some(0, count);
  else parallel_or_throw(count, madds * kNs<T> + 10, some);
}

template <typename T> const OneDnn* library_for(double madds) {
  return std::is_same_v<T, float> && madds >= kLarge ? onednn() : nullptr;
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
