// Equations of triangular matrices, LU and Cholesky factors, and what is solved by them: Lu, MatrixSolve, MatrixInverse,
// MatrixTriangularSolve and Cholesky. They work on blocks of rows, so that most of the arithmetic is matrix products
// (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition, 3.1, 3.4 and 4.2).
#include <cmath>
#include <limits>

#include "kernels/indexing.h"
#include "kernels/registry.h"
#include "product.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

constexpr int64_t kBlock = 32;

// x[0..m) -= sum over k of a[0, k] rows[k][0..m), then /= divisor.
template <typename T>
void eliminate(int64_t m, int64_t k, Matrix<T> a, const T* rows, int64_t stride, T divisor, T* x) {
  constexpr int n = kLanes<T>;
  const auto columns = [&](auto count, auto&& get, auto&& put) {
    constexpr int vectors = decltype(count)::value;
    Vec<T> sum[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[v] = get(x + v * n);
    for (int64_t p = 0; p < k; ++p) {
      const Vec<T> factor = broadcast_lane(a.data[p * a.cols]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[v] -= factor * get(rows + p * stride + v * n);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) put(x + v * n, divisor == 1 ? sum[v] : sum[v] / divisor);
    x += vectors * n;
    rows += vectors * n;
    m -= vectors * n;
  };
  const auto whole = [](const T* p) { return load(p); };
  const auto back = [](T* p, Vec<T> v) { store(p, v); };
  while (m >= 4 * n) columns(std::integral_constant<int, 4>{}, whole, back);
  while (m >= n) columns(std::integral_constant<int, 1>{}, whole, back);
  if (m == 0) return;
  const Lanes<T> last(static_cast<int>(m));
  columns(std::integral_constant<int, 1>{}, [&](const T* p) { return last.load(p); },
          [&](T* p, Vec<T> v) { last.store(p, v); });
}

// c[m, n] -= a b.
template <typename T>
void subtract_product(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t stride, T* space) {
  if (m == 0 || n == 0) return;
  multiply<T>(m, n, k, a, b, space, library_for<T>(static_cast<double>(m * n * k)));
  for (int64_t i = 0; i < m; ++i) {
    T* __restrict row = c + i * stride;
    const T* __restrict product = space + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] -= product[j];
  }
}

// Replaces x[n, m] by the solution of A X = x, where A is a triangle of a. `space` holds n * m numbers.
template <typename T>
void solve_triangle(int64_t n, int64_t m, Matrix<T> a, bool lower, bool unit, T* x, int64_t stride, T* space) {
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t start = (lower ? b : blocks - 1 - b) * kBlock, end = std::min(start + kBlock, n);
    for (int64_t r = start; r < end; ++r) {
      const int64_t i = lower ? r : start + end - 1 - r, first = lower ? start : i + 1;
      eliminate<T>(m, (lower ? i : end) - first, a.at(i, first), x + first * stride, stride,
                   unit ? T(1) : *a.at(i, i).data, x + i * stride);
    }
    const int64_t rest = lower ? end : 0;
    subtract_product<T>(lower ? n - end : start, m, end - start, a.at(rest, start), {x + start * stride, stride, 1},
                        x + rest * stride, stride, space);
  }
}

// Factors the columns [start, end) of a[n, n] below row `start`, exchanging whole rows.
template <typename T> void factor_columns(int64_t n, int64_t start, int64_t end, T* a, int64_t* order) {
  for (int64_t k = start; k < end; ++k) {
    int64_t pivot = k;
    T largest = std::abs(a[k * n + k]);
    for (int64_t i = k + 1; i < n && largest == largest; ++i) {
      const T size = std::abs(a[i * n + k]);
      if (!(size <= largest)) {
        largest = size;
        pivot = i;
      }
    }
    T* top = a + k * n;
    if (pivot != k) {
      std::swap_ranges(top, top + n, a + pivot * n);
      std::swap(order[k], order[pivot]);
    }
    for (int64_t i = k + 1; i < n; ++i) {
      T* __restrict row = a + i * n;
      const T factor = row[k] /= top[k];
      for (int64_t j = k + 1; j < end; ++j) row[j] -= factor * top[j];
    }
  }
}

// Replaces a[n, n] by its factors; order[i] becomes the row that comes to place i. `space` holds n * n numbers.
template <typename T> void factor(int64_t n, T* a, int64_t* order, T* space) {
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(start + kBlock, n), rest = n - end;
    factor_columns(n, start, end, a, order);
    if (rest == 0) break;
    T* right = a + start * n + end;
    solve_triangle<T>(end - start, rest, {a + start * n + start, n, 1}, true, true, right, n, space);
    subtract_product<T>(rest, rest, end - start, {a + end * n + start, n, 1}, {right, n, 1}, a + end * n + end, n, space);
  }
}

// Replaces the lower triangle of a[n, n] by its Cholesky factor; false where the matrix is not positive definite.
template <typename T> bool cholesky_factor(int64_t n, T* a, T* space) {
  T* const panel = space + n * n;  // the columns below a block, as rows
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(start + kBlock, n), rest = n - end;
    for (int64_t i = start; i < end; ++i) {
      for (int64_t j = start; j <= i; ++j) {
        T value = a[i * n + j];
        for (int64_t k = start; k < j; ++k) value -= a[i * n + k] * a[j * n + k];
        if (j == i && value <= 0) return false;
        a[i * n + j] = j == i ? std::sqrt(value) : value / a[j * n + j];
      }
    }
    for (int64_t i = 0; i < rest; ++i)
      for (int64_t k = start; k < end; ++k) panel[(k - start) * rest + i] = a[(end + i) * n + k];
    solve_triangle<T>(end - start, rest, {a + start * n + start, n, 1}, true, false, panel, rest, space);
    for (int64_t i = 0; i < rest; ++i)
      for (int64_t k = start; k < end; ++k) a[(end + i) * n + k] = panel[(k - start) * rest + i];
    const Matrix<T> left = {a + end * n + start, n, 1};
    constexpr int64_t wide = 4 * kBlock;  // the upper triangle is left out, but for that of such blocks
    for (int64_t j = 0; j < rest; j += wide)
      subtract_product<T>(rest - j, std::min(wide, rest - j), end - start, left.at(j, 0), {panel + j, rest, 1},
                          a + (end + j) * n + end + j, n, space);
  }
  return true;
}

bool square(const Tensor* t) { return t->rank() >= 2 && t->dim(t->rank() - 1) == t->dim(t->rank() - 2); }

bool same_stacks(const Tensor* a, const Tensor* b) {
  if (a->rank() != b->rank()) return false;
  for (int i = 0; i < a->rank() - 2; ++i) if (a->dim(i) != b->dim(i)) return false;
  return true;
}

// f(i, a scratch of `numbers` numbers) for each of a stack of matrices, each of which takes so many multiplications.
template <typename T, typename F> void for_each_matrix(int64_t count, double madds, int64_t numbers, F&& f) {
  ReleaseGil unlock(static_cast<int64_t>(std::min(madds * kNs<T> * 2 * static_cast<double>(count), 1e18)));
  share_products<T>(count, madds, [&](int64_t begin, int64_t end) {
    Scratch space(static_cast<size_t>(numbers + 16) * sizeof(T));
    for (int64_t i = begin; i < end; ++i) f(i, space.as<T>());
  });
}

double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

// Whether the smallest pivot is above zero, where a NaN is the smallest only as the first of all.
template <typename T> bool regular(int64_t n, const T* factors) {
  for (int64_t i = 0; i < n; ++i) if (factors[i * n + i] == 0) return false;
  return n == 0 || factors[0] == factors[0];
}

TAPEFLOW_ATTRS(LuAttrs, output_idx_type);

template <typename T> bool lu(KernelCall& c, const LuAttrs& attrs) {
  const Tensor* input = c.in[0];
  const DType type = attrs.output_idx_type.type();
  if (!square(input) || !is_index_dtype(type)) return false;
  const int64_t n = input->dim(input->rank() - 1);
  Tensor* out = c.out[0] = new_tensor(input->dtype, input->shape);
  Tensor* p = c.out[1] = new_tensor(type, input->rank() - 1, input->shape->dims);
  if (out->size() == 0) return true;
  const int64_t count = out->size() / (n * n);
  std::atomic<bool> singular = false;
  for_each_matrix<T>(count, cube(n) / 3, n * n + n * static_cast<int64_t>(sizeof(int64_t) / sizeof(T)), [&](int64_t i, T* space) {
    T* a = out->as<T>() + i * n * n;
    auto* order = reinterpret_cast<int64_t*>(space);
    std::copy_n(input->as<T>() + i * n * n, n * n, a);
    factor(n, a, order, reinterpret_cast<T*>(order + n));
    if (!regular(n, a)) singular = true;
    if (type == DType::kInt64) std::copy_n(order, n, p->as<int64_t>() + i * n);
    else std::copy_n(order, n, p->as<int32_t>() + i * n);
  });
  if (singular) throw invalid("Input is not invertible.");
  return true;
}

// Solves a x = b by the factors of a, the transpose of which is taken first with `adjoint`; false for a singular one.
// `b` null: the unit matrix.
template <typename T> bool solve_one(int64_t n, int64_t m, const T* a, const T* b, bool adjoint, T* x, T* space) {
  auto* order = reinterpret_cast<int64_t*>(space);
  T *factors = reinterpret_cast<T*>(order + n), *rest = factors + n * n;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) factors[i * n + j] = adjoint ? a[j * n + i] : a[i * n + j];
  factor(n, factors, order, rest);
  if (!regular(n, factors)) return false;
  if (!b) std::fill_n(x, n * n, T{});
  for (int64_t i = 0; i < n; ++i) {
    if (b) std::copy_n(b + order[i] * m, m, x + i * m);
    else x[i * m + order[i]] = 1;
  }
  solve_triangle<T>(n, m, {factors, n, 1}, true, true, x, m, rest);
  solve_triangle<T>(n, m, {factors, n, 1}, false, false, x, m, rest);
  return true;
}

template <typename T> bool solve_all(KernelCall& c, const Tensor* matrix, const Tensor* rhs, bool adjoint) {
  const int64_t n = matrix->dim(matrix->rank() - 1), m = rhs ? rhs->dim(rhs->rank() - 1) : n;
  Tensor* out = c.out[0] = new_tensor(matrix->dtype, (rhs ? rhs : matrix)->shape);
  if (out->size() == 0) return true;
  std::atomic<bool> singular = false;
  const int64_t numbers = n * static_cast<int64_t>(sizeof(int64_t) / sizeof(T)) + n * n + n * std::max(m, n);
  for_each_matrix<T>(out->size() / (n * m), cube(n) / 3 + static_cast<double>(n * n) * static_cast<double>(m), numbers,
                     [&](int64_t i, T* space) {
    const T* b = rhs ? rhs->as<T>() + i * n * m : nullptr;
    if (!solve_one(n, m, matrix->as<T>() + i * n * n, b, adjoint, out->as<T>() + i * n * m, space)) singular = true;
  });
  if (singular) throw invalid(rhs ? "Input matrix is not invertible." : "Input is not invertible.");
  return true;
}

TAPEFLOW_ATTRS(AdjointAttrs, adjoint);
TAPEFLOW_INPUTS(EquationInputs, matrix, rhs);

template <typename T> bool matrix_solve(KernelCall& c, const EquationInputs& in, const AdjointAttrs& attrs) {
  const Tensor *matrix = in.matrix, *rhs = in.rhs;
  const bool fits = square(matrix) && same_stacks(matrix, rhs) && matrix->dim(matrix->rank() - 1) == rhs->dim(rhs->rank() - 2);
  return fits && solve_all<T>(c, matrix, rhs, attrs.adjoint.b());
}

template <typename T> bool matrix_inverse(KernelCall& c, const AdjointAttrs& attrs) {
  return square(c.in[0]) && solve_all<T>(c, c.in[0], nullptr, attrs.adjoint.b());
}

TAPEFLOW_ATTRS(TriangularAttrs, lower, adjoint);

template <typename T> bool triangular_solve(KernelCall& c, const EquationInputs& in, const TriangularAttrs& attrs) {
  const Tensor *matrix = in.matrix, *rhs = in.rhs;
  const bool one = matrix->rank() == 2 && rhs->rank() > 2;  // for all equations
  if (!square(matrix) || !(one || same_stacks(matrix, rhs)) || matrix->dim(matrix->rank() - 1) != rhs->dim(rhs->rank() - 2))
    return false;
  const int64_t n = matrix->dim(matrix->rank() - 1), m = rhs->dim(rhs->rank() - 1);
  Tensor* out = c.out[0] = new_tensor(rhs->dtype, rhs->shape);
  if (out->size() == 0) return true;
  const bool adjoint = attrs.adjoint.b(), lower = attrs.lower.b() != adjoint;
  const double madds = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(m) / 2;
  for_each_matrix<T>(out->size() / (n * m), madds, n * m, [&](int64_t i, T* space) {
    T* x = out->as<T>() + i * n * m;
    std::copy_n(rhs->as<T>() + i * n * m, n * m, x);
    const Matrix<T> a = {matrix->as<T>() + (one ? 0 : i * n * n), n, 1};
    solve_triangle<T>(n, m, adjoint ? a.transposed() : a, lower, false, x, m, space);
  });
  return true;
}

template <typename T> bool cholesky(KernelCall& c) {
  const Tensor* input = c.in[0];
  if (!square(input)) return false;
  const int64_t n = input->dim(input->rank() - 1);
  Tensor* out = c.out[0] = new_tensor(input->dtype, input->shape);
  if (out->size() == 0) return true;
  for_each_matrix<T>(out->size() / (n * n), cube(n) / 6, n * n + n * kBlock, [&](int64_t i, T* space) {
    T* a = out->as<T>() + i * n * n;
    std::copy_n(input->as<T>() + i * n * n, n * n, a);
    const bool positive = cholesky_factor(n, a, space);
    for (int64_t r = 0; r < n; ++r) {
      if (!positive) std::fill_n(a + r * n, r + 1, std::numeric_limits<T>::quiet_NaN());
      std::fill_n(a + r * n + r + 1, n - r - 1, T{});
    }
  });
  return true;
}

template <typename T> void register_for(DType d) {
  register_kernel("Lu", {d}, named<lu<T>>);
  register_kernel("MatrixSolve", {d}, named<matrix_solve<T>>);
  register_kernel("MatrixInverse", {d}, named<matrix_inverse<T>>);
  register_kernel("MatrixTriangularSolve", {d}, named<triangular_solve<T>>);
  register_kernel("Cholesky", {d}, cholesky<T>);
}

}  // namespace

void register_triangular() {
  register_for<float>(DType::kFloat32);
  register_for<double>(DType::kFloat64);
}

}  // namespace tapeflow::TAPEFLOW_ISA
