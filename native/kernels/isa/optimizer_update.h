// What the updates of optimizers share: checks, variables made writable, the loop over elements.
// Compiled once per instruction set, by the files of isa/ only.
#pragma once
#include "kernels/isa/optimizer_rules.h"
#include "threads.h"
#include "variable.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Which of a rule's ops: the inputs of the dense one; indices after its gradient; or lists of all variables, of all
// slots of each kind, and of all gradients, around its scalars.
enum Kind { kDense, kRows, kMany };

// The names of the inputs of such an op.
template <typename R, Kind kind>
struct InputNames {
  char text[192] = {};
  constexpr InputNames() {
    char* to = text;
    const auto add = [&](std::string_view name) {
      if (to != text) { *to++ = ','; *to++ = ' '; }
      for (const char c : name) *to++ = c;
    };
    if (kind == kMany) add("variables");
    const auto n = 1 + std::count(R::In::names.begin(), R::In::names.end(), ',');
    for (int i = kind == kMany ? R::kSlots + 1 : 0; i < n; ++i) {
      if (i != R::kGrad || kind == kDense) add(nth(R::In::names, i));
      else if (kind == kRows) { add("grad"); add("indices"); }
    }
    if (kind == kMany) add("gradients");
  }
};
template <typename R, Kind kind>
inline constexpr InputNames<R, kind> kInputNames;

// For the signature of a kernel.
template <typename R, Kind kind>
struct InputsOf {
  static InputsOf of(const KernelCall&) { return {}; }
  static constexpr void declare(NativeKernel* k) { k->inputs = kInputNames<R, kind>.text; }
};

template <typename R>
constexpr std::string_view name_of(int i) { return nth(R::In::names, i); }

// Throws unless variable and slot have one shape.
inline void check_slot(const Tensor* var, const Tensor* slot, std::string_view name) {
  if (slot->shape->same(var->shape)) return;
  throw invalid("var and ", name, " do not have the same shape", var->shape->str(), " ", slot->shape->str());
}

template <typename R>
void check_slots(const WritableValues& values) {
  for (int i = 1; i <= R::kSlots; ++i) check_slot(values.now(0), values.now(i), name_of<R>(i));
}

template <typename R>
void check_gradient(const Tensor* var, const Tensor* grad) {
  if (var->shape->same(grad->shape)) return;
  throw invalid("var and ", name_of<R>(R::kGrad), " do not have the same shape", var->shape->str(), " ", grad->shape->str());
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

// Whether this kernel can update the n variables: all of T, and none of them twice.
template <typename T>
bool is_target(const WritableValues& values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (!values.now(i)->on_host() || values.now(i)->dtype != DTypeOf<T>::value) return false;
  }
  return values.distinct();
}

// The elements of a variable and its slots, to be changed.
template <typename T, int kSlots>
struct Elements {
  explicit Elements(WritableValues& values) {
    for (int i = 0; i <= kSlots; ++i) x[i] = values.writable(i)->template as<T>();
  }
  T* x[4] = {};
};

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
