// MatMul, BatchMatMul and BatchMatMulV2 for float32, float64, int32 and int64.
#include "kernels/registry.h"
#include "product.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Rows of a stored matrix [rows, cols], possibly read as its transpose.
template <typename T> Matrix<T> operand(const T* data, int64_t cols, bool transpose) {
  return transpose ? Matrix<T>{data, 1, cols} : Matrix<T>{data, cols, 1};
}

TAPEFLOW_ATTRS(MatMulAttrs, transpose_a, transpose_b, grad_a, grad_b);
TAPEFLOW_ATTRS(BatchMatMulAttrs, adj_x, adj_y, grad_x, grad_y);

template <typename T> bool matmul(KernelCall& call, const MatMulAttrs& attrs) {
  using W = Wrapping<T>;
  const Tensor *a = call.in[0], *b = call.in[1];
  const bool ta = attrs.transpose_a.b(), tb = attrs.transpose_b.b();
  if (a->rank() < 2) throw invalid("In[0] ndims must be >= 2");
  if (a->rank() > 2) throw invalid("In[0] ndims must be 2: ", a->rank());
  if (b->rank() < 2) throw invalid("In[1] ndims must be >= 2");
  if (b->rank() > 2) throw invalid("In[1] ndims must be 2: ", b->rank());
  const int64_t m = a->dim(ta), k = a->dim(!ta), n = b->dim(!tb);
  if (k != b->dim(tb))
    throw invalid("Matrix size-incompatible: In[0]: ", a->shape->str(),
                  ", In[1]: ", b->shape->str());
  Tensor* out;
  if (n == a->dim(1) && m == a->dim(0)) {
    out = new_tensor(a->dtype, a->shape);
  } else {
    const int64_t dims[2] = {m, n};
    out = new_tensor(a->dtype, 2, dims);
  }
  call.out[0] = out;
  const double madds = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const OneDnn* library = library_for<T>(madds);
  ReleaseGil release(static_cast<int64_t>(std::min(madds * kNs<T>, 1e18)));
  multiply<W>(m, n, k, operand(a->as<W>(), a->dim(1), ta), operand(b->as<W>(), b->dim(1), tb),
              out->as<W>(), library);
  return true;
}

// Which matrix of an operand belongs to a matrix of the result: its batch dimensions as strides,
// 0 where they are broadcast.
struct Batches {
  int rank;
  int64_t dims[kMaxRank];
  int64_t x[kMaxRank], y[kMaxRank];  // strides, in matrices
  int64_t count;
};

void check_rank(const Tensor* x, const Tensor* y, bool broadcasts) {
  if (broadcasts) {
    if (x->rank() < 2) throw invalid("In[0] ndims must be >= 2: ", x->rank());
    if (y->rank() < 2) throw invalid("In[1] ndims must be >= 2: ", y->rank());
    return;
  }
  if (x->rank() != y->rank())
    throw invalid("In[0] and In[1] has different ndims: ", x->shape->str(), " vs. ",
                  y->shape->str());
  if (x->rank() < 2) throw invalid("In[0] and In[1] ndims must be >= 2: ", x->rank());
  for (int i = 0; i < x->rank() - 2; ++i)
    if (x->dim(i) != y->dim(i))
      throw invalid("In[0].dim(", i, ") and In[1].dim(", i, ") must be the same: ", x->shape->str(),
                    " vs ", y->shape->str());
}

void align_batches(const Tensor* x, const Tensor* y, Batches* to) {
  const int rx = x->rank() - 2, ry = y->rank() - 2;
  to->rank = std::max(rx, ry);
  to->count = 1;
  int64_t sx = 1, sy = 1;
  for (int i = to->rank - 1; i >= 0; --i) {
    const int ix = i - (to->rank - rx), iy = i - (to->rank - ry);
    const int64_t dx = ix >= 0 ? x->dim(ix) : 1, dy = iy >= 0 ? y->dim(iy) : 1;
    if (dx != dy && dx != 1 && dy != 1)
      throw invalid("In[0] and In[1] must have compatible batch dimensions: ", x->shape->str(),
                    " vs. ", y->shape->str());
    to->dims[i] = dx == 1 ? dy : dx;
    to->x[i] = dx == 1 ? 0 : sx;
    to->y[i] = dy == 1 ? 0 : sy;
    sx *= dx;
    sy *= dy;
    if (__builtin_mul_overflow(to->count, to->dims[i], &to->count))
      throw invalid("Too many matrices: ", x->shape->str(), " vs. ", y->shape->str());
  }
}

template <typename T, bool broadcasts>
bool batch_matmul(KernelCall& call, const BatchMatMulAttrs& attrs) {
  using W = Wrapping<T>;
  const Tensor *x = call.in[0], *y = call.in[1];
  const bool tx = attrs.adj_x.b(), ty = attrs.adj_y.b();
  check_rank(x, y, broadcasts);
  Batches batches;
  align_batches(x, y, &batches);
  const int rx = x->rank(), ry = y->rank();
  const int64_t x_cols = x->dim(rx - 1), y_cols = y->dim(ry - 1);
  const int64_t m = x->dim(rx - 2 + tx), k = x->dim(rx - 1 - tx), n = y->dim(ry - 1 - ty);
  if (k != y->dim(ry - 2 + ty))
    throw invalid("Matrix size-incompatible: In[0]: ", x->shape->str(),
                  ", In[1]: ", y->shape->str(), " ", tx, " ", ty);
  if (batches.rank + 2 > kMaxRank) throw invalid("Too many dimensions: ", batches.rank + 2);
  int64_t dims[kMaxRank];
  for (int i = 0; i < batches.rank; ++i) dims[i] = batches.dims[i];
  dims[batches.rank] = m;
  dims[batches.rank + 1] = n;
  Tensor* out = new_tensor(x->dtype, batches.rank + 2, dims);
  call.out[0] = out;
  if (out->size() == 0) return true;

  const double madds = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const OneDnn* library = library_for<T>(madds);
  const double ns = madds * kNs<T> + 10;
  const double count = static_cast<double>(batches.count);
  ReleaseGil release(static_cast<int64_t>(std::min(ns * count, 1e18)));
  const auto some = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      int64_t ix = 0, iy = 0, rest = i;
      for (int d = batches.rank - 1; d >= 0; --d) {
        const int64_t at = rest % batches.dims[d];
        rest /= batches.dims[d];
        ix += at * batches.x[d];
        iy += at * batches.y[d];
      }
      multiply<W>(m, n, k, operand(x->as<W>() + ix * m * k, x_cols, tx),
                  operand(y->as<W>() + iy * k * n, y_cols, ty), out->as<W>() + i * m * n, library);
    }
  };
  share_products<T>(batches.count, madds, some);
  return true;
}

template <typename T> void register_for() {
  const std::initializer_list<DType> dtype = {DTypeOf<T>::value};
  register_kernel("MatMul", dtype, named<matmul<T>>);
  register_kernel("BatchMatMul", dtype, named<batch_matmul<T, false>>);
  register_kernel("BatchMatMulV2", dtype, named<batch_matmul<T, true>>);
}

}  // namespace

void register_matmul() {
  register_for<float>();
  register_for<double>();
  register_for<int32_t>();
  register_for<int64_t>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
