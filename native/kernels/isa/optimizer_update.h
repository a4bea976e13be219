// What the updates of optimizers share: checks, variables made writable, the loop over elements.
// Compiled once per instruction set, by the files of isa/ only.
#pragma once
#include "kernels/isa/optimizer_rules.h"
#include "threads.h"
#include "variable.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Throws unless variable and slot have one shape.
inline void check_slot(const Tensor* var, const Tensor* slot, const char* name) {
  if (slot->shape->same(var->shape)) return;
  throw invalid("var and ", name, " do not have the same shape", var->shape->str(), " ", slot->shape->str());
}

template <typename R>
void check_slots(const KernelCall& c) {
  const Tensor* var = variable_of(c.in[0])->value;
  for (int i = 1; i <= R::kSlots; ++i) check_slot(var, variable_of(c.in[i])->value, R::names[i]);
}

template <typename R>
void check_gradient(const Tensor* var, const Tensor* grad) {
  if (var->shape->same(grad->shape)) return;
  throw invalid("var and ", R::names[0], " do not have the same shape", var->shape->str(), " ", grad->shape->str());
}

// n objects. (What std::vector has inline would be merged with that of other instruction sets.)
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t n) : items_(new T[static_cast<size_t>(n)]) {}
  ~Scratch() { delete[] items_; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T& operator[](int64_t i) { return items_[i]; }
  T* begin() { return items_; }

 private:
  T* items_;
};

// Values of variables in memory that nobody else sees, kept until the end of the update: without the GIL, another
// thread may give the variables other values meanwhile.
class Writable {
 public:
  explicit Writable(int64_t n) : values_(n) {}
  ~Writable() { for (int64_t i = 0; i < n_; ++i) Py_DECREF(reinterpret_cast<PyObject*>(values_[i])); }

  Tensor* add(Variable* variable) {
    Tensor* t = writable_value(variable);
    Py_INCREF(reinterpret_cast<PyObject*>(t));
    return values_[n_++] = t;
  }
  Tensor* const* values() { return values_.begin(); }

 private:
  Scratch<Tensor*> values_;
  int64_t n_ = 0;
};

template <typename T>
bool is_native(const Variable* variable) {
  const Tensor* value = variable->value;
  return value->on_host() && value->dtype == DTypeOf<T>::value;
}

// Whether this kernel can update the variable and slots in c.in[0..kSlots]: not if two of them are one.
template <typename T, int kSlots>
bool is_target(const KernelCall& c) {
  for (int i = 0; i <= kSlots; ++i) {
    if (!is_native<T>(variable_of(c.in[i]))) return false;
    for (int k = 0; k < i; ++k) if (variable_of(c.in[k]) == variable_of(c.in[i])) return false;
  }
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

// The update of n elements from `at` on of a variable and its slots x.
template <typename Rule, typename T>
void sweep_at(const Rule& rule, T* const* x, int64_t at, const T* g, int64_t n) {
  sweep(rule, x[0] + at, x[1] + at, x[2] + at, x[3] + at, g, n);
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
