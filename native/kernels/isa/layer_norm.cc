// LayerNormRows: normalization along the last axis, and its gradient.
#include <cmath>
#include <cstring>

#include "kernels/registry.h"
#include "rows.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename T> constexpr double kPassNs = 0.15 * sizeof(T) / 4;

TAPEFLOW_ATTRS(LayerNormAttrs, epsilon);
TAPEFLOW_INPUTS(LayerNormInputs, x, gamma, beta);
TAPEFLOW_INPUTS(LayerNormGradInputs, dy, x, gamma, mean, rate);

// x as rows of n elements.
struct Rows {
  int64_t count, n;
};

Rows rows_of(const Tensor* x) {
  if (x->rank() < 1) throw invalid("x must have >= 1 dimension, got ", x->shape->str());
  const int64_t n = x->dim(x->rank() - 1);
  return {n == 0 ? 0 : x->size() / n, n};
}

// The weights of each element of a row; null: none are given.
template <typename T> const T* weights(const char* name, const Tensor* t, const Tensor* x, int64_t n) {
  if (t->rank() != 1) throw invalid(name, " must be 1-dimensional, got ", t->shape->str());
  if (t->size() != 0 && t->size() != n)
    throw invalid(name, " must have as many elements as the last axis of x, or none, got ", t->shape->str(), " and ",
                  x->shape->str());
  return t->size() == 0 ? nullptr : t->as<T>();
}

ShapeRef without_last(const Tensor* x) { return {x->rank() - 1, x->shape->dims}; }

template <typename T> struct RowMoments {
  T mean, rate;
};

template <typename T> RowMoments<T> moments(const T* x, int64_t n, T epsilon) {
  Vec<T> sums[kUnrolled] = {};
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) { sums[k] += vector.load(x + c); });
  const T mean = sum_of<T>(sums) / static_cast<T>(n);
  Vec<T> squares[kUnrolled] = {};
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) {
    const Vec<T> d = vector.keep(vector.load(x + c) - broadcast_lane(mean), T{});
    squares[k] += d * d;
  });
  return {mean, T(1) / std::sqrt(sum_of<T>(squares) / static_cast<T>(n) + epsilon)};
}

template <typename T>
void normalize_row(const T* x, RowMoments<T> m, const T* gamma, const T* beta, T* y, int64_t n) {
  for_unrolled<T>(n, [&](int, const auto& vector, int64_t c) {
    Vec<T> v = (vector.load(x + c) - broadcast_lane(m.mean)) * m.rate;
    if (gamma) v *= vector.load(gamma + c);
    if (beta) v += vector.load(beta + c);
    vector.store(y + c, v);
  });
}

template <typename T> bool layer_norm(KernelCall& call, const LayerNormAttrs& attrs, const LayerNormInputs& in) {
  const auto [count, n] = rows_of(in.x);
  const T *gamma = weights<T>("gamma", in.gamma, in.x, n), *beta = weights<T>("beta", in.beta, in.x, n);
  if (n == 0) return false;
  const T epsilon = static_cast<T>(attrs.epsilon.f), *x = in.x->as<T>();
  const ShapeRef outer = without_last(in.x);
  T* const y = (call.out[0] = new_tensor(in.x->dtype, in.x->shape))->template as<T>();
  T* const mean = (call.out[1] = new_tensor(in.x->dtype, outer.get()))->template as<T>();
  T* const rate = (call.out[2] = new_tensor(in.x->dtype, outer.get()))->template as<T>();
  for_rows(count, n, 3 * kPassNs<T>, [=, n = n](int64_t row) {
    const RowMoments<T> m = moments(x + row * n, n, epsilon);
    mean[row] = m.mean;
    rate[row] = m.rate;
    normalize_row(x + row * n, m, gamma, beta, y + row * n, n);
  });
  return true;
}

// A row's dx; what it adds to dgamma and dbeta.
template <typename T>
void gradient_row(const T* dy, const T* x, const T* gamma, RowMoments<T> m, T* dx, T* dgamma, T* dbeta, int64_t n) {
  Vec<T> sums[kUnrolled] = {}, products[kUnrolled] = {};
  for_unrolled<T>(n, [&](int k, const auto& vector, int64_t c) {
    const Vec<T> d = vector.load(dy + c);
    const Vec<T> normal = vector.keep((vector.load(x + c) - broadcast_lane(m.mean)) * m.rate, T{});
    vector.store(dgamma + c, vector.load(dgamma + c) + d * normal);
    vector.store(dbeta + c, vector.load(dbeta + c) + d);
    const Vec<T> g = gamma ? d * vector.load(gamma + c) : d;
    sums[k] += g;
    products[k] += g * normal;
  });
  const T sum = sum_of<T>(sums) / static_cast<T>(n), product = sum_of<T>(products) / static_cast<T>(n);
  for_unrolled<T>(n, [&](int, const auto& vector, int64_t c) {
    const Vec<T> d = vector.load(dy + c), g = gamma ? d * vector.load(gamma + c) : d;
    const Vec<T> normal = (vector.load(x + c) - broadcast_lane(m.mean)) * m.rate;
    vector.store(dx + c, (g - broadcast_lane(sum) - normal * product) * m.rate);
  });
}

void require_shape(const char* name, const Tensor* t, const Shape* shape) {
  if (!t->shape->same(shape)) throw invalid(name, " must have shape ", shape->str(), ", got ", t->shape->str());
}

template <typename T>
bool layer_norm_gradient(KernelCall& call, const LayerNormAttrs&, const LayerNormGradInputs& in) {
  const auto [count, n] = rows_of(in.x);
  require_shape("dy", in.dy, in.x->shape);
  const ShapeRef outer = without_last(in.x);
  require_shape("mean", in.mean, outer.get());
  require_shape("rate", in.rate, outer.get());
  const T* const gamma = weights<T>("gamma", in.gamma, in.x, n);
  const T *dy = in.dy->as<T>(), *x = in.x->as<T>(), *mean = in.mean->as<T>(), *rate = in.rate->as<T>();
  T* const dx = (call.out[0] = new_tensor(in.x->dtype, in.x->shape))->template as<T>();
  T* const dgamma = (call.out[1] = new_tensor(in.x->dtype, 1, &n))->template as<T>();
  T* const dbeta = (call.out[2] = new_tensor(in.x->dtype, 1, &n))->template as<T>();
  // Groups of rows add up sums of their own, as many for any number of threads, so that results do not depend on it.
  const int64_t group = std::max<int64_t>(16, (count + 63) / 64), groups = (count + group - 1) / group;
  Scratch scratch(static_cast<size_t>(2 * n * std::max<int64_t>(groups, 1)) * sizeof(T));
  T* const partial = scratch.as<T>();
  std::memset(partial, 0, static_cast<size_t>(2 * n * groups) * sizeof(T));
  const double ns = static_cast<double>(group * n) * 3 * kPassNs<T>;
  ReleaseGil release(static_cast<int64_t>(ns * static_cast<double>(groups)));
  parallel_for(groups, ns, [=, count = count, n = n](int64_t from, int64_t to) {
    for (int64_t g = from; g < to; ++g)
      for (int64_t row = g * group; row < std::min(count, (g + 1) * group); ++row)
        gradient_row(dy + row * n, x + row * n, gamma, {mean[row], rate[row]}, dx + row * n, partial + 2 * g * n,
                     partial + (2 * g + 1) * n, n);
  });
  std::fill(dgamma, dgamma + n, T{});
  std::fill(dbeta, dbeta + n, T{});
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < n; ++c) {
      dgamma[c] += partial[2 * g * n + c];
      dbeta[c] += partial[(2 * g + 1) * n + c];
    }
  return true;
}

template <typename T> void register_for() {
  const std::initializer_list<DType> dtype = {DTypeOf<T>::value};
  register_kernel("LayerNormRows", dtype, named<layer_norm<T>>);
  register_kernel("LayerNormRowsGrad", dtype, named<layer_norm_gradient<T>>);
}

}  // namespace

void register_layer_norm() {
  register_for<float>();
  register_for<double>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
