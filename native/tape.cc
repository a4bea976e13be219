#include "tape.h"

#include <algorithm>
#include <mutex>

#include "ref.h"

namespace tapeflow {

namespace {

Leaf bits;  // of what follows, when it is changed
Shared<int64_t> epoch;
uint64_t bits_taken = 0;
Shared<int64_t> bit_epoch[64];

// Of the marks of tensors: those of one are changed together.
Leaf marks[64];
Leaf& marks_of(const Tensor* t) { return marks[reinterpret_cast<uintptr_t>(t) / 64 % 64]; }

void append(Tape* tape, const CallRecord& c) {
  OpDef* op = c.op;
  Ref attrs;
  const size_t n_attrs = op->attrs->size();
  for (size_t i = 0; i < n_attrs && c.attr_objects; ++i) {
    if (!c.attr_objects[i]) continue;
    attrs = Ref(PyTuple_New(static_cast<Py_ssize_t>(n_attrs)));
    for (size_t k = 0; k < n_attrs; ++k) {
      PyObject* value = c.attr_objects[k] ? c.attr_objects[k] : (*op->attrs)[k].object;
      PyTuple_SET_ITEM(attrs.get(), static_cast<Py_ssize_t>(k), Py_NewRef(value));
    }
    break;
  }
  Recording entry(tape);
  // What the gradient reads is given by schema position; the elements of a list share one.
  const auto& specs = *op->inputs;
  if (!op->has_list) {
    for (int i = 0; i < c.n_in; ++i) add_slot(tape, c.in[i], needed(op->needs_in, i));
  } else {
    int at = 0, list = 0;
    for (size_t s = 0; s < specs.size(); ++s) {
      const int n = specs[s].list ? c.list_sizes[list++] : 1;
      for (int k = 0; k < n; ++k) add_slot(tape, c.in[at++], needed(op->needs_in, static_cast<int>(s)));
    }
  }
  const bool one_list = op->outputs->size() == 1 && (*op->outputs)[0].list;
  for (int i = 0; i < c.n_out; ++i) add_slot(tape, c.out[i], needed(op->needs_out, one_list ? 0 : i));
  entry.finish(Entry{op, attrs.get(), nullptr, nullptr, entry.first_slot(), c.n_in, c.n_out,
                     c.list_sizes ? c.list_sizes[0] : -1});
  Py_INCREF(op);
  attrs.release();
}

// What watch() was given is there already; inputs that nothing watches do not become watched.
void fill_ids(Tape* t) {
  for (const Entry& e : *t->entries) {
    const Slot* s = t->slots->data() + e.first_slot;
    for (int k = e.n_in; k < e.n_in + e.n_out; ++k) if (trainable(s[k].dtype)) t->ids->insert(s[k].id);
  }
  for (const Alias& a : *t->aliases) t->ids->insert(a.tensor_id);
}

}  // namespace

std::vector<Tape*>& active_tapes() {
  static thread_local std::vector<Tape*> tapes;
  return tapes;
}

void publish_active_tapes() {
  auto& t = active_tapes();
  thread_state.tapes = t.data();
  thread_state.n_tapes = static_cast<int>(t.size());
}

void give_up_bit(Tape* t) {
  if (t->bit < 0) return;
  const std::lock_guard hold(bits);
  bits_taken &= ~(uint64_t{1} << t->bit);
  t->bit = -1;
}

// Whether there was one.
bool take_bit(Tape* t) {
  const std::lock_guard hold(bits);
  if (!~bits_taken) return false;
  t->bit = __builtin_ctzll(~bits_taken);
  bits_taken |= uint64_t{1} << t->bit;
  t->epoch = epoch + 1;
  bit_epoch[t->bit] = t->epoch;  // before the epoch begins, for marks
  epoch = t->epoch;
  return true;
}

void start_recording(Tape* t) {
  if (!t->paused) {
    if (t->entered || !take_bit(t)) {
      fill_ids(t);  // entered again, or the 65th: by set
    }
    t->entered = true;
  }
  t->recording = true;
  Py_INCREF(t);
  active_tapes().push_back(t);
  publish_active_tapes();
}

bool stop_recording(Tape* t) {
  auto& a = active_tapes();
  auto at = std::find(a.begin(), a.end(), t);
  if (at == a.end()) return false;
  a.erase(at);
  publish_active_tapes();
  t->recording = false;
  Py_DECREF(t);
  return true;
}

void mark(Tape* tape, Tensor* t) {
  if (tape->bit < 0) {
    tape->ids->insert(t->id);
    return;
  }
  const std::lock_guard hold(marks_of(t));
  const int64_t now = epoch;
  // Bits that a later tape took over since are no longer this tensor's.
  uint64_t watch = t->watch;
  for (uint64_t w = watch; w; w &= w - 1) {
    const int b = __builtin_ctzll(w);
    if (bit_epoch[b] > t->watch_epoch) watch &= ~(uint64_t{1} << b);
  }
  t->watch = watch | uint64_t{1} << tape->bit;
  t->watch_epoch = now;
}

void release_entry(Tape* tape, const Entry e) {
  for (uint32_t i = e.first_slot; i < e.first_slot + static_cast<uint32_t>(e.n_in + e.n_out); ++i) {
    Slot& s = (*tape->slots)[i];
    Tensor* kept = s.kept;
    s.kept = nullptr;
    Py_XDECREF(kept);
  }
}

void clear_tape(Tape* tape) {
  // Moved out first: freeing may run Python code that looks at the tape again.
  std::vector<Entry> entries;
  std::vector<Slot> slots;
  std::vector<PyObject*> variables;
  std::vector<Break> breaks;
  entries.swap(*tape->entries);
  slots.swap(*tape->slots);
  variables.swap(*tape->variables);
  breaks.swap(*tape->breaks);
  tape->aliases->clear();
  tape->ids->clear();
  for (Slot& s : slots) {
    s.shape->release();
    Py_XDECREF(s.kept);
  }
  for (Entry& e : entries) {
    Py_XDECREF(e.op);
    Py_XDECREF(e.attrs);
    Py_XDECREF(e.backward);
    Py_XDECREF(e.label);
  }
  for (PyObject* v : variables) Py_DECREF(v);
  for (Break& b : breaks) Py_DECREF(b.op);
}

void add_slot(Tape* tape, Tensor* t, bool keep) {
  tape->slots->push_back(Slot{t->id, t->shape, keep ? t : nullptr, t->dtype});
  t->shape->retain();
  if (keep) Py_INCREF(t);
}

Recording::~Recording() {
  if (done_) return;
  while (tape_->slots->size() > first_) {
    const Slot s = tape_->slots->back();
    tape_->slots->pop_back();
    s.shape->release();
    Py_XDECREF(s.kept);
  }
}

void watch_variable(Tape* tape, Variable* v, Tensor* value) {
  auto& vars = *tape->variables;
  if (std::find(vars.begin(), vars.end(), reinterpret_cast<PyObject*>(v)) == vars.end()) {
    vars.push_back(reinterpret_cast<PyObject*>(v));
    Py_INCREF(v);
  }
  if (value) {
    tape->aliases->push_back(Alias{value->id, v->id});
    mark(tape, value);
  }
}

void record(const CallRecord& c) {
  for (int k = 0; k < thread_state.n_tapes; ++k) {
    Tape* tape = thread_state.tapes[k];
    const Critical alone(reinterpret_cast<PyObject*>(tape));
    bool watched = false;
    for (int i = 0; i < c.n_in && !watched; ++i) watched = trainable(c.in[i]->dtype) && watches(tape, c.in[i]);
    if (!watched) continue;
    if (c.op->gradient == Py_None) {
      Break b{c.op, {}, c.n_out ? c.out[0]->id : 0};
      for (int i = 0; i < c.n_in && i < 3; ++i) b.in[i] = c.in[i]->id;
      tape->breaks->push_back(b);
      Py_INCREF(c.op);
      continue;
    }
    const Ref owned = Ref::share(reinterpret_cast<PyObject*>(tape));  // the collector may run code that ends it
    append(tape, c);
    for (int i = 0; i < c.n_out; ++i) if (trainable(c.out[i]->dtype)) mark(tape, c.out[i]);
  }
}

OwnedTensor read_variable(Variable* v) {
  OwnedTensor value = snapshot(v);
  if (!value && v->dtype == DType::kInvalid) {
    PyErr_SetString(PyExc_NotImplementedError, "A class of variables without cells of their own has to define value().");
    throw PythonError();
  }
  if (!value) throw Error(Code::kFailedPrecondition, "Error while reading a variable: it is uninitialized.");
  for (int k = 0; k < thread_state.n_tapes; ++k) {
    Tape* tape = thread_state.tapes[k];
    const Critical alone(reinterpret_cast<PyObject*>(tape));
    if (tape->watch_accessed ? !v->trainable && tape->variables->empty() : tape->variables->empty()) continue;
    bool known = watches(tape, value.get());
    if (known) continue;
    if (!(tape->watch_accessed && v->trainable)) {
      auto& vars = *tape->variables;
      if (std::find(vars.begin(), vars.end(), reinterpret_cast<PyObject*>(v)) == vars.end()) continue;
    }
    watch_variable(tape, v, value.get());
  }
  return value;
}

void read_handle(Variable* v) {
  if (!v->value.is_set()) return;
  const OwnedTensor value = read_variable(v);
  for (int k = 0; k < thread_state.n_tapes; ++k) {
    Tape* tape = thread_state.tapes[k];
    const Critical alone(reinterpret_cast<PyObject*>(tape));
    if (!watches(tape, value.get()) || watches(tape, v->handle)) continue;
    tape->aliases->push_back(Alias{v->handle->id, v->id});
    mark(tape, v->handle);
  }
}

void HiddenTapes::exchange() {
  if (!hidden_) {
    hidden_ = new std::vector<Tape*>;
    hidden_->swap(active_tapes());
    publish_active_tapes();
    return;
  }
  hidden_->swap(active_tapes());
  publish_active_tapes();
  const std::vector<Tape*> left = std::move(*hidden_);  // entered meanwhile, and not left
  delete hidden_;
  hidden_ = nullptr;
  for (Tape* t : left) {
    t->recording = false;
    give_up_bit(t);
    Py_DECREF(t);
  }
}

bool watched_by_any(const Tensor* t) {
  for (int k = 0; k < thread_state.n_tapes; ++k) if (watches(thread_state.tapes[k], t)) return true;
  return false;
}

}  // namespace tapeflow
