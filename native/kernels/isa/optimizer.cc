// Optimizer updates, in place. Each is one rule for one element, used densely and for rows given by indices.
#include "kernels/isa/optimizer_rules.h"

#include <cmath>
#include <type_traits>

#include "threads.h"
#include "variable.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename R>
void check_slots(const KernelCall& c) {
  const Tensor* var = variable_of(c.in[0])->value;
  for (int i = 1; i <= R::kSlots; ++i) {
    const Tensor* slot = variable_of(c.in[i])->value;
    if (!slot->shape->same(var->shape)) {
      throw invalid("var and ", R::names[i], " do not have the same shape", var->shape->str(), " ", slot->shape->str());
    }
  }
}

// The variable and slots in c.in[0..kSlots], made writable. False: not for this kernel.
template <typename T, int kSlots>
bool target(KernelCall& c, T** x) {
  for (int i = 0; i <= kSlots; ++i) {
    Variable* v = variable_of(c.in[i]);
    if (!v->value->on_host() || v->value->dtype != DTypeOf<T>::value) return false;
    for (int k = 0; k < i; ++k) if (variable_of(c.in[k]) == v) return false;
  }
  for (int i = 0; i <= kSlots; ++i) x[i] = writable_value(variable_of(c.in[i]))->template as<T>();
  return true;
}

template <typename Rule, typename T>
void sweep(const Rule& r, T* __restrict v, T* __restrict a, T* __restrict b, T* __restrict d, const T* __restrict g,
           int64_t n) {
  const Rule rule = r;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (Rule::kSlots == 0) rule(v[i], g[i]);
    if constexpr (Rule::kSlots == 1) rule(v[i], a[i], g[i]);
    if constexpr (Rule::kSlots == 2) rule(v[i], a[i], b[i], g[i]);
    if constexpr (Rule::kSlots == 3) rule(v[i], a[i], b[i], d[i], g[i]);
  }
}

template <typename Rule, typename T>
void sweep_at(const Rule& rule, T* const* x, int64_t at, const T* g, int64_t n) {
  sweep(rule, x[0] + at, x[1] + at, x[2] + at, x[3] + at, g, n);
}

// Scalars are read before anything is made writable, so that a bad one changes nothing.
template <typename T, template <typename> class Rule>
bool dense(KernelCall& c) {
  using R = Rule<T>;
  const Tensor* grad = c.in[R::kGrad];
  const Tensor* var = variable_of(c.in[0])->value;
  check_slots<R>(c);
  const R rule = R::read(Scalars<T>{c, 0, 0});
  if (!var->shape->same(grad->shape)) {
    throw invalid("var and ", R::names[0], " do not have the same shape", var->shape->str(), " ", grad->shape->str());
  }
  T* x[4] = {};
  if (!target<T, R::kSlots>(c, x)) return false;
  const int64_t n = grad->size();
  const T* g = grad->as<T>();
  const double ns = R::kNs * sizeof(T) / 4;
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(n) * ns));
  parallel_for(n, ns, [&](int64_t begin, int64_t end) { sweep_at(rule, x, begin, g + begin, end - begin); });
  return true;
}

// The inputs are the dense op's with indices after grad.
template <typename T, template <typename> class Rule>
bool sparse(KernelCall& c) {
  using R = Rule<T>;
  const Tensor *grad = c.in[R::kGrad], *indices = c.in[R::kGrad + 1];
  const Tensor* var = variable_of(c.in[0])->value;
  if (indices->dtype != DType::kInt32 && indices->dtype != DType::kInt64) return false;
  check_slots<R>(c);
  if (var->rank() < 1) throw invalid("var must be at least 1 dimensional");
  const R rule = R::read(Scalars<T>{c, R::kGrad + 1, 1});
  if (indices->rank() != 1) throw invalid("indices must be one-dimensional");
  if (grad->rank() != var->rank()) {
    throw invalid("var and grad do not have the same rank: ", var->shape->str(), " ", grad->shape->str());
  }
  for (int i = 1; i < var->rank(); ++i) {
    if (var->dim(i) != grad->dim(i)) throw invalid("var and grad must match in dimension ", i);
  }
  const int64_t rows = indices->size();
  if (grad->dim(0) != rows) throw invalid("grad must be the same size as indices in the first dimension.");
  auto index = [indices](int64_t i) -> int64_t {
    return indices->dtype == DType::kInt64 ? indices->as<int64_t>()[i] : indices->as<int32_t>()[i];
  };
  for (int64_t i = 0; i < rows; ++i) {
    if (index(i) < 0 || index(i) >= var->dim(0)) {
      throw invalid("Index ", index(i), " at offset ", i, " in indices is out of range");
    }
  }
  T* x[4] = {};
  if (!target<T, R::kSlots>(c, x)) return false;
  const int64_t columns = rows == 0 ? 0 : grad->size() / rows;
  const T* g = grad->as<T>();
  const double ns = static_cast<double>(rows) * (1 + R::kNs);
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(columns) * ns));
  // An index may come twice and then counts twice: threads split the columns, each takes the rows in order.
  parallel_for(columns, columns >= 32 ? ns : 0, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
      sweep_at(rule, x, index(i) * columns + begin, g + i * columns + begin, end - begin);
    }
  });
  return true;
}

template <template <typename> class Rule>
void both(const char* op, const char* sparse_op = nullptr) {
  register_kernel(op, {DType::kFloat32}, dense<float, Rule>);
  register_kernel(op, {DType::kFloat64}, dense<double, Rule>);
  if (!sparse_op) return;
  register_kernel(sparse_op, {DType::kFloat32}, sparse<float, Rule>);
  register_kernel(sparse_op, {DType::kFloat64}, sparse<double, Rule>);
}

}  // namespace

void register_optimizer() {
  both<GradientDescent>("ResourceApplyGradientDescent");
  both<Momentum>("ResourceApplyMomentum", "ResourceSparseApplyMomentum");
  both<KerasMomentum>("ResourceApplyKerasMomentum", "ResourceSparseApplyKerasMomentum");
  both<Adam>("ResourceApplyAdam");
  both<AdamWithAmsgrad>("ResourceApplyAdamWithAmsgrad");
  both<AdaMax>("ResourceApplyAdaMax");
  both<Adagrad>("ResourceApplyAdagrad", "ResourceSparseApplyAdagrad");
  both<AdagradV2>("ResourceApplyAdagradV2", "ResourceSparseApplyAdagradV2");
  both<Adadelta>("ResourceApplyAdadelta", "ResourceSparseApplyAdadelta");
  both<RMSProp>("ResourceApplyRMSProp", "ResourceSparseApplyRMSProp");
  both<CenteredRMSProp>("ResourceApplyCenteredRMSProp", "ResourceSparseApplyCenteredRMSProp");
  both<Ftrl>("ResourceApplyFtrl", "ResourceSparseApplyFtrl");
  both<FtrlV2>("ResourceApplyFtrlV2", "ResourceSparseApplyFtrlV2");
  both<ProximalGradientDescent>("ResourceApplyProximalGradientDescent", "ResourceSparseApplyProximalGradientDescent");
  both<ProximalAdagrad>("ResourceApplyProximalAdagrad", "ResourceSparseApplyProximalAdagrad");
  both<AddSign>("ResourceApplyAddSign");
  both<PowerSign>("ResourceApplyPowerSign");
}

}  // namespace tapeflow::TAPEFLOW_ISA
