// What a native kernel sees, and how it is registered.
//
// A kernel only accelerates a row of the op table. It validates everything before it touches memory
// (throws Error), fills out[0..n_out) with new references and returns true; or returns false, before
// any effect, to leave the call to the row's Python kernel.
#pragma once
#include <initializer_list>

#include "tensor.h"

namespace tapeflow {

// The value of an attr, parsed and type-checked by the op call.
struct Attr {
  int64_t i = 0;              // int, bool, and the DType of a "type" attr
  double f = 0;               // float
  const int64_t* ints = nullptr;  // list(int), shape (-1: unknown dimension)
  int n = 0;                  // length of ints; -1: shape of unknown rank
  PyObject* object = nullptr; // the Python value (borrowed): strings, functions, other lists

  bool b() const { return i != 0; }
  DType type() const { return static_cast<DType>(i); }
  const char* str() const;    // a "string" attr; throws InvalidArgument if it is not text
};

struct OpDef;

struct KernelCall {
  const OpDef* op;
  int n_in;                   // list inputs are flattened
  Tensor* const* in;          // the caller's until the kernel returns, with the GIL or without; on the host, dtypes as the schema says
  const Attr* attrs;          // in the schema's order, without inferred ones (T, N); kernels read them as TAPEFLOW_ATTRS
  int n_out;
  Tensor** out;               // to fill; zeroed before
  // Bit i: the caller gives in[i] up, so that a kernel may build its output in that memory if
  // in[i]->unshared(). Zero in eager calls; inputs beyond the 64th never die.
  uint64_t dying = 0;

  bool may_reuse(int i) const { return i < 64 && (dying >> i & 1) && in[i]->unshared(); }
};

using Kernel = bool (*)(KernelCall&);

// A kernel and the names that it reads inputs and attrs by, which must be those of the row, in its order: a row that
// has others is not made.
struct NativeKernel {
  constexpr NativeKernel(Kernel run = nullptr) : run(run) {}  // a row without attrs
  Kernel run;
  const char* attrs = "";
  const char* inputs = nullptr;  // null: by position, as one or two, or lists
};

// What a kernel calls the attrs, or the inputs, of its row: all of them, in the schema's order. A kernel takes them as
// parameters, in the order that it likes, and is registered as named<kernel>:
//
//   TAPEFLOW_ATTRS(ScanAttrs, exclusive, reverse);
//   bool scan(KernelCall& c, const ScanAttrs& attrs) { ... attrs.reverse.b() ... }
//   register_kernel("Cumsum", {DType::kFloat32}, named<scan>);
#define TAPEFLOW_ATTRS(Type, ...)                                                       \
  struct Type {                                                                         \
    Attr __VA_ARGS__;                                                                   \
    static const Type& of(const Attr* attrs) { return *reinterpret_cast<const Type*>(attrs); } \
    static const Type& of(const KernelCall& c) { return of(c.attrs); }                  \
    static constexpr void declare(NativeKernel* k) { k->attrs = #__VA_ARGS__; }         \
  }
#define TAPEFLOW_INPUTS(Type, ...)                                                      \
  struct Type {                                                                         \
    Input __VA_ARGS__;                                                                  \
    static const Type& of(const KernelCall& c) { return *reinterpret_cast<const Type*>(c.in); } \
    static constexpr void declare(NativeKernel* k) { k->inputs = #__VA_ARGS__; }        \
  }
using Input = Tensor*;

template <auto kernel>
struct Named;
template <typename... Names, bool (*kernel)(KernelCall&, const Names&...)>
struct Named<kernel> {
  static bool run(KernelCall& c) { return kernel(c, Names::of(c)...); }
  static constexpr NativeKernel declared() {
    NativeKernel k(run);
    (Names::declare(&k), ...);
    return k;
  }
};
template <auto kernel>
inline constexpr NativeKernel named = Named<kernel>::declared();

// The kernel of op for calls whose first input (for an op without inputs: its "dtype" attr) has one of these dtypes.
void register_kernel(const char* op, std::initializer_list<DType> dtypes, NativeKernel kernel);

// Instruction sets: kernels whose loops profit are compiled once for each, in namespace TAPEFLOW_ISA
// ("baseline", "avx2", "avx512"), and the best one that the processor has registers itself at load.
#ifndef TAPEFLOW_ISA
#define TAPEFLOW_ISA baseline
#endif

}  // namespace tapeflow
