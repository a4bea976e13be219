// Optimizer updates, in place. Each is one rule for one element, used for one variable, for rows given by indices, and
// for many variables at once.
#include <algorithm>

#include "kernels/isa/optimizer_update.h"
#include "kernels/optimizer_rows.h"
#include "op.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Scalars are read before anything is made writable, so that a bad one changes nothing.
template <typename T, template <typename> class Rule>
bool dense(KernelCall& c, const typename Rule<T>::Attrs& attrs, const InputsOf<Rule<T>, kDense>&) {
  using R = Rule<T>;
  const Tensor* grad = c.in[R::kGrad];
  WritableValues values(c.in, R::kSlots + 1);
  check_slots<R>(values);
  const R rule = R::read(Scalars<T, typename R::Attrs>{c, attrs, R::In::names, R::kGrad, 0, 0});
  check_gradient<R>(values.now(0), grad);
  if (!is_target<T>(values, R::kSlots + 1)) return false;
  const Elements<T, R::kSlots> to(values);
  T* const* x = to.x;
  const int64_t n = grad->size();
  const T* g = grad->as<T>();
  const double ns = R::kNs * sizeof(T) / 4;
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(n) * ns));
  parallel_for(n, ns, [&](int64_t begin, int64_t end) { sweep_at(rule, x, begin, g + begin, end - begin); });
  return true;
}

// The inputs are the dense op's with indices after grad.
template <typename T, template <typename> class Rule>
bool sparse(KernelCall& c, const typename Rule<T>::Attrs& attrs, const InputsOf<Rule<T>, kRows>&) {
  using R = Rule<T>;
  const Tensor *grad = c.in[R::kGrad], *indices = c.in[R::kGrad + 1];
  WritableValues values(c.in, R::kSlots + 1);
  const Tensor* var = values.now(0);
  check_slots<R>(values);
  if (var->rank() < 1) throw invalid("var must be at least 1 dimensional");
  const R rule = R::read(Scalars<T, typename R::Attrs>{c, attrs, R::In::names, R::kGrad, 0, 1});
  check_rows(var, grad, indices);
  if (!is_target<T>(values, R::kSlots + 1)) return false;
  const Elements<T, R::kSlots> to(values);
  T* const* x = to.x;
  const int64_t rows = indices->size(), columns = rows == 0 ? 0 : grad->size() / rows;
  const T* g = grad->as<T>();
  const double ns = static_cast<double>(rows) * (1 + R::kNs);
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(columns) * ns));
  // An index may come twice and then counts twice: threads split the columns, each takes the rows in order.
  parallel_for(columns, columns >= 32 ? ns : 0, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = indices->dtype == DType::kInt64 ? indices->as<int64_t>()[i] : indices->as<int32_t>()[i];
      sweep_at(rule, x, row * columns + begin, g + i * columns + begin, end - begin);
    }
  });
  return true;
}

// One of many variables with its slots and gradient, and the number of elements of those before it.
template <typename T>
struct Part {
  T* x[4];
  const T* g;
  int64_t first, size;
};

// The inputs are all variables, all first slots, all second ones..., the dense op's scalars, and all gradients.
template <typename T, template <typename> class Rule>
bool many(KernelCall& c, const typename Rule<T>::Attrs& attrs, const InputsOf<Rule<T>, kMany>&) {
  using R = Rule<T>;
  constexpr int kKinds = R::kSlots + 1;
  const int n_scalars = static_cast<int>(c.op->inputs->size()) - 2;
  int n_variables = 0;
  while (n_variables < c.n_in && c.in[n_variables]->dtype == DType::kResource) ++n_variables;
  const int n = c.n_in - n_variables - n_scalars;
  if (n < 0 || n_variables != n * kKinds) {
    throw invalid("For ", n, " gradients there must be as many variables", R::kSlots ? ", each with its slots" : "",
                  ": ", n * kKinds, ", got ", n_variables);
  }
  Tensor* const* grads = c.in + n_variables + n_scalars;
  WritableValues values(c.in, n_variables);
  for (int i = 0; i < n; ++i) {
    const Tensor* var = values.now(i);
    for (int k = 1; k < kKinds; ++k) check_slot(var, values.now(k * n + i), name_of<R>(k));
    check_gradient<R>(var, grads[i]);
  }
  const R rule = R::read(Scalars<T, typename R::Attrs>{c, attrs, R::In::names, R::kGrad, n_variables - kKinds,
                                                         n_variables - kKinds - 1});
  if (!is_target<T>(values, n_variables)) return false;
  Scratch<Part<T>> parts(n);
  int64_t total = 0;
  for (int i = 0; i < n; ++i) {
    Part<T>& part = parts[i];
    for (int k = 0; k < kKinds; ++k) part.x[k] = values.writable(k * n + i)->template as<T>();
    for (int k = kKinds; k < 4; ++k) part.x[k] = nullptr;
    part.g = grads[i]->template as<T>();
    part.first = total;
    total += part.size = grads[i]->size();
  }
  if (total == 0) return true;
  const double ns = R::kNs * sizeof(T) / 4;
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(total) * ns));
  parallel_for(total, ns, [&](int64_t begin, int64_t end) {
    const Part<T>* part = std::upper_bound(parts.begin(), parts.begin() + n, begin,
                                           [](int64_t at, const Part<T>& p) { return at < p.first; }) - 1;
    for (; begin < end; ++part) {
      const int64_t from = begin - part->first, size = std::min(part->size - from, end - begin);
      sweep_at(rule, part->x, from, part->g + from, size);
      begin += size;
    }
  });
  return true;
}

template <template <typename> class Rule>
void all_kinds(const char* op, const char* op_for_many, const char* sparse_op = nullptr) {
  register_kernel(op, {DType::kFloat32}, named<dense<float, Rule>>);
  register_kernel(op, {DType::kFloat64}, named<dense<double, Rule>>);
  register_kernel(op_for_many, {DType::kFloat32}, named<many<float, Rule>>);
  register_kernel(op_for_many, {DType::kFloat64}, named<many<double, Rule>>);
  if (!sparse_op) return;
  register_kernel(sparse_op, {DType::kFloat32}, named<sparse<float, Rule>>);
  register_kernel(sparse_op, {DType::kFloat64}, named<sparse<double, Rule>>);
}

}  // namespace

#define TAPEFLOW_DENSE(rule) all_kinds<rule>("ResourceApply" #rule, "ResourceMultiApply" #rule)
#define TAPEFLOW_SPARSE(rule) \
  all_kinds<rule>("ResourceApply" #rule, "ResourceMultiApply" #rule, "ResourceSparseApply" #rule)

void register_optimizer() {
  TAPEFLOW_DENSE(GradientDescent);
  TAPEFLOW_SPARSE(Momentum);
  TAPEFLOW_SPARSE(KerasMomentum);
  TAPEFLOW_DENSE(Adam);
  TAPEFLOW_DENSE(AdamWithAmsgrad);
  TAPEFLOW_DENSE(AdaMax);
  TAPEFLOW_DENSE(Nadam);
  TAPEFLOW_DENSE(Lion);
  TAPEFLOW_SPARSE(Adagrad);
  TAPEFLOW_SPARSE(AdagradV2);
  TAPEFLOW_SPARSE(KerasAdagrad);
  TAPEFLOW_SPARSE(Adadelta);
  TAPEFLOW_SPARSE(RMSProp);
  TAPEFLOW_SPARSE(CenteredRMSProp);
  TAPEFLOW_DENSE(KerasRMSProp);
  TAPEFLOW_DENSE(KerasCenteredRMSProp);
  TAPEFLOW_SPARSE(Ftrl);
  TAPEFLOW_SPARSE(FtrlV2);
  TAPEFLOW_SPARSE(ProximalGradientDescent);
  TAPEFLOW_SPARSE(ProximalAdagrad);
  TAPEFLOW_DENSE(AddSign);
  TAPEFLOW_DENSE(PowerSign);
}

}  // namespace tapeflow::TAPEFLOW_ISA
