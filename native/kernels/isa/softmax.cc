// Softmax and LogSoftmax along the last axis, and their gradients.
#include <cmath>

#include "kernels/registry.h"
#include "rows.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename T> void softmax_row(const T* x, T* y, int64_t n) {
  const T scale = T(1) / exponentials(x, largest(x, n), n, y);
  for_unrolled<T>(n, [&](int, const auto& vector, int64_t c) { vector.store(y + c, vector.load(y + c) * scale); });
}

template <typename T> void log_softmax_row(const T* x, T* y, int64_t n) {
  const T shift = largest(x, n);
  const T offset = std::log(exponentials<T>(x, shift, n, nullptr));
  for_unrolled<T>(n, [&](int, const auto& vector, int64_t c) {
    vector.store(y + c, vector.load(x + c) - broadcast_lane(shift) - broadcast_lane(offset));
  });
}

template <typename T, void (*on_row)(const T*, T*, int64_t)> bool softmax(KernelCall& call) {
  const Tensor* x = call.in[0];
  const int rank = x->rank();
  if (rank < 1) throw invalid("logits must have >= 1 dimension, got ", x->shape->str());
  Tensor* y = new_tensor(x->dtype, x->shape);
  call.out[0] = y;
  if (x->size() == 0) return true;
  const int64_t n = x->dim(rank - 1);
  for_rows(x->size() / n, n, kExpNs<T>, [&](int64_t row) { on_row(x->as<T>() + row * n, y->as<T>() + row * n, n); });
  return true;
}

// dx = (dy - sum(dy y)) y
template <typename T> void softmax_gradient_row(const T* dy, const T* y, T* dx, int64_t n) {
  Vec<T> sums[kUnrolled] = {};
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) { sums[k] += vector.load(dy + c) * vector.load(y + c); });
  const T sum = sum_of<T>(sums);
  for_unrolled<T>(n, [&](int, const auto& vector, int64_t c) {
    vector.store(dx + c, (vector.load(dy + c) - broadcast_lane(sum)) * vector.load(y + c));
  });
}

// dx = dy - sum(dy) exp(y)
template <typename T> void log_softmax_gradient_row(const T* dy, const T* y, T* dx, int64_t n) {
  Vec<T> sums[kUnrolled] = {};
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) { sums[k] += vector.load(dy + c); });
  const T sum = sum_of<T>(sums);
  for_unrolled<T>(n, [&](int, const auto& vector, int64_t c) {
    vector.store(dx + c, vector.load(dy + c) - sum * exponential<T>(vector.load(y + c)));
  });
}

template <typename T, void (*on_row)(const T*, const T*, T*, int64_t)> bool softmax_gradient(KernelCall& call) {
  const Tensor *dy = call.in[0], *y = call.in[1];
  if (y->rank() < 1) throw invalid("the softmax must have >= 1 dimension, got ", y->shape->str());
  if (!dy->shape->same(y->shape))
    throw invalid("gradients and softmax must have the same shape, got ", dy->shape->str(), " and ", y->shape->str());
  Tensor* dx = call.out[0] = new_tensor(y->dtype, y->shape);
  if (y->size() == 0) return true;
  const int64_t n = y->dim(y->rank() - 1);
  for_rows(y->size() / n, n, kExpNs<T>, [&](int64_t row) {
    on_row(dy->as<T>() + row * n, y->as<T>() + row * n, dx->as<T>() + row * n, n);
  });
  return true;
}

template <typename T> void register_for() {
  const std::initializer_list<DType> dtype = {DTypeOf<T>::value};
  register_kernel("Softmax", dtype, softmax<T, softmax_row<T>>);
  register_kernel("LogSoftmax", dtype, softmax<T, log_softmax_row<T>>);
  register_kernel("SoftmaxGrad", dtype, softmax_gradient<T, softmax_gradient_row<T>>);
  register_kernel("LogSoftmaxGrad", dtype, softmax_gradient<T, log_softmax_gradient_row<T>>);
}

}  // namespace

void register_softmax() {
  register_for<float>();
  register_for<double>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
