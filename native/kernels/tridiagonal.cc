// Equations of matrices of a few diagonals: TridiagonalSolve by Gauss's elimination, with exchanges of neighbouring rows or
// without, and BandedTriangularSolve.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "kernel.h"
#include "kernels/registry.h"
#include "threads.h"

namespace tapeflow {
namespace {

// One system of n equations, which the elimination works on: its diagonals, the one that exchanges of rows leave two
// places above the main one, and n rows of the right sides.
template <typename T> struct Bands {
  int64_t n, columns;
  T *above, *main, *second, *x;
};

template <typename T> void exchange_rows(const Bands<T>& b, const T* below, int64_t k, T factor) {
  const T low = below[k + 1], next = b.main[k + 1];
  b.main[k + 1] = b.above[k] - factor * next;
  b.main[k] = low;
  b.above[k] = next;
  if (k + 2 < b.n) {
    b.second[k] = b.above[k + 1];
    b.above[k + 1] = -factor * b.second[k];
  }
  T *row = b.x + k * b.columns, *after = row + b.columns;
  for (int64_t j = 0; j < b.columns; ++j) {
    const T value = row[j];
    row[j] = after[j];
    after[j] = value - factor * row[j];
  }
}

// False: a pivot is zero.
template <typename T> bool solve_with_exchanges(const Bands<T>& b, const T* below) {
  std::fill_n(b.second, b.n, T{});
  for (int64_t k = 0; k + 1 < b.n; ++k) {
    const T low = below[k + 1];
    if (!(std::abs(b.main[k]) >= std::abs(low))) {
      exchange_rows(b, below, k, b.main[k] / low);
      continue;
    }
    const T factor = low == T{} ? low : low / b.main[k];
    b.main[k + 1] -= factor * b.above[k];
    T *row = b.x + k * b.columns, *after = row + b.columns;
    for (int64_t j = 0; j < b.columns; ++j) after[j] -= factor * row[j];
  }
  for (int64_t k = 0; k < b.n; ++k) if (b.main[k] == T{}) return false;
  for (int64_t k = b.n - 1; k >= 0; --k) {
    T* row = b.x + k * b.columns;
    for (int64_t j = 0; j < b.columns; ++j) {
      T value = row[j];
      if (k + 1 < b.n) value -= b.above[k] * row[b.columns + j];
      if (k + 2 < b.n) value -= b.second[k] * row[2 * b.columns + j];
      row[j] = value / b.main[k];
    }
  }
  return true;
}

// Thomas's algorithm. False: a pivot is zero.
template <typename T> bool solve_in_order(const Bands<T>& b, const T* below) {
  for (int64_t k = 0; k < b.n; ++k) {
    T* row = b.x + k * b.columns;
    T pivot = b.main[k];
    if (k > 0) {
      pivot -= below[k] * b.above[k - 1];
      for (int64_t j = 0; j < b.columns; ++j) row[j] -= below[k] * row[j - b.columns];
    }
    if (pivot == T{}) return false;
    b.above[k] /= pivot;
    for (int64_t j = 0; j < b.columns; ++j) row[j] /= pivot;
  }
  for (int64_t k = b.n - 2; k >= 0; --k) {
    T* row = b.x + k * b.columns;
    for (int64_t j = 0; j < b.columns; ++j) row[j] -= b.above[k] * row[b.columns + j];
  }
  return true;
}

TAPEFLOW_ATTRS(TridiagonalAttrs, partial_pivoting, perturb_singular);
TAPEFLOW_INPUTS(TridiagonalInputs, diagonals, rhs);

template <typename T> bool tridiagonal_solve(KernelCall& c, const TridiagonalInputs& in, const TridiagonalAttrs& attrs) {
  const Tensor *diagonals = in.diagonals, *rhs = in.rhs;
  const int rank = diagonals->rank();
  bool fits = !attrs.perturb_singular.b() && rank >= 2 && rhs->rank() == rank && diagonals->dim(rank - 2) == 3 &&
              diagonals->dim(rank - 1) == rhs->dim(rank - 2);
  for (int i = 0; fits && i < rank - 2; ++i) fits = diagonals->dim(i) == rhs->dim(i);
  if (!fits) return false;  // the Python kernel says what is wrong
  const int64_t n = rhs->dim(rank - 2), columns = rhs->dim(rank - 1);
  Tensor* out = c.out[0] = new_tensor(rhs->dtype, rhs->shape);
  if (out->size() == 0) return true;
  const bool exchanges = attrs.partial_pivoting.b();
  const int64_t systems = out->size() / (n * columns);
  const double work = static_cast<double>(n) * static_cast<double>(10 + 4 * columns);
  Scratch scratch(static_cast<size_t>(systems * n) * 3 * sizeof(T));
  ReleaseGil unlock(static_cast<int64_t>(work * static_cast<double>(systems)));
  parallel_for(systems, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* given = diagonals->as<T>() + i * 3 * n;
      T *space = scratch.as<T>() + i * 3 * n, *x = out->as<T>() + i * n * columns;
      const Bands<T> b{n, columns, space, space + n, space + 2 * n, x};
      std::copy_n(given, 2 * n, space);
      std::copy_n(rhs->as<T>() + i * n * columns, n * columns, x);
      const bool regular = exchanges ? solve_with_exchanges(b, given + 2 * n) : solve_in_order(b, given + 2 * n);
      if (!regular) std::fill_n(x, n * columns, T(std::numeric_limits<double>::quiet_NaN()));
    }
  });
  return true;
}

TAPEFLOW_ATTRS(BandedAttrs, lower, adjoint);
TAPEFLOW_INPUTS(BandedInputs, matrix, rhs);

template <typename T> T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return std::conj(x);
}

// Replaces x[n, columns] by the solution of one equation with a triangle of a few diagonals.
template <typename T>
void substitute(int64_t bands, int64_t n, int64_t columns, const T* matrix, bool lower, bool adjoint, T* x) {
  const bool forward = lower != adjoint;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    T* row = x + i * columns;
    for (int64_t k = bands - 1; k >= 0; --k) {
      const int64_t j = forward ? i - k : i + k;
      if (j < 0 || j >= n) continue;
      T value = matrix[(lower ? k : bands - 1 - k) * n + (adjoint ? j : i)];
      if (adjoint) value = conjugate(value);
      const T* other = x + j * columns;
      if (k == 0) for (int64_t c = 0; c < columns; ++c) row[c] /= value;
      else for (int64_t c = 0; c < columns; ++c) row[c] -= value * other[c];
    }
  }
}

template <typename T> bool banded_solve(KernelCall& c, const BandedInputs& in, const BandedAttrs& attrs) {
  const Tensor *matrix = in.matrix, *rhs = in.rhs;
  const int rank = matrix->rank();
  bool fits = rank >= 2 && rhs->rank() == rank && matrix->dim(rank - 1) == rhs->dim(rank - 2) &&
              matrix->dim(rank - 2) <= matrix->dim(rank - 1) && matrix->dim(rank - 2) > 0;
  for (int i = 0; fits && i < rank - 2; ++i) fits = matrix->dim(i) == rhs->dim(i);
  if (!fits) return false;  // the Python kernel broadcasts, or says what is wrong
  const int64_t bands = matrix->dim(rank - 2), n = rhs->dim(rank - 2), columns = rhs->dim(rank - 1);
  const bool lower = attrs.lower.b(), adjoint = attrs.adjoint.b();
  const int64_t systems = matrix->size() / (bands * n), main = (lower ? 0 : bands - 1) * n;
  for (int64_t i = 0; i < systems; ++i) {
    const T* diagonal = matrix->as<T>() + i * bands * n + main;
    if (std::find(diagonal, diagonal + n, T{}) != diagonal + n) throw invalid("Input matrix is not invertible.");
  }
  Tensor* out = c.out[0] = new_tensor(rhs->dtype, rhs->shape);
  if (out->size() == 0) return true;
  const double work = static_cast<double>(n * bands) * static_cast<double>(2 + columns);
  ReleaseGil unlock(static_cast<int64_t>(work * static_cast<double>(systems)));
  std::copy_n(rhs->as<T>(), out->size(), out->as<T>());
  parallel_for(systems, work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      substitute(bands, n, columns, matrix->as<T>() + i * bands * n, lower, adjoint, out->as<T>() + i * n * columns);
    }
  });
  return true;
}

template <typename T> void register_for(DType d) {
  register_kernel("TridiagonalSolve", {d}, named<tridiagonal_solve<T>>);
  register_kernel("BandedTriangularSolve", {d}, named<banded_solve<T>>);
}

}  // namespace

void register_tridiagonal() {
  register_for<float>(DType::kFloat32);
  register_for<double>(DType::kFloat64);
  register_for<std::complex<float>>(DType::kComplex64);
  register_for<std::complex<double>>(DType::kComplex128);
}

}  // namespace tapeflow
