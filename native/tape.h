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
  PyObject* attrs;       // owned tuple, as given or the defaults; null: all defaults
  PyObject* backward;    // custom gradients: (*dy) -> gradients
  PyObject* label;       // custom gradients: name for messages
  uint32_t first_slot;
  int n_in, n_out;
  int list_size;         // elements of the (only) list input, or -1
};

struct Alias { int64_t tensor_id, variable_id; };
// A watched value went into an op without a gradient; kept to explain a gradient that is None.
struct Break { OpDef* op; int64_t in[3]; int64_t out; };

struct Tape {
  PyObject_HEAD
  bool persistent, watch_accessed, paused, entered, in_gradient;
  Shared<bool> recording;
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

// A snapshot of the variable's value as an input of an op: tells the tapes. Throws FailedPrecondition.
OwnedTensor read_variable(Variable* v);

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

// For the files of the tape: what is recorded, and which tapes record.

std::vector<Tape*>& active_tapes();  // of this thread; references are owned
void publish_active_tapes();         // after a change of them
void start_recording(Tape* tape);
bool stop_recording(Tape* tape);     // false: it does not record in this thread
void give_up_bit(Tape* tape);
void mark(Tape* tape, Tensor* t);    // as watched
void watch_variable(Tape* tape, Variable* v, Tensor* value);  // value: null where there is none
void add_slot(Tape* tape, Tensor* t, bool keep);
void release_entry(Tape* tape, Entry entry);  // a copy: freeing may run code that records

// An entry whose slots are being added: they go again if it is not finished.
class Recording {
 public:
  explicit Recording(Tape* tape) : tape_(tape), first_(tape->slots->size()) {}
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  uint32_t first_slot() const { return static_cast<uint32_t>(first_); }
  void finish(const Entry& e) {  // takes over the references in e, if it does not throw
    tape_->entries->push_back(e);
    done_ = true;
  }

 private:
  Tape* tape_;
  size_t first_;
  bool done_ = false;
};

void clear_tape(Tape* tape);

inline const char* label_of(const Entry& e) {  // for messages
  if (e.op) return e.op->name->c_str();
  const char* label = PyUnicode_AsUTF8(e.label);
  if (!label) PyErr_Clear();
  return label ? label : "?";
}

inline bool trainable(DType d) {
  return is_floating(d) || is_complex(d) || d == DType::kResource || d == DType::kVariant;
}

inline bool watches(const Tape* tape, const Tensor* t) {
  // First the epoch: another thread's mark takes away the bits of former tapes before it sets a later one.
  if (tape->bit >= 0) return t->watch_epoch >= tape->epoch && (t->watch >> tape->bit & 1);
  return tape->ids->count(t->id) != 0;
}

// Whether a mask names position i; bit 63 stands for all from there.
inline bool needed(uint64_t mask, int i) { return mask >> (i < 63 ? i : 63) & 1; }

}  // namespace tapeflow
