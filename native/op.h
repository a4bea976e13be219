// A row of the op table as the core sees it, and the call of it.
#pragma once
#include <string>
#include <vector>

#include "kernel.h"

namespace tapeflow {

struct TypeVar {
  std::string name;
  uint64_t allowed;   // mask of dtypes
  DType first;        // the first one allowed: what an empty list becomes
  bool preferred;     // and, if it can, every other value, where no tensor decides
};

struct Arg {
  PyObject* name;     // interned
  int type_var;       // index in type_vars, or -1
  int type_attr;      // outputs: index of the attr that gives the dtype, or -1
  DType fixed;        // when neither
  bool list;
  uint8_t least;      // the least length of a list
  int count_attr;     // list outputs: index of the attr that gives the length; -1: that of the first list input
};

enum class AttrKind { kInt, kFloat, kBool, kType, kString, kShape, kInts, kObject };

struct AttrSpec {
  PyObject* name;     // interned
  AttrKind kind;
  bool required;
  Attr value;         // the default, parsed
  PyObject* object;   // the default, as given
  std::vector<int64_t> ints;
  PyObject* choices;  // tuple of str, or null
};

constexpr int kMaxAttrs = 18;

struct OpDef {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  std::string* name;
  std::vector<TypeVar>* type_vars;
  std::vector<Arg>* inputs;
  std::vector<Arg>* outputs;
  std::vector<AttrSpec>* attrs;
  Attr* defaults;           // the attrs' defaults, side by side as kernels want them
  int key_var;              // the type variable that selects the native kernel; -1: key_attr does
  int key_attr;             // -1: one kernel for all
  bool has_list;            // some input is a list
  bool simple;              // one output that is not a list; no list inputs
  bool broadcasts;          // gradients are summed to the inputs' shapes by the tape
  bool none_grads;          // the gradient takes None for outputs without one (else zeros)
  uint64_t needs_in, needs_out;  // what the gradient reads (bit 63 stands for all from there)
  Kernel native[kDTypeCount];
  Shared<PyObject*> kernel;         // the Python kernel
  Shared<PyObject*> gradient;       // null: none registered; None: not differentiable
  Shared<PyObject*> result_type;    // namedtuple of several outputs
  PyObject* dict;           // shape rule, samples, reference, ...
};

extern PyTypeObject* OpType;
inline bool is_op(PyObject* o) { return Py_TYPE(o) == OpType; }

// What the tape keeps of a call besides tensors.
struct CallRecord {
  OpDef* op;
  Tensor* const* in;
  int n_in;
  Tensor* const* out;
  int n_out;
  PyObject* const* attr_objects;  // as given by the caller; null entries mean the default
  const int* list_sizes;          // length of each list input, in order; null without list inputs
};

// op(*args, **kwargs); a new reference, or null with a Python exception set.
PyObject* call_op(OpDef* op, PyObject* const* args, size_t nargs, PyObject* kwnames);

// The row's slots: the call, and the method that runs its Python kernel also where a native one exists.
PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames);
PyObject* op_call_python(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// The same for two inputs and no attrs, as number slots want it.
PyObject* call_binary(OpDef* op, PyObject* x, PyObject* y);

// Sets tf.errors.* for a native error; op may be null.
void set_python_error(const Error& e, const OpDef* op);
// Lets a MemoryError that is set, of Python or NumPy, be the cause of a tf.errors.ResourceExhaustedError.
void name_exhausted_memory(const OpDef* op);

// State of this thread that every call looks at.
struct Tape;
struct ThreadState {
  int graph_scope = 0;     // > 0: calls build a graph
  int device = 0;          // index of the device asked for by tf.device; 0: the host; -1: the host, wherever inputs are
  int replica_scope = 0;   // > 0: in a strategy's scope or in a replica
  int n_tapes = 0;
  Tape** tapes = nullptr;  // recording ones, outermost first
  int plan_depth = 0;      // of plans that run inside each other
  uintptr_t stack_limit = UINTPTR_MAX;  // see stack.h; that of a thread is found by the first check
};
extern thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

bool init_op_type(PyObject* module);
bool init_settings(PyObject* module);

// Implicit promotion of dtypes, off (null) unless a program asks for it; set by set_promotion.
struct Promotion {
  Shared<PyObject*> operators;  // (operator, x, y) -> None: as they are; (x, y, weak); or the result itself
  Shared<PyObject*> ops;        // (op, inputs) -> None: as they are; (inputs, weak)
};
extern Promotion promotion;

// Marks the result of a call as weakly typed: it gives way in the next promotion. Takes and returns `result`.
PyObject* mark_weak(PyObject* result);

// Hooks that Python sets (see core/hooks in Python); borrowed forever.
struct Hooks {
  Shared<PyObject*> error_from_code;   // (code, message) -> exception
  Shared<PyObject*> build_graph;       // (op, inputs, attrs) -> symbolic outputs
  Shared<PyObject*> graph_convert;     // (value, dtype or None) -> symbolic tensor, while a graph is built
  Shared<PyObject*> graph_read;        // (variable) -> symbolic value, while a graph is built
  Shared<PyObject*> graph_tape;        // (tape, event): a tape is entered, left, paused or resumed while a graph is built
  Shared<PyObject*> dispatch;          // (public function, args, kwargs) -> result for composite tensors, or NotImplemented
  Shared<PyObject*> graph_named;       // (function, args, kwargs) -> result: a public function called while a graph is built
  Shared<PyObject*> graph_scoped;      // (function) -> whether it has a scope of its own in a graph
  Shared<PyObject*> graph_operator;    // (name, op or function, x, y) -> result: an operator used while a graph is built
  Shared<PyObject*> device_call;       // (op, flat inputs, attrs, device index, list sizes) -> tuple of the flat outputs, for tensors off the host
  Shared<PyObject*> convert;           // (value, DType number or 0) -> Tensor, for what convert.cc does not know
  Shared<PyObject*> sum_to;            // (gradient, shape) -> gradient, with ops
  Shared<PyObject*> accumulate;        // (gradient, gradient) -> gradient, with ops
  Shared<PyObject*> tensor_shape;      // (tuple) -> TensorShape
  Shared<PyObject*> to_str;            // (tensor) -> str
  Shared<PyObject*> to_repr;
  Shared<PyObject*> to_format;         // (tensor, spec) -> str
  Shared<PyObject*> getitem;           // (tensor, key) -> tensor
  Shared<PyObject*> setup;             // (op name): loads a package that registers a missing kernel
  Shared<PyObject*> node_error;        // (exception, label of the instruction) -> the exception to raise
};
extern Hooks hooks;

}  // namespace tapeflow
