// The run of a plan.
#include "plan.h"

#include <chrono>
#include <cstring>
#include <mutex>

#include "guard.h"
#include "owned_tensor.h"
#include "python_kernel.h"
#include "ref.h"
#include "stack.h"
#include "tape.h"
#include "tensor_list.h"
#include "threads.h"
#include "variable.h"

namespace tapeflow {

namespace {

constexpr Code kDeadlineExceeded = static_cast<Code>(4);  // raised by nothing else here
thread_local int64_t deadline = 0;  // on the steady clock, in ns: when loops of this thread give up; 0: never

constexpr int kInlineSlots = 96;   // registers of a run that need no allocation
constexpr int kMaxDepth = 2500;    // of plans in plans; less where the thread's stack is small

// The exception is set and knows its instruction already.
class NodeError : public PythonError {};

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void enter(const Plan* plan) {
  check_stack("a plan");
  if (++thread_state.plan_depth <= kMaxDepth) return;
  --thread_state.plan_depth;
  PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded while running the function %U", plan->name);
  throw PythonError();
}

// The registers of one run, and behind them room for the arguments of an instruction.
class Frame {
 public:
  Frame(const Plan* plan, Tensor* const* args) : plan_(plan) {
    const size_t registers = static_cast<size_t>(plan->n_registers);
    const size_t slots = registers + static_cast<size_t>(plan->n_arguments);
    at_ = slots <= kInlineSlots ? inline_ : static_cast<Tensor**>(PyMem_Malloc(slots * sizeof(Tensor*)));
    if (!at_) {
      for (int i = 0; i < plan->n_in; ++i) Py_DECREF(args[i]);
      throw std::bad_alloc();
    }
    const size_t constants = static_cast<size_t>(plan->n_constants), n_in = static_cast<size_t>(plan->n_in);
    Tensor** p = at_;
    for (size_t i = 0; i < constants; ++i) *p++ = plan->constants[i];
    for (size_t i = 0; i < n_in; ++i) *p++ = args[i];
    for (Tensor** end = at_ + registers; p < end; ++p) *p = nullptr;
  }
  ~Frame() {
    if (!done_) {
      for (int i = plan_->n_constants; i < plan_->n_registers; ++i) Py_CLEAR(at_[i]);
    }
    if (at_ != inline_) PyMem_Free(at_);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Tensor** registers() { return at_; }
  Tensor** arguments() { return at_ + plan_->n_registers; }
  void done() { done_ = true; }  // every register was freed or handed out

 private:
  const Plan* plan_;
  bool done_ = false;
  Tensor** at_;
  Tensor* inline_[kInlineSlots];
};

// -- op --------------------------------------------------------------------------------------------

void check_dtype(const OpDef* op, const Arg& arg, const Tensor* t, DType* types, int index) {
  DType want = arg.fixed;
  if (arg.type_var >= 0) {
    DType& resolved = types[arg.type_var];
    if (resolved == DType::kInvalid) {
      const TypeVar& var = (*op->type_vars)[static_cast<size_t>(arg.type_var)];
      if (!(var.allowed & bit(t->dtype))) {
        throw invalid("Value for attr '", var.name, "' of ", dtype_short_name(t->dtype),
                      " is not in the list of allowed values: ", allowed_names(var));
      }
      resolved = t->dtype;
    }
    want = resolved;
  }
  if (t->dtype != want) {
    throw invalid("cannot compute ", *op->name, " as input #", index, "(zero-based) was expected to be a ",
                  dtype_short_name(want), " tensor but is a ", dtype_short_name(t->dtype), " tensor");
  }
}

// Whether a handle's variable is on an accelerator, where no native kernel can update it.
inline bool elsewhere(const Tensor* t) {
  if (!hooks.device_call || t->dtype != DType::kResource) return false;
  const OwnedVariable v = variable_behind(t);
  const OwnedTensor value = v ? snapshot(v.get()) : OwnedTensor();
  return value && value->device != 0;
}

// Other threads may run this instruction, too: what is chosen and what it was chosen for change together. Without a GIL
// others may be reading them, so that the first choice stays.
void choose(const Instruction& at, Kernel kernel, Tensor* const* in) {
  static Leaf choices;
  const std::lock_guard hold(choices);
  if (kFreeThreads && at.kernel) return;
  for (int k = 0; k < at.n_in; ++k) at.seen[k] = in[k]->dtype;
  at.kernel = kernel;
}

// Inputs of dtypes that did not come before, or a row without a native kernel for them.
__attribute__((noinline)) void run_op_slowly(const Instruction& at, Tensor* const* in, Tensor** out) {
  const OpDef* op = at.op;
  DType types[8] = {};
  int i = 0, list = 0;
  for (const Arg& arg : *op->inputs) {
    const int n = arg.list ? at.payload->list_sizes[static_cast<size_t>(list++)] : 1;
    for (int k = 0; k < n; ++k, ++i) check_dtype(op, arg, in[i], types, i);
  }
  const DType key = op->key_var >= 0 ? types[op->key_var]
                    : op->key_attr >= 0 ? at.attrs[op->key_attr].type() : DType::kInvalid;
  const Kernel kernel = op->native[static_cast<int>(key)];
  bool all_ready = true;
  for (int k = 0; k < at.n_in; ++k) all_ready = all_ready && ready(in[k]) && !elsewhere(in[k]);
  choose(at, kernel, in);
  if (kernel && all_ready) {
    KernelCall c{op, at.n_in, in, at.attrs, at.n_out, out, at.dying};
    if (kernel(c)) return;
  }
  const OpPayload& p = *at.payload;
  run_python_kernel({op, in, p.list_sizes.data(), p.attrs, p.attr_objects, types, p.out_sizes.data(), out});
  for (int k = 0; usage.limited && k < at.n_out; ++k) {
    if (out[k]->dtype == DType::kString && out[k]->payload) spend_strings(out[k]->payload);
  }
}

inline void run_op(const Instruction& at, Tensor** registers, Tensor** in) {
  const Kernel kernel = at.kernel;
  bool known = kernel != nullptr, on_host = true;
  for (int i = 0; i < at.n_in; ++i) {
    Tensor* t = in[i] = registers[at.in[i]];
    known = known && t->dtype == at.seen[i];
    on_host &= t->data != nullptr;
  }
  Tensor** out = registers + at.first_out;
  if (known && !on_host) {
    for (int i = 0; i < at.n_in; ++i) known = known && ready(in[i]) && !elsewhere(in[i]);
  }
  if (known) {
    KernelCall c{at.op, at.n_in, in, at.attrs, at.n_out, out, at.dying};
    if (kernel(c)) return;
  }
  run_op_slowly(at, in, out);
}

// -- control flow ----------------------------------------------------------------------------------

void run(const Plan* plan, Tensor* const* args, Tensor** results, Timeline* timeline);

// Inputs from `first` on, as a callee takes them over: moved where they die here.
void take_arguments(const Instruction& at, Tensor** registers, int first, Tensor** args) {
  for (int i = first; i < at.n_in; ++i) {
    Tensor*& from = registers[at.in[i]];
    args[i - first] = from;
    if (at.dies[i]) from = nullptr;
    else Py_INCREF(from);
  }
}

// Whether a condition holds: a scalar that is not zero or empty, or any other tensor that has elements.
bool truth(Tensor* t) {
  if (t->dtype == DType::kBool && t->size() == 1 && t->data) return *t->as<bool>();
  if (t->rank() > 0) return t->size() > 0;
  const int r = PyObject_IsTrue(reinterpret_cast<PyObject*>(t));
  if (r < 0) throw PythonError();
  return r != 0;
}

const Plan* branch(const Instruction& at, const Tensor* index) {
  const auto n = static_cast<int64_t>(at.plans->size());
  const int64_t i = scalar_int(index, "branch_index");
  return (*at.plans)[static_cast<size_t>(i < 0 || i >= n ? n - 1 : i)];
}

// Lets other threads have the GIL and hears Ctrl-C between the instructions of plans, about once a millisecond.
class Pause {
 public:
  void tick() {
    if (--patience < 0) [[unlikely]] look();
  }

 private:
  __attribute__((noinline)) void look() {
    const int64_t now = now_ns();
    every_ = now - last_ < 500'000 ? (every_ < 4096 ? every_ * 2 : every_) : (every_ > 1 ? every_ / 2 : 1);
    const bool released = patience < kNone;  // by the instruction before: whoever waited has had the GIL
    patience = every_;
    last_ = now;
    if (deadline && now > deadline) throw Error(kDeadlineExceeded, "Timed out waiting for notification");
    if (PyErr_CheckSignals() < 0) throw PythonError();
    if (!released) PyEval_RestoreThread(PyEval_SaveThread());
  }

  int every_ = 16;
  int64_t last_ = 0;
};

thread_local constinit Pause pause;

// The variables rest in the output registers between the steps, and are moved into the body: nobody else
// holds them there, so that they may grow and change in place.
void run_while(const Instruction& at, Tensor** registers, Tensor** args, Timeline* timeline) {
  const Plan *cond = (*at.plans)[0], *body = (*at.plans)[1];
  Tensor** vars = registers + at.first_out;
  for (int i = 0; i < at.n_vars; ++i) {
    Tensor*& from = registers[at.in[i]];
    vars[i] = from;
    if (at.dies[i]) from = nullptr;
    else Py_INCREF(from);
  }
  const bool plain = !timeline && !usage.limited;
  if (plain && run_scalar_loop(at.scalars, at, vars, registers, [] { pause.tick(); })) return;
  while (true) {
    for (int i = 0; i < at.n_in; ++i) {
      args[i] = i < at.n_vars ? vars[i] : registers[at.in[i]];
      Py_INCREF(args[i]);
    }
    Tensor* more = nullptr;
    run(cond, args, &more, timeline);
    if (!truth(OwnedTensor(more).get())) return;
    pause.tick();
    for (int i = 0; i < at.n_in; ++i) {
      if (i < at.n_vars) {
        args[i] = vars[i];
        vars[i] = nullptr;
      } else {
        args[i] = registers[at.in[i]];
        Py_INCREF(args[i]);
      }
    }
    run(body, args, vars, timeline);
  }
}

void run_python(const Instruction& at, Tensor** registers, Tensor** args) {
  for (int i = 0; i < at.n_in; ++i) args[i] = registers[at.in[i]];
  const Ref r(PyObject_Vectorcall(at.callable, reinterpret_cast<PyObject* const*>(args), static_cast<size_t>(at.n_in), nullptr));
  const Ref results(PySequence_Tuple(r.get()));
  bool good = PyTuple_GET_SIZE(results.get()) == at.n_out;
  for (int i = 0; good && i < at.n_out; ++i) good = is_tensor(PyTuple_GET_ITEM(results.get(), i));
  if (!good) {
    PyErr_Format(PyExc_TypeError, "%R was to return %d tensors, but returned %R", at.callable, at.n_out, results.get());
    throw PythonError();
  }
  for (int i = 0; i < at.n_out; ++i) {
    registers[at.first_out + i] = reinterpret_cast<Tensor*>(Py_NewRef(PyTuple_GET_ITEM(results.get(), i)));
  }
}

// -- the loop --------------------------------------------------------------------------------------

void step(const Instruction& at, Tensor** registers, Tensor** args, Timeline* timeline) {
  switch (at.kind) {
    case InstructionKind::kOp:
      return run_op(at, registers, args);
    case InstructionKind::kCall:
      take_arguments(at, registers, 0, args);
      return run((*at.plans)[0], args, registers + at.first_out, timeline);
    case InstructionKind::kIf: {
      const Plan* taken = (*at.plans)[truth(registers[at.in[0]]) ? 0 : 1];
      take_arguments(at, registers, 1, args);
      return run(taken, args, registers + at.first_out, timeline);
    }
    case InstructionKind::kCase: {
      const Plan* taken = branch(at, registers[at.in[0]]);
      take_arguments(at, registers, 1, args);
      return run(taken, args, registers + at.first_out, timeline);
    }
    case InstructionKind::kWhile:
      return run_while(at, registers, args, timeline);
    case InstructionKind::kPython:
      return run_python(at, registers, args);
    case InstructionKind::kFused:
      for (int i = 0; i < at.n_in; ++i) args[i] = registers[at.in[i]];
      if (run_fused(at.fused, args, at.dying, registers + at.first_out)) return;
      take_arguments(at, registers, 0, args);
      return run(fallback_of(at.fused), args, registers + at.first_out, timeline);
  }
}

void step_timed(const Instruction& at, Tensor** registers, Tensor** args, Timeline* timeline) {
  const int64_t start = now_ns();
  ++timeline->depth;
  step(at, registers, args, timeline);
  --timeline->depth;
  timeline->events.push_back({&at, start, now_ns() - start, timeline->depth});
}

// Python amends the exception that is set, to name the instruction.
void name_node(PyObject* label) {
  if (!hooks.node_error || label == Py_None || !PyErr_ExceptionMatches(PyExc_Exception)) return;
  Raised raised;
  raised.normalize();
  const Ref amended = Ref::or_null(PyObject_CallFunctionObjArgs(hooks.node_error, raised.value, label, nullptr));
  if (!amended) return;  // the hook itself failed
  if (PyExceptionInstance_Check(amended.get())) {
    Py_XSETREF(raised.type, Py_NewRef(PyExceptionInstance_Class(amended.get())));
    Py_XSETREF(raised.trace, PyException_GetTraceback(amended.get()));
    Py_XSETREF(raised.value, Py_NewRef(amended.get()));
  }
  raised.restore();
}

[[noreturn]] void fail(const Instruction& at) {
  try {
    throw;
  } catch (const NodeError&) {
    throw;
  } catch (const std::exception&) {
    set_current_error(at.op);
  }
  name_node(at.label);
  throw NodeError();
}

// Each instruction of a plan runs at most once in a run.
__attribute__((noinline)) void spend_run(const Plan* plan) {
  try {
    spend(static_cast<int64_t>(plan->instructions->size()) + 1);
  } catch (const Error& e) {
    set_python_error(e, nullptr);
    throw PythonError();
  }
}

// Takes over the references in args.
void run(const Plan* plan, Tensor* const* args, Tensor** results, Timeline* timeline) {
  Frame frame(plan, args);
  Tensor** const registers = frame.registers();
  enter(plan);
  struct Leave { ~Leave() { --thread_state.plan_depth; } } leave;
  UnderLimits under(plan->limits);
  if (usage.limited) spend_run(plan);
  for (const int i : *plan->unused) Py_CLEAR(registers[i]);
  const Instruction* at = plan->instructions->data();
  const Instruction* const end = at + plan->instructions->size();
  try {
    for (; at != end; ++at) {
      if (timeline) step_timed(*at, registers, frame.arguments(), timeline);
      else step(*at, registers, frame.arguments(), nullptr);
      for (int k = 0; k < at->n_freed; ++k) {
        Tensor*& r = registers[at->freed[k]];
        Tensor* t = r;
        r = nullptr;
        Py_XDECREF(t);
      }
      pause.tick();
    }
  } catch (const std::exception&) {
    fail(*at);
  }
  for (const Plan::Result& r : *plan->results) {
    *results = registers[r.from];
    if (r.move) registers[r.from] = nullptr;
    else Py_INCREF(*results);
    ++results;
  }
  frame.done();
}

// What a plan does not see of its caller's.
class Alone {
 public:
  Alone() : graph_scope_(thread_state.graph_scope), device_(thread_state.device) {
    thread_state.graph_scope = thread_state.device = 0;
  }
  ~Alone() {
    thread_state.graph_scope = graph_scope_;
    thread_state.device = device_;
  }

 private:
  int graph_scope_, device_;
  HiddenTapes tapes_;
};

}  // namespace

int64_t set_deadline(int64_t ms) {
  const int64_t now = now_ns(), before = deadline;
  deadline = ms > 0 ? now + ms * 1'000'000 : 0;
  return before == 0 ? 0 : before > now ? (before - now) / 1'000'000 + 1 : 1;
}

void run_plan(const Plan* plan, Tensor* const* args, Tensor** results, Timeline* timeline) {
  Alone alone;
  constexpr int kInline = 16;
  Tensor* space[kInline];
  std::unique_ptr<Tensor*[]> more;
  Tensor** own = space;
  if (plan->n_in > kInline) {
    more.reset(new Tensor*[static_cast<size_t>(plan->n_in)]);
    own = more.get();
  }
  for (int i = 0; i < plan->n_in; ++i) {
    own[i] = args[i];
    Py_INCREF(own[i]);
  }
  run(plan, own, results, timeline);
}

const char* kind_name(InstructionKind kind) {
  static constexpr const char* names[] = {"op", "call", "if", "case", "while", "python", "fused"};
  return names[static_cast<int>(kind)];
}

const char* instruction_name(const Instruction& at) {
  if (at.op) return at.op->name->c_str();
  if (!at.plans) return kind_name(at.kind);
  const char* name = PyUnicode_AsUTF8((*at.plans)[0]->name);
  if (!name) PyErr_Clear();
  return name ? name : "";
}

}  // namespace tapeflow
