#include "tape.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>

#include "convert.h"
#include "kernels/accumulate.h"

namespace tapeflow {

PyTypeObject* TapeType = nullptr;

namespace {

int64_t epoch = 0;
uint64_t bits_taken = 0;
int64_t bit_epoch[64];
int64_t next_uid = 1;
PyTypeObject* CallType = nullptr;

std::vector<Tape*>& active() {
  static thread_local std::vector<Tape*> tapes;
  return tapes;
}

void publish() {
  auto& t = active();
  thread_state.tapes = t.data();
  thread_state.n_tapes = static_cast<int>(t.size());
}

bool trainable(DType d) {
  return is_floating(d) || is_complex(d) || d == DType::kResource || d == DType::kVariant;
}

bool watches(const Tape* tape, const Tensor* t) {
  if (tape->bit >= 0) return (t->watch >> tape->bit & 1) && t->watch_epoch >= tape->epoch;
  return tape->ids->count(t->id) != 0;
}

void mark(Tape* tape, Tensor* t) {
  if (tape->bit < 0) {
    tape->ids->insert(t->id);
    return;
  }
  // Bits that a later tape took over since are no longer this tensor's.
  for (uint64_t w = t->watch; w; w &= w - 1) {
    const int b = __builtin_ctzll(w);
    if (bit_epoch[b] > t->watch_epoch) t->watch &= ~(uint64_t{1} << b);
  }
  t->watch |= uint64_t{1} << tape->bit;
  t->watch_epoch = epoch;
}

void release_entry(Tape* tape, Entry& e) {
  for (uint32_t i = e.first_slot; i < e.first_slot + e.n_in + e.n_out; ++i) {
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
  if (keep) Py_INCREF(t);
  tape->slots->push_back(Slot{t->id, t->shape->retain(), keep ? t : nullptr, t->dtype});
}

bool needed(uint64_t mask, int i) { return mask >> std::min(i, 63) & 1; }

void append(Tape* tape, const CallRecord& c) {
  OpDef* op = c.op;
  PyObject* attrs = nullptr;
  const size_t n_attrs = op->attrs->size();
  for (size_t i = 0; i < n_attrs && c.attr_objects; ++i) {
    if (!c.attr_objects[i]) continue;
    if (!attrs) attrs = PyTuple_New(static_cast<Py_ssize_t>(n_attrs));
    if (!attrs) throw PythonError();
    PyTuple_SET_ITEM(attrs, static_cast<Py_ssize_t>(i), Py_NewRef(c.attr_objects[i]));
  }
  Py_INCREF(op);
  tape->entries->push_back(Entry{op, attrs, nullptr, nullptr, static_cast<uint32_t>(tape->slots->size()),
                                 static_cast<uint16_t>(c.n_in), static_cast<uint16_t>(c.n_out),
                                 c.list_sizes ? c.list_sizes[0] : -1});
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
}

// -- what a gradient function sees of the call -----------------------------------------------------

struct CallView {
  PyObject_HEAD
  OpDef* op;
  PyObject* attrs;
  std::vector<Slot>* slots;    // inputs, then outputs; owned references
  int n_in, list_size;
  uint64_t wanted;             // inputs that lead to a source, by flat position (bit 63: all from there)
};

void drop_slots(CallView* c) {
  for (Slot& s : *c->slots) {
    s.shape->release();
    Py_XDECREF(s.kept);
  }
  c->slots->clear();
}

void call_dealloc(PyObject* self) {
  auto* c = reinterpret_cast<CallView*>(self);
  drop_slots(c);
  delete c->slots;
  Py_XDECREF(c->op);
  Py_XDECREF(c->attrs);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* new_call(Tape* tape, const Entry& e, uint64_t wanted) {
  auto* c = PyObject_New(CallView, CallType);
  if (!c) throw PythonError();
  Py_INCREF(e.op);
  c->op = e.op;
  c->attrs = Py_XNewRef(e.attrs);
  c->slots = new std::vector<Slot>(tape->slots->begin() + e.first_slot,
                                   tape->slots->begin() + e.first_slot + e.n_in + e.n_out);
  for (Slot& s : *c->slots) {
    s.shape->retain();
    Py_XINCREF(s.kept);
  }
  c->n_in = e.n_in;
  c->list_size = e.list_size;
  c->wanted = wanted;
  return reinterpret_cast<PyObject*>(c);
}

// The flat positions [first, first + count) of a named input or output; count < 0: no such name. list: as a list.
struct Range { int first, count; bool list; };
Range find(const CallView* c, PyObject* name) {
  int at = 0;
  for (const Arg& a : *c->op->inputs) {
    const int n = a.list ? c->list_size : 1;
    if (a.name == name || PyUnicode_Compare(a.name, name) == 0) return {at, n, a.list};
    at += n;
  }
  const int outputs = static_cast<int>(c->slots->size()) - c->n_in;
  for (const Arg& a : *c->op->outputs) {
    const int n = a.list ? outputs - static_cast<int>(c->op->outputs->size()) + 1 : 1;
    if (a.name == name || PyUnicode_Compare(a.name, name) == 0) return {at, n, a.list};
    at += n;
  }
  return {0, -1, false};
}

PyObject* kept_tensor(const CallView* c, int i, PyObject* name) {
  Tensor* t = (*c->slots)[static_cast<size_t>(i)].kept;
  if (t) return Py_NewRef(reinterpret_cast<PyObject*>(t));
  PyErr_Format(PyExc_AttributeError, "the gradient of %s reads '%U', which its needs= does not name",
               c->op->name->c_str(), name);
  return nullptr;
}

PyObject* named(PyObject* self, PyObject* name) {
  auto* c = reinterpret_cast<CallView*>(self);
  for (size_t i = 0; i < c->op->attrs->size(); ++i) {
    const AttrSpec& s = (*c->op->attrs)[i];
    if (s.name != name && PyUnicode_Compare(s.name, name) != 0) continue;
    PyObject* given = c->attrs ? PyTuple_GET_ITEM(c->attrs, static_cast<Py_ssize_t>(i)) : nullptr;
    PyObject* v = given ? given : s.object;
    if (s.kind == AttrKind::kType && v != Py_None) {
      try { v = dtype_object(parse_dtype(v)); } catch (const PythonError&) { return nullptr; }
    }
    return Py_NewRef(v);
  }
  const Range r = find(c, name);
  if (r.count < 0) {
    PyErr_Format(PyExc_AttributeError, "%s has no input, output or attr '%U'", c->op->name->c_str(), name);
    return nullptr;
  }
  if (!r.list) return kept_tensor(c, r.first, name);
  PyObject* l = PyList_New(r.count);
  for (int i = 0; l && i < r.count; ++i) {
    PyObject* t = kept_tensor(c, r.first + i, name);
    if (!t) { Py_CLEAR(l); break; }
    PyList_SET_ITEM(l, i, t);
  }
  return l;
}

PyObject* call_getattro(PyObject* self, PyObject* name) {
  PyObject* own = _PyType_Lookup(CallType, name);  // shape, dtype, static_shape, wants, ...: methods come first
  if (own) return PyObject_GenericGetAttr(self, name);
  return named(self, name);
}

template <typename F>
PyObject* per_slot(PyObject* self, PyObject* name, F&& f) {
  auto* c = reinterpret_cast<CallView*>(self);
  const Range r = find(c, name);
  if (r.count < 0) return PyErr_Format(PyExc_AttributeError, "%s has no input or output '%U'", c->op->name->c_str(), name);
  try {
    if (!r.list) return f((*c->slots)[static_cast<size_t>(r.first)]);
    PyObject* l = PyList_New(r.count);
    for (int i = 0; l && i < r.count; ++i) PyList_SET_ITEM(l, i, f((*c->slots)[static_cast<size_t>(r.first + i)]));
    return l;
  } catch (const PythonError&) {
  } catch (const Error& e) {
    set_python_error(e, c->op);
  }
  return nullptr;
}

PyObject* tuple_of(const Shape* s) {
  PyObject* t = PyTuple_New(s->rank);
  for (int i = 0; t && i < s->rank; ++i) PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(s->dims[i]));
  return t;
}

PyObject* call_shape(PyObject* self, PyObject* name) {
  return per_slot(self, name, [](const Slot& s) {
    const int64_t n = s.shape->rank;
    bool wide = false;
    for (int i = 0; i < n; ++i) wide = wide || s.shape->dims[i] > INT32_MAX;
    Tensor* t = new_tensor(wide ? DType::kInt64 : DType::kInt32, 1, &n);
    for (int i = 0; i < n; ++i) {
      if (wide) t->as<int64_t>()[i] = s.shape->dims[i];
      else t->as<int32_t>()[i] = static_cast<int32_t>(s.shape->dims[i]);
    }
    return reinterpret_cast<PyObject*>(t);
  });
}

PyObject* shape_object(Shape* s) {
  if (!s->py) {
    PyObject* t = tuple_of(s);
    s->py = t ? PyObject_CallOneArg(hooks.tensor_shape, t) : nullptr;
    Py_XDECREF(t);
    if (!s->py) throw PythonError();
  }
  return Py_NewRef(s->py);
}

PyObject* call_static_shape(PyObject* self, PyObject* name) {
  return per_slot(self, name, [](const Slot& s) { return shape_object(s.shape); });
}
PyObject* call_dtype(PyObject* self, PyObject* name) {
  return per_slot(self, name, [](const Slot& s) { return Py_NewRef(dtype_object(s.dtype)); });
}
PyObject* call_wants(PyObject* self, PyObject* name) {
  auto* c = reinterpret_cast<CallView*>(self);
  const Range r = find(c, name);
  for (int i = r.first; i < r.first + r.count; ++i) if (needed(c->wanted, i)) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}
PyObject* call_op_name(PyObject* self, void*) {
  return PyUnicode_FromString(reinterpret_cast<CallView*>(self)->op->name->c_str());
}

PyMethodDef call_methods[] = {
    {"shape", call_shape, METH_O, "The shape of a named input or output, as an int32 vector."},
    {"static_shape", call_static_shape, METH_O, "The same as a TensorShape."},
    {"dtype", call_dtype, METH_O, "The dtype of a named input or output."},
    {"wants", call_wants, METH_O, "Whether the gradient for this input will be used."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef call_getset[] = {{"op_name", call_op_name, nullptr, nullptr, nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot call_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(call_dealloc)},
                            {Py_tp_getattro, reinterpret_cast<void*>(call_getattro)},
                            {Py_mp_subscript, reinterpret_cast<void*>(named)},
                            {Py_tp_methods, call_methods},
                            {Py_tp_getset, call_getset},
                            {Py_tp_doc, const_cast<char*>("A recorded call, as its gradient function sees it.")},
                            {0, nullptr}};
PyType_Spec call_spec = {"tapeflow._native.Call", sizeof(CallView), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, call_slots};

// -- playing backwards -----------------------------------------------------------------------------

// Gradients by id. Open addressing; ids are consecutive mostly, so that the low bits spread well.
class Gradients {
 public:
  struct Cell {
    int64_t id = 0;
    PyObject* gradient = nullptr;  // owned
    bool needed = false, source = false;
    bool ours = false;             // nobody else has seen this tensor: add in place
  };

  explicit Gradients(size_t expected) {
    size_t n = 16;
    while (n < expected * 2) n *= 2;
    cells_.resize(n);
  }
  ~Gradients() { for (Cell& c : cells_) Py_XDECREF(c.gradient); }

  Cell& at(int64_t id) {
    if (2 * (used_ + 1) > cells_.size()) grow();
    Cell& c = probe(id);
    if (c.id == 0) { c.id = id; ++used_; }
    return c;
  }
  Cell* find(int64_t id) {
    Cell& c = probe(id);
    return c.id == 0 ? nullptr : &c;
  }

 private:
  Cell& probe(int64_t id) {
    const size_t mask = cells_.size() - 1;
    size_t i = static_cast<size_t>(id) & mask;
    while (cells_[i].id != 0 && cells_[i].id != id) i = (i + 1) & mask;
    return cells_[i];
  }
  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (Cell& c : old) if (c.id) probe(c.id) = c;
  }
  std::vector<Cell> cells_;
  size_t used_ = 0;
};

PyObject* zeros(Shape* shape, DType d) {
  Tensor* t = new_tensor(d, shape);
  std::memset(t->data, 0, static_cast<size_t>(t->bytes()));
  return reinterpret_cast<PyObject*>(t);
}

PyObject* ones(Shape* shape, DType d) {
  if (d == DType::kFloat32) {
    Tensor* t = new_tensor(d, shape);
    std::fill_n(t->as<float>(), t->size(), 1.0f);
    return reinterpret_cast<PyObject*>(t);
  }
  PyObject* numpy = PyImport_ImportModule("numpy");
  PyObject* dims = numpy ? tuple_of(shape) : nullptr;
  PyObject* a = dims ? PyObject_CallMethod(numpy, "ones", "OO", dims, numpy_dtype_object(d)) : nullptr;
  Py_XDECREF(numpy);
  Py_XDECREF(dims);
  if (!a) throw PythonError();
  Tensor* t = nullptr;
  try { t = from_array(a, d); } catch (...) { Py_DECREF(a); throw; }
  Py_DECREF(a);
  return reinterpret_cast<PyObject*>(t);
}

// Adds g (stolen) to the cell.
void accumulate(Gradients::Cell& c, PyObject* g) {
  if (!c.gradient) {
    c.gradient = g;
    c.ours = false;
    return;
  }
  PyObject* sum = nullptr;
  if (is_tensor(c.gradient) && is_tensor(g)) {
    auto* a = reinterpret_cast<Tensor*>(c.gradient);
    auto* b = reinterpret_cast<Tensor*>(g);
    if (a->dtype == b->dtype && a->shape->same(b->shape) && a->data && b->data && !watched_by_any(a) && !watched_by_any(b)) {
      if (c.ours && a->unshared() && add_in_place(a, b)) {
        Py_DECREF(g);
        return;
      }
      Tensor* t = new_tensor(a->dtype, a->shape);
      std::memcpy(t->data, a->data, static_cast<size_t>(a->bytes()));
      if (add_in_place(t, b)) {
        sum = reinterpret_cast<PyObject*>(t);
      } else {
        Py_DECREF(t);
      }
    }
  }
  c.ours = sum != nullptr;
  if (!sum) sum = PyObject_CallFunctionObjArgs(hooks.accumulate, c.gradient, g, nullptr);
  Py_DECREF(g);
  if (!sum) throw PythonError();
  Py_SETREF(c.gradient, sum);
}

// A gradient (stolen) brought to the shape of the input it is for.
PyObject* fit(PyObject* g, const Slot& slot, const OpDef* op, const char* label) {
  if (!is_tensor(g)) return g;
  auto* t = reinterpret_cast<Tensor*>(g);
  if (t->shape->same(slot.shape) || slot.dtype == DType::kResource) return g;
  if (op && op->broadcasts) {
    if (!watched_by_any(t)) {
      Tensor* s = nullptr;
      try { s = sum_to_shape(t, slot.shape); } catch (...) { Py_DECREF(g); throw; }
      if (s) {
        Py_DECREF(g);
        return reinterpret_cast<PyObject*>(s);
      }
    }
    PyObject* dims = tuple_of(slot.shape);
    PyObject* s = PyObject_CallFunctionObjArgs(hooks.sum_to, g, dims, nullptr);
    Py_XDECREF(dims);
    Py_DECREF(g);
    if (!s) throw PythonError();
    return s;
  }
  const std::string have = t->shape->str();
  Py_DECREF(g);
  throw invalid("the gradient of ", label, " has shape ", have, " for an input of shape ", slot.shape->str());
}

PyObject* to_gradient(PyObject* r) {  // new reference; null for None
  if (r == Py_None) return nullptr;
  if (is_tensor(r) || PyObject_TypeCheck(r, TensorBaseType)) return Py_NewRef(r);
  if (PyFloat_Check(r) || PyLong_Check(r) || is_variable(r) || PyList_Check(r) || PyTuple_Check(r)) {
    return reinterpret_cast<PyObject*>(to_tensor(r, DType::kInvalid));
  }
  PyObject* is_array = PyObject_GetAttrString(r, "__array_interface__");
  PyErr_Clear();
  if (is_array) {
    Py_DECREF(is_array);
    return reinterpret_cast<PyObject*>(to_tensor(r, DType::kInvalid));
  }
  return Py_NewRef(r);  // IndexedSlices
}

class Playback {
 public:
  Playback(Tape* tape, size_t expected) : tape_(tape), g_(expected) {}

  void sources(PyObject* list) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      const int64_t id = id_of(PyList_GET_ITEM(list, i));
      auto& c = g_.at(id);
      c.needed = c.source = true;
    }
    for (const Alias& a : *tape_->aliases) {
      auto* v = g_.find(a.variable_id);
      if (!v || !v->source) continue;
      auto& c = g_.at(a.tensor_id);
      c.needed = c.source = true;
    }
    const size_t n = tape_->entries->size();
    needed_.assign(n, false);
    for (size_t i = 0; i < n; ++i) {
      const Entry& e = (*tape_->entries)[i];
      const Slot* s = tape_->slots->data() + e.first_slot;
      bool any = false;
      for (int k = 0; k < e.n_in && !any; ++k) {
        auto* c = g_.find(s[k].id);
        any = c && c->needed;
      }
      if (!any) continue;
      needed_[i] = true;
      for (int k = e.n_in; k < e.n_in + e.n_out; ++k) if (trainable(s[k].dtype)) g_.at(s[k].id).needed = true;
    }
  }

  void targets(PyObject* list, PyObject* seeds) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      PyObject* target = PyList_GET_ITEM(list, i);
      PyObject* seed = seeds != Py_None ? PyList_GET_ITEM(seeds, i) : Py_None;
      Tensor* value = is_variable(target) ? reinterpret_cast<Variable*>(target)->value : reinterpret_cast<Tensor*>(target);
      if (!value) throw Error(Code::kFailedPrecondition, "the target is an uninitialised variable");
      auto* c = g_.find(id_of(target));
      if (!c || !c->needed) continue;  // nothing leads there
      if (seed == Py_None) {
        if (!trainable(value->dtype)) continue;
        accumulate(*c, ones(value->shape, value->dtype));
        continue;
      }
      Tensor* s = to_tensor(seed, value->dtype);
      if (!s->shape->same(value->shape)) {
        const std::string have = s->shape->str();
        Py_DECREF(s);
        throw invalid("output_gradients has shape ", have, " for a target of shape ", value->shape->str());
      }
      accumulate(*g_.find(id_of(target)), reinterpret_cast<PyObject*>(s));
    }
  }

  void play(bool again) {
    const size_t n = needed_.size();
    for (size_t i = n; i-- > 0;) {
      if (needed_[i]) step((*tape_->entries)[i]);
      if (!again) release_entry(tape_, (*tape_->entries)[i]);
    }
  }

  PyObject* results(PyObject* list, bool zero) {
    PyObject* out = PyList_New(PyList_GET_SIZE(list));
    if (!out) throw PythonError();
    try {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        PyObject* source = PyList_GET_ITEM(list, i);
        PyObject* r = result(source);
        if (!r && zero) {
          auto* t = is_variable(source) ? reinterpret_cast<Variable*>(source)->value : reinterpret_cast<Tensor*>(source);
          if (t) r = zeros(t->shape, t->dtype);
        }
        PyList_SET_ITEM(out, i, r ? r : Py_NewRef(Py_None));
      }
    } catch (...) { Py_DECREF(out); throw; }
    return out;
  }

  static int64_t id_of(PyObject* o) {
    return is_variable(o) ? reinterpret_cast<Variable*>(o)->id : reinterpret_cast<Tensor*>(o)->id;
  }

 private:
  PyObject* result(PyObject* source) {
    Gradients::Cell sum;
    auto* own = g_.find(id_of(source));
    if (own && own->gradient) accumulate(sum, Py_NewRef(own->gradient));
    if (is_variable(source)) {
      const int64_t id = reinterpret_cast<Variable*>(source)->id;
      for (size_t k = 0; k < tape_->aliases->size(); ++k) {
        const Alias a = (*tape_->aliases)[k];
        if (a.variable_id != id) continue;
        auto* c = g_.find(a.tensor_id);
        if (c && c->gradient) {
          try { accumulate(sum, Py_NewRef(c->gradient)); } catch (...) { Py_XDECREF(sum.gradient); throw; }
        }
      }
    }
    return sum.gradient;
  }

  void step(const Entry entry) {  // by value: recording may grow the tape meanwhile
    const int n_in = entry.n_in, n_out = entry.n_out;
    const uint32_t first = entry.first_slot;
    bool any = false;
    for (int k = 0; k < n_out && !any; ++k) {
      auto* c = g_.find((*tape_->slots)[first + static_cast<uint32_t>(n_in + k)].id);
      any = c && c->gradient;
    }
    if (!any) return;
    if (!entry.op) label_ = PyUnicode_AsUTF8(entry.label);
    else label_ = entry.op->name->c_str();
    if (entry.op && !entry.op->gradient) {
      PyErr_Format(PyExc_LookupError, "gradient registry has no entry for: %s", label_);
      throw PythonError();
    }
    args_.clear();
    struct Release {
      std::vector<PyObject*>& a;
      ~Release() { for (PyObject* o : a) Py_XDECREF(o); a.clear(); }
    } release{args_};
    uint64_t wanted = 0;
    for (int k = 0; k < n_in; ++k) {
      auto* c = g_.find((*tape_->slots)[first + static_cast<uint32_t>(k)].id);
      if (c && c->needed) wanted |= uint64_t{1} << std::min(k, 63);
    }
    if (entry.op) args_.push_back(new_call(tape_, entry, wanted));
    const bool one_list = entry.op && entry.op->outputs->size() == 1 && (*entry.op->outputs)[0].list;
    for (int k = 0; k < n_out; ++k) {
      const Slot& s = (*tape_->slots)[first + static_cast<uint32_t>(n_in + k)];
      auto* c = g_.find(s.id);
      PyObject* dy = nullptr;
      if (c && c->gradient) {
        dy = c->gradient;
        if (c->source) { Py_INCREF(dy); c->ours = false; }
        else c->gradient = nullptr;
      } else if (trainable(s.dtype) && !is_object(s.dtype) && !(entry.op && entry.op->none_grads)) {
        dy = zeros(s.shape, s.dtype);
      } else {
        dy = Py_NewRef(Py_None);
      }
      args_.push_back(dy);
    }
    if (one_list) {  // the gradient of a list output is a list
      PyObject* l = PyList_New(n_out);
      if (!l) throw PythonError();
      for (int k = 0; k < n_out; ++k) PyList_SET_ITEM(l, k, args_[static_cast<size_t>(k) + 1]);
      args_.resize(1);
      args_.push_back(l);
    }
    PyObject* fn = entry.op ? entry.op->gradient : entry.backward;
    PyObject* r = PyObject_Vectorcall(fn, args_.data(), args_.size(), nullptr);
    if (!r) throw PythonError();
    try { distribute(entry, r); } catch (...) { Py_DECREF(r); throw; }
    Py_DECREF(r);
  }

  // Gives each input its part of the gradient function's result.
  void distribute(const Entry& e, PyObject* r) {
    flat_.clear();
    const bool sequence = PyList_Check(r) || PyTuple_CheckExact(r);
    if (!sequence) {
      flat_.push_back(r);
    } else if (e.op && e.op->has_list) {
      const auto& specs = *e.op->inputs;
      if (specs.size() == 1) {  // [[g...]] or [g...]
        PyObject* l = PySequence_Fast_GET_SIZE(r) == 1 && e.n_in != 1 ? PySequence_Fast_GET_ITEM(r, 0) : r;
        if (PySequence_Fast_GET_SIZE(r) == 1 && (PyList_Check(PySequence_Fast_GET_ITEM(r, 0)) || PyTuple_Check(PySequence_Fast_GET_ITEM(r, 0)))) l = PySequence_Fast_GET_ITEM(r, 0);
        spread(l, e.n_in);
      } else {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(r) && i < static_cast<Py_ssize_t>(specs.size()); ++i) {
          PyObject* o = PySequence_Fast_GET_ITEM(r, i);
          if (specs[static_cast<size_t>(i)].list) spread(o, e.list_size);
          else flat_.push_back(o);
        }
      }
    } else {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(r); ++i) flat_.push_back(PySequence_Fast_GET_ITEM(r, i));
    }
    if (static_cast<int>(flat_.size()) != e.n_in) {
      PyErr_Format(PyExc_ValueError, "the gradient function of %s returned %zd gradients for %d inputs", label_,
                   static_cast<Py_ssize_t>(flat_.size()), static_cast<int>(e.n_in));
      throw PythonError();
    }
    for (int k = 0; k < e.n_in; ++k) {
      const Slot slot = (*tape_->slots)[e.first_slot + static_cast<uint32_t>(k)];
      auto* c = g_.find(slot.id);
      if (!c || !c->needed || !trainable(slot.dtype)) continue;
      PyObject* g = to_gradient(flat_[static_cast<size_t>(k)]);
      if (!g) continue;
      g = fit(g, slot, e.op, label_);
      accumulate(g_.at(slot.id), g);
    }
  }

  void spread(PyObject* o, int n) {
    if (o == Py_None) {
      for (int i = 0; i < n; ++i) flat_.push_back(Py_None);
    } else if (PyList_Check(o) || PyTuple_Check(o)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) flat_.push_back(PySequence_Fast_GET_ITEM(o, i));
    } else {
      flat_.push_back(o);
    }
  }

  Tape* tape_;
  Gradients g_;
  std::vector<bool> needed_;
  std::vector<PyObject*> args_, flat_;
  const char* label_ = "";
};

// -- the type --------------------------------------------------------------------------------------

template <typename F>
PyObject* guarded(F&& f) {
  try {
    return f();
  } catch (const PythonError&) {
  } catch (const Error& e) {
    set_python_error(e, nullptr);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

Tape* as_tape(PyObject* o) { return reinterpret_cast<Tape*>(o); }

PyObject* tape_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto* t = reinterpret_cast<Tape*>(type->tp_alloc(type, 0));
  if (!t) return nullptr;
  t->entries = new std::vector<Entry>;
  t->slots = new std::vector<Slot>;
  t->aliases = new std::vector<Alias>;
  t->variables = new std::vector<PyObject*>;
  t->ids = new std::unordered_set<int64_t>;
  t->breaks = new std::vector<Break>;
  t->bit = -1;
  t->watch_accessed = true;
  t->uid = next_uid++;
  return reinterpret_cast<PyObject*>(t);
}

int tape_init(PyObject* self, PyObject* args, PyObject* kw) {
  static const char* names[] = {"persistent", "watch_accessed_variables", nullptr};
  int persistent = 0, watch = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|pp", const_cast<char**>(names), &persistent, &watch)) return -1;
  as_tape(self)->persistent = persistent != 0;
  as_tape(self)->watch_accessed = watch != 0;
  return 0;
}

void give_up_bit(Tape* t) {
  if (t->bit >= 0) bits_taken &= ~(uint64_t{1} << t->bit);
  t->bit = -1;
}

void fill_ids(Tape* t) {
  for (const Slot& s : *t->slots) t->ids->insert(s.id);
  for (const Alias& a : *t->aliases) t->ids->insert(a.tensor_id);
}

void push(Tape* t) {
  if (!t->paused) {
    if (!t->entered && ~bits_taken) {
      t->bit = __builtin_ctzll(~bits_taken);
      bits_taken |= uint64_t{1} << t->bit;
      t->epoch = bit_epoch[t->bit] = ++epoch;
    } else {
      fill_ids(t);  // entered again, or the 65th: by set
    }
    t->entered = true;
  }
  t->recording = true;
  Py_INCREF(t);
  active().push_back(t);
  publish();
}

bool pop(Tape* t) {
  auto& a = active();
  auto at = std::find(a.begin(), a.end(), t);
  if (at == a.end()) return false;
  a.erase(at);
  publish();
  t->recording = false;
  Py_DECREF(t);
  return true;
}

// Tells the room of graphs of what happens to a tape while a graph is built. False with an exception.
bool tell_graph(PyObject* self, const char* event) {
  if (thread_state.graph_scope <= 0 || !hooks.graph_tape) return true;
  PyObject* r = PyObject_CallFunction(hooks.graph_tape, "Os", self, event);
  Py_XDECREF(r);
  return r != nullptr;
}

PyObject* tape_enter(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (t->recording) {
    PyErr_SetString(PyExc_ValueError, "Tape is still recording, This can happen if you try to re-enter an already-active tape.");
    return nullptr;
  }
  if (t->in_gradient) {
    PyErr_SetString(PyExc_RuntimeError, "The tape is computing a gradient in another thread.");
    return nullptr;
  }
  push(t);
  if (!tell_graph(self, "enter")) return nullptr;
  return Py_NewRef(self);
}

PyObject* tape_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  Tape* t = as_tape(self);
  if (t->recording) {
    if (!pop(t)) {
      PyErr_SetString(PyExc_ValueError, "Tape is not recording in this thread.");
      return nullptr;
    }
    give_up_bit(t);
  }
  if (!tell_graph(self, "exit")) return nullptr;
  Py_RETURN_NONE;
}

PyObject* tape_pause(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (!t->recording || !pop(t)) {
    PyErr_SetString(PyExc_ValueError, "Tape is not recording.");
    return nullptr;
  }
  t->paused = true;
  if (!tell_graph(self, "pause")) return nullptr;
  Py_RETURN_NONE;
}

PyObject* tape_resume(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (t->paused && !t->recording) push(t);
  t->paused = false;
  if (!tell_graph(self, "resume")) return nullptr;
  Py_RETURN_NONE;
}

void watch_variable(Tape* tape, Variable* v) {
  auto& vars = *tape->variables;
  if (std::find(vars.begin(), vars.end(), reinterpret_cast<PyObject*>(v)) == vars.end()) {
    vars.push_back(Py_NewRef(reinterpret_cast<PyObject*>(v)));
  }
  if (v->value) {
    tape->aliases->push_back(Alias{v->value->id, v->id});
    mark(tape, v->value);
  }
}

PyObject* tape_watch(PyObject* self, PyObject* o) {
  Tape* t = as_tape(self);
  if (is_variable(o)) {
    watch_variable(t, reinterpret_cast<Variable*>(o));
  } else if (is_tensor(o)) {
    mark(t, reinterpret_cast<Tensor*>(o));
    t->ids->insert(reinterpret_cast<Tensor*>(o)->id);
  } else {
    return PyErr_Format(PyExc_ValueError, "Passed in object of type %s, not tf.Tensor", Py_TYPE(o)->tp_name);
  }
  Py_RETURN_NONE;
}

PyObject* tape_variables(PyObject* self, PyObject*) {
  auto& vars = *as_tape(self)->variables;
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(vars.size()));
  for (size_t i = 0; out && i < vars.size(); ++i) PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), Py_NewRef(vars[i]));
  return out;
}

PyObject* tape_reset(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (t->in_gradient) {
    PyErr_SetString(PyExc_RuntimeError, "The tape is computing a gradient.");
    return nullptr;
  }
  const bool recording = t->recording;
  if (recording) pop(t);
  give_up_bit(t);
  clear_tape(t);
  t->entered = t->paused = false;
  if (recording) push(t);
  Py_RETURN_NONE;
}

// _gradient(targets, sources, output_gradients or None, zero)
PyObject* tape_gradient(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  Tape* tape = as_tape(self);
  if (n < 4 || n > 5 || !PyList_Check(args[0]) || !PyList_Check(args[1]) || (args[2] != Py_None && !PyList_Check(args[2]))) {
    return PyErr_Format(PyExc_TypeError, "_gradient(targets, sources, output_gradients, zero, again=False)");
  }
  for (int k = 0; k < 2; ++k) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[k]); ++i) {
      PyObject* o = PyList_GET_ITEM(args[k], i);
      if (!is_tensor(o) && !is_variable(o)) return PyErr_Format(PyExc_TypeError, "%s must be tensors or variables, not %R", k ? "sources" : "targets", o);
    }
  }
  if (args[2] != Py_None && PyList_GET_SIZE(args[2]) != PyList_GET_SIZE(args[0])) {
    return PyErr_Format(PyExc_ValueError, "output_gradients must have one element for each target");
  }
  if (tape->in_gradient) return PyErr_Format(PyExc_RuntimeError, "The tape is computing a gradient already.");
  return guarded([&]() -> PyObject* {
    struct Busy {
      Tape* t;
      explicit Busy(Tape* tape) : t(tape) { t->in_gradient = true; Py_INCREF(t); }
      ~Busy() { t->in_gradient = false; Py_DECREF(t); }
    } busy(tape);
    Playback p(tape, tape->slots->size() + static_cast<size_t>(PyList_GET_SIZE(args[1])) + tape->aliases->size());
    p.sources(args[1]);
    p.targets(args[0], args[2]);
    p.play(tape->persistent || (n == 5 && args[4] == Py_True));
    return p.results(args[1], args[3] == Py_True);
  });
}

PyObject* release_all(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (!t->in_gradient) {
    clear_tape(t);
    if (!t->recording) t->entered = false;  // entered again it starts anew
  }
  Py_RETURN_NONE;
}

PyObject* ids_list(const int64_t* ids, size_t n) {
  PyObject* l = PyList_New(0);
  for (size_t i = 0; l && i < n; ++i) {
    if (!ids[i]) continue;
    PyObject* x = PyLong_FromLongLong(ids[i]);
    PyList_Append(l, x);
    Py_XDECREF(x);
  }
  return l;
}

PyObject* tape_entries(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  PyObject* out = PyList_New(0);
  for (const Entry& e : *t->entries) {
    std::vector<int64_t> ids;
    for (int k = 0; k < e.n_in + e.n_out; ++k) ids.push_back((*t->slots)[e.first_slot + static_cast<uint32_t>(k)].id);
    PyObject* item = Py_BuildValue("(sNN)", e.op ? e.op->name->c_str() : PyUnicode_AsUTF8(e.label), ids_list(ids.data(), e.n_in),
                                   ids_list(ids.data() + e.n_in, e.n_out));
    PyList_Append(out, item);
    Py_XDECREF(item);
  }
  for (const Alias& a : *t->aliases) {
    PyObject* item = Py_BuildValue("(s[L][L])", "ReadVariableOp", a.variable_id, a.tensor_id);
    PyList_Append(out, item);
    Py_XDECREF(item);
  }
  return out;
}

PyObject* tape_breaks(PyObject* self, PyObject*) {
  PyObject* out = PyList_New(0);
  for (const Break& b : *as_tape(self)->breaks) {
    PyObject* item = Py_BuildValue("(sNN)", b.op->name->c_str(), ids_list(b.in, 3), ids_list(&b.out, 1));
    PyList_Append(out, item);
    Py_XDECREF(item);
  }
  return out;
}

int tape_traverse(PyObject* self, visitproc visit, void* arg) {
  Tape* t = as_tape(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(t->dict);
  for (const Entry& e : *t->entries) {
    Py_VISIT(e.attrs);
    Py_VISIT(e.backward);
  }
  for (PyObject* v : *t->variables) Py_VISIT(v);
  return 0;
}

int tape_clear(PyObject* self) {
  Py_CLEAR(as_tape(self)->dict);
  clear_tape(as_tape(self));
  return 0;
}

void tape_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Tape* t = as_tape(self);
  if (t->weakrefs) PyObject_ClearWeakRefs(self);
  give_up_bit(t);
  tape_clear(self);
  delete t->entries;
  delete t->slots;
  delete t->aliases;
  delete t->variables;
  delete t->ids;
  delete t->breaks;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef tape_methods[] = {
    {"__enter__", tape_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tape_exit)), METH_FASTCALL, nullptr},
    {"_watch", tape_watch, METH_O, nullptr},
    {"_pause", tape_pause, METH_NOARGS, nullptr},
    {"_resume", tape_resume, METH_NOARGS, nullptr},
    {"watched_variables", tape_variables, METH_NOARGS, "Variables watched by this tape, in order of first use."},
    {"reset", tape_reset, METH_NOARGS, "Forgets everything recorded so far."},
    {"_gradient", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tape_gradient)), METH_FASTCALL, nullptr},
    {"_release", release_all, METH_NOARGS, nullptr},
    {"_entries", tape_entries, METH_NOARGS, nullptr},
    {"_breaks", tape_breaks, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef tape_members[] = {
    {"_persistent", T_BOOL, offsetof(Tape, persistent), READONLY, nullptr},
    {"_recording", T_BOOL, offsetof(Tape, recording), READONLY, nullptr},
    {"_watches_accessed", T_BOOL, offsetof(Tape, watch_accessed), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Tape, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tape, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot tape_slots[] = {{Py_tp_new, reinterpret_cast<void*>(tape_new)},
                            {Py_tp_init, reinterpret_cast<void*>(tape_init)},
                            {Py_tp_dealloc, reinterpret_cast<void*>(tape_dealloc)},
                            {Py_tp_traverse, reinterpret_cast<void*>(tape_traverse)},
                            {Py_tp_clear, reinterpret_cast<void*>(tape_clear)},
                            {Py_tp_methods, tape_methods},
                            {Py_tp_members, tape_members},
                            {Py_tp_doc, const_cast<char*>("Records calls and plays them backwards.")},
                            {0, nullptr}};
PyType_Spec tape_spec = {"tapeflow._native.Tape", sizeof(Tape), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tape_slots};

// -- module functions ------------------------------------------------------------------------------

// record_custom(name, outputs, inputs, backward)
PyObject* record_custom(PyObject*, PyObject* args) {
  PyObject *name, *outputs, *inputs, *backward;
  if (!PyArg_ParseTuple(args, "UO!O!O", &name, &PyList_Type, &outputs, &PyList_Type, &inputs, &backward)) return nullptr;
  return guarded([&]() -> PyObject* {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); ++i) {
      if (!is_tensor(PyList_GET_ITEM(outputs, i))) return PyErr_Format(PyExc_TypeError, "outputs must be tensors, not %R", PyList_GET_ITEM(outputs, i));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) {
      PyObject* o = PyList_GET_ITEM(inputs, i);
      if (!is_tensor(o) && !is_variable(o)) return PyErr_Format(PyExc_TypeError, "inputs must be tensors or variables, not %R", o);
      if (is_variable(o)) read_variable(reinterpret_cast<Variable*>(o));
    }
    for (Tape* tape : active()) {
      bool watched = false;
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs) && !watched; ++i) {
        PyObject* o = PyList_GET_ITEM(inputs, i);
        Tensor* t = is_variable(o) ? reinterpret_cast<Variable*>(o)->value : reinterpret_cast<Tensor*>(o);
        watched = t && trainable(t->dtype) && watches(tape, t);
      }
      if (!watched) continue;
      tape->entries->push_back(Entry{nullptr, nullptr, Py_NewRef(backward), Py_NewRef(name),
                                     static_cast<uint32_t>(tape->slots->size()), static_cast<uint16_t>(PyList_GET_SIZE(inputs)),
                                     static_cast<uint16_t>(PyList_GET_SIZE(outputs)), -1});
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) {
        PyObject* o = PyList_GET_ITEM(inputs, i);
        add_slot(tape, is_variable(o) ? reinterpret_cast<Variable*>(o)->value : reinterpret_cast<Tensor*>(o), false);
      }
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); ++i) {
        auto* t = reinterpret_cast<Tensor*>(PyList_GET_ITEM(outputs, i));
        add_slot(tape, t, false);
        if (trainable(t->dtype)) mark(tape, t);
      }
    }
    Py_RETURN_NONE;
  });
}

PyObject* pause_tapes(PyObject*, PyObject*) {
  auto& a = active();
  PyObject* token = PyTuple_New(static_cast<Py_ssize_t>(a.size()));
  if (!token) return nullptr;
  for (size_t i = 0; i < a.size(); ++i) {
    PyTuple_SET_ITEM(token, static_cast<Py_ssize_t>(i), reinterpret_cast<PyObject*>(a[i]));  // the list's reference moves over
  }
  a.clear();
  publish();
  return token;
}

PyObject* recording_tapes(PyObject*, PyObject*) { return PyLong_FromLong(thread_state.n_tapes); }

PyObject* recording_persistent(PyObject*, PyObject*) {
  for (int k = 0; k < thread_state.n_tapes; ++k) if (thread_state.tapes[k]->persistent) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}

PyObject* resume_tapes(PyObject*, PyObject* token) {
  if (!PyTuple_Check(token)) return PyErr_Format(PyExc_TypeError, "resume_tapes takes what pause_tapes returned");
  auto& a = active();
  std::vector<Tape*> back;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(token); ++i) {
    PyObject* o = PyTuple_GET_ITEM(token, i);
    if (!PyObject_TypeCheck(o, TapeType)) return PyErr_Format(PyExc_TypeError, "resume_tapes takes what pause_tapes returned");
    if (as_tape(o)->recording) back.push_back(as_tape(Py_NewRef(o)));
  }
  a.insert(a.begin(), back.begin(), back.end());
  publish();
  Py_RETURN_NONE;
}

PyObject* is_watched(PyObject*, PyObject* o) {
  if (is_tensor(o)) return PyBool_FromLong(watched_by_any(reinterpret_cast<Tensor*>(o)));
  if (is_variable(o)) return PyBool_FromLong(thread_state.n_tapes > 0 && reinterpret_cast<Variable*>(o)->trainable);
  Py_RETURN_FALSE;
}

PyMethodDef module_methods[] = {
    {"record_custom", record_custom, METH_VARARGS, nullptr},
    {"pause_tapes", pause_tapes, METH_NOARGS, nullptr},
    {"resume_tapes", resume_tapes, METH_O, nullptr},
    {"recording_tapes", recording_tapes, METH_NOARGS, "How many tapes record in this thread."},
    {"recording_persistent", recording_persistent, METH_NOARGS, "Whether one of them may be asked again."},
    {"is_watched", is_watched, METH_O, "Whether a tape that records in this thread watches the tensor."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void record(const CallRecord& c) {
  for (int k = 0; k < thread_state.n_tapes; ++k) {
    Tape* tape = thread_state.tapes[k];
    bool watched = false;
    for (int i = 0; i < c.n_in && !watched; ++i) watched = trainable(c.in[i]->dtype) && watches(tape, c.in[i]);
    if (!watched) continue;
    if (c.op->gradient == Py_None) {
      Break b{c.op, {}, c.n_out ? c.out[0]->id : 0};
      Py_INCREF(c.op);
      for (int i = 0; i < c.n_in && i < 3; ++i) b.in[i] = c.in[i]->id;
      tape->breaks->push_back(b);
      continue;
    }
    append(tape, c);
    for (int i = 0; i < c.n_out; ++i) if (trainable(c.out[i]->dtype)) mark(tape, c.out[i]);
  }
}

Tensor* read_variable(Variable* v) {
  if (!v->value) throw Error(Code::kFailedPrecondition, "Error while reading a variable: it is uninitialized.");
  for (int k = 0; k < thread_state.n_tapes; ++k) {
    Tape* tape = thread_state.tapes[k];
    if (tape->watch_accessed ? !v->trainable && tape->variables->empty() : tape->variables->empty()) continue;
    bool known = watches(tape, v->value);
    if (known) continue;
    if (!(tape->watch_accessed && v->trainable)) {
      auto& vars = *tape->variables;
      if (std::find(vars.begin(), vars.end(), reinterpret_cast<PyObject*>(v)) == vars.end()) continue;
    }
    watch_variable(tape, v);
  }
  return v->value;
}

void read_handle(Variable* v) {
  if (!v->value) return;
  read_variable(v);
  for (int k = 0; k < thread_state.n_tapes; ++k) {
    Tape* tape = thread_state.tapes[k];
    if (!watches(tape, v->value) || watches(tape, v->handle)) continue;
    tape->aliases->push_back(Alias{v->handle->id, v->id});
    mark(tape, v->handle);
  }
}

void HiddenTapes::exchange() {
  if (!hidden_) {
    hidden_ = new std::vector<Tape*>;
    hidden_->swap(active());
  } else {
    hidden_->swap(active());
    delete hidden_;
    hidden_ = nullptr;
  }
  publish();
}

bool watched_by_any(const Tensor* t) {
  for (int k = 0; k < thread_state.n_tapes; ++k) if (watches(thread_state.tapes[k], t)) return true;
  return false;
}

bool init_tape(PyObject* module) {
  TapeType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&tape_spec));
  CallType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&call_spec));
  return TapeType && CallType && PyModule_AddObjectRef(module, "Tape", reinterpret_cast<PyObject*>(TapeType)) == 0 &&
         PyModule_AddFunctions(module, module_methods) == 0;
}

}  // namespace tapeflow
