// The plan: a flat list of instructions on registers, which runs a graph without Python.
//
// Registers belong to one run, so that a plan may run in many threads and call itself. Each is written
// once and given up at its last use; a kernel may build its output in the memory of an input that is
// given up. Constants lie in the first registers and stay the plan's.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "attrs.h"
#include "plan_limits.h"
#include "op.h"
#include "plan_fused.h"
#include "plan_scalar_loop.h"

namespace tapeflow {

struct Plan;

enum class InstructionKind : uint8_t { kOp, kCall, kIf, kCase, kWhile, kPython, kFused };

// What an "op" instruction holds besides its registers.
struct OpPayload {
  Attr attrs[kMaxAttrs];
  PyObject* attr_objects[kMaxAttrs] = {};  // owned; null: the default
  std::vector<int> list_sizes, out_sizes;
  Arena arena;
};

struct Instruction {
  InstructionKind kind;
  int n_in, n_out, n_freed;
  int first_out;               // outputs lie side by side
  const int* in;               // registers
  const int* freed;            // registers that nobody reads after this
  const bool* dies;            // per input: its register dies here, and is no other input of this
  uint64_t dying;              // the same as bits, for kernels
  // "op": the kernel chosen for inputs of the dtypes `seen`; chosen again when others come.
  OpDef* op;                   // owned
  const Attr* attrs;
  mutable Shared<Kernel> kernel;
  mutable DType* seen;
  OpPayload* payload;          // owned
  std::vector<Plan*>* plans;   // owned: the callee; then, else; the branches; cond, body
  int n_vars;                  // "while"
  PyObject* callable;          // "python"; owned
  FusedProgram* fused;         // owned
  ScalarLoop* scalars;         // of a "while"; owned
  PyObject* label;             // owned: what errors name
};

struct Plan {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* name;
  int n_in, n_out;
  int n_constants, n_registers;  // inputs follow the constants
  int n_arguments;               // of the instruction with the most
  Limits limits;                 // of a graph that is not trusted
  Tensor** constants;
  std::vector<Instruction>* instructions;
  std::vector<int>* numbers;     // of each register, as given; -1: an output that nobody wants
  std::vector<int>* unused;      // input registers that nobody reads
  struct Result { int from; bool move; };
  std::vector<Result>* results;
  std::deque<std::vector<int>>* lists;  // what the instructions' pointers point to
  std::deque<std::unique_ptr<bool[]>>* flags;
  std::deque<std::vector<DType>>* dtypes;
  PyObject* weakrefs;
};

extern PyTypeObject* PlanType;
inline bool is_plan(PyObject* o) { return Py_TYPE(o) == PlanType; }

// What is known about a run: the instructions in the order they ended.
struct Timeline {
  struct Event { const Instruction* instruction; int64_t start_ns, duration_ns; int depth; };
  std::vector<Event> events;
  int depth = 0;
};

// Loops of plans in this thread give up after `ms` from now; 0: never. Returns what was left of the time set before.
int64_t set_deadline(int64_t ms);

// Runs the plan on its own, as a Python call of it does: no tape, no graph and no device scope is seen. args are
// borrowed, results new references. Throws PythonError.
void run_plan(const Plan* plan, Tensor* const* args, Tensor** results, Timeline* timeline = nullptr);

const char* instruction_name(const Instruction& at);  // the op's, the callee's, ...
const char* kind_name(InstructionKind kind);

// Parses and checks; throws PythonError (ValueError where the plan is wrong). The plan is empty before.
void build_plan(Plan* plan, PyObject* registers, PyObject* inputs, PyObject* constants, PyObject* instructions,
                PyObject* outputs);

bool init_plan(PyObject* module);

}  // namespace tapeflow
