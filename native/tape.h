// The tape: remembers calls, and plays them backwards.
//
// A tensor knows by bits which recording tapes watch it. A tape owns one of 64 bits while it records;
// bits are handed on, so a bit counts only if it was set after its tape acquired it (watch_epoch). Tapes beyond
// the 64th, and tapes entered a second time, look ids up in a set instead.
#pragma once
#include <unordered_set>
#include <vector>

#include "op.h"
#include "variable.h"

namespace tapeflow {

struct Slot {            // one input or output of an entry
  int64_t id;
  Shape* shape;          // owned
  Tensor* kept;          // owned; null when the gradient does not read it
  DType dtype;
};

struct Entry {
  OpDef* op;             // owned; null for custom gradients
  PyObject* attrs;       // owned tuple as given (None entries: default), or null: all defaults
  PyObject* backward;    // custom gradients: (*dy) -> gradients
  PyObject* label;       // custom gradients: name for messages
  uint32_t first_slot;
  uint16_t n_in, n_out;
  int list_size;         // elements of the (only) list input, or -1
};

struct Alias { int64_t tensor_id, variable_id; };
// A watched value went into an op without a gradient; kept to explain a gradient that is None.
struct Break { OpDef* op; int64_t in[3]; int64_t out; };

struct Tape {
  PyObject_HEAD
  bool persistent, watch_accessed, recording, paused, entered, in_gradient;
  int bit;                       // -1: by set
  int64_t epoch;                 // when the bit was acquired
  int64_t uid;
  std::vector<Entry>* entries;
  std::vector<Slot>* slots;
  std::vector<Alias>* aliases;
  std::vector<PyObject*>* variables;   // watched, owned, in order of first use
  std::unordered_set<int64_t>* ids;    // watched ids; complete only when bit < 0, else what watch() was given
  std::vector<Break>* breaks;
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject* TapeType;

// Called by the op call after the kernel, when thread_state.n_tapes > 0.
void record(const CallRecord& call);

// The variable's value as an input of an op: tells the tapes. Borrowed. Throws FailedPrecondition.
Tensor* read_variable(Variable* v);

// The same for its handle, where an op takes the variable itself.
void read_handle(Variable* v);

// For its scope, this thread has no tapes.
class HiddenTapes {
 public:
  HiddenTapes() { if (thread_state.n_tapes > 0) exchange(); }
  ~HiddenTapes() { if (hidden_) exchange(); }
  HiddenTapes(const HiddenTapes&) = delete;
  HiddenTapes& operator=(const HiddenTapes&) = delete;

 private:
  void exchange();
  std::vector<Tape*>* hidden_ = nullptr;
};

bool watched_by_any(const Tensor* t);  // by a tape that records in this thread
bool init_tape(PyObject* module);

}  // namespace tapeflow
