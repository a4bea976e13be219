// The Python type Tape, and what Python does to the tapes of a thread.
#include <Python.h>
#include <structmember.h>

#include "guard.h"
#include "playback.h"
#include "recorded_call.h"
#include "ref.h"

namespace tapeflow {

PyTypeObject* TapeType = nullptr;

namespace {

Count<int64_t> last_uid;

Tape* as_tape(PyObject* o) { return reinterpret_cast<Tape*>(o); }

PyObject* tape_new(PyTypeObject* type, PyObject*, PyObject*) {
  Ref made(type->tp_alloc(type, 0));
  Tape* t = as_tape(made.get());
  t->entries = new std::vector<Entry>;
  t->slots = new std::vector<Slot>;
  t->aliases = new std::vector<Alias>;
  t->variables = new std::vector<PyObject*>;
  t->ids = new std::unordered_set<int64_t>;
  t->breaks = new std::vector<Break>;
  t->bit = -1;
  t->watch_accessed = true;
  t->uid = last_uid.next();
  return made.release();
}

int tape_init(PyObject* self, PyObject* args, PyObject* kw) {
  static const char* names[] = {"persistent", "watch_accessed_variables", nullptr};
  int persistent = 0, watch = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|pp", const_cast<char**>(names), &persistent, &watch)) return -1;
  as_tape(self)->persistent = persistent != 0;
  as_tape(self)->watch_accessed = watch != 0;
  return 0;
}

// Tells the `graph` package what happens to a tape while a graph is built. False with an exception.
bool tell_graph(PyObject* self, const char* event) {
  if (thread_state.graph_scope <= 0 || !hooks.graph_tape) return true;
  return bool{Ref::or_null(PyObject_CallFunction(hooks.graph_tape, "Os", self, event))};
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
  start_recording(t);
  if (!tell_graph(self, "enter")) {
    if (t->recording && stop_recording(t)) give_up_bit(t);
    return nullptr;
  }
  return Py_NewRef(self);
}

PyObject* tape_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  Tape* t = as_tape(self);
  if (t->recording) {
    if (!stop_recording(t)) {
      PyErr_SetString(PyExc_ValueError, "Tape is not recording in this thread.");
      return nullptr;
    }
    give_up_bit(t);
  }
  t->paused = false;  // a `stop_recording` that was left half ends after this
  if (!tell_graph(self, "exit")) return nullptr;
  Py_RETURN_NONE;
}

PyObject* tape_pause(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (!t->recording || !stop_recording(t)) {
    PyErr_SetString(PyExc_ValueError, "Tape is not recording.");
    return nullptr;
  }
  t->paused = true;
  if (!tell_graph(self, "pause")) return nullptr;
  Py_RETURN_NONE;
}

PyObject* tape_resume(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (t->paused && !t->recording) start_recording(t);
  t->paused = false;
  if (!tell_graph(self, "resume")) return nullptr;
  Py_RETURN_NONE;
}

PyObject* tape_watch(PyObject* self, PyObject* o) {
  Tape* t = as_tape(self);
  if (is_variable(o)) {
    return guarded([&] {
      auto* v = variable_at(o);
      watch_variable(t, v, snapshot(v).get());
      Py_RETURN_NONE;
    });
  } else if (is_tensor(o)) {
    mark(t, reinterpret_cast<Tensor*>(o));
    t->ids->insert(reinterpret_cast<Tensor*>(o)->id);
  } else {
    return PyErr_Format(PyExc_ValueError, "Passed in object of type %s, not tf.Tensor", Py_TYPE(o)->tp_name);
  }
  Py_RETURN_NONE;
}

void append_to(const Ref& list, const Ref& item) {
  if (PyList_Append(list.get(), item.get()) < 0) throw PythonError();
}

PyObject* tape_variables(PyObject* self, PyObject*) {
  const auto& vars = *as_tape(self)->variables;
  const Ref out(PyList_New(0));
  for (size_t i = 0; i < vars.size(); ++i) append_to(out, Ref::share(vars[i]));
  return PyList_AsTuple(out.get());
}

PyObject* tape_reset(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (t->in_gradient) {
    PyErr_SetString(PyExc_RuntimeError, "The tape is computing a gradient.");
    return nullptr;
  }
  const bool recording = t->recording;
  if (recording) stop_recording(t);
  give_up_bit(t);
  clear_tape(t);
  t->entered = t->paused = false;
  if (recording) start_recording(t);
  Py_RETURN_NONE;
}

// _gradient(targets, sources, output_gradients or None, zero)
PyObject* tape_gradient(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  Tape* tape = as_tape(self);
  if (n < 4 || n > 5 || !PyList_Check(args[0]) || !PyList_Check(args[1]) || (args[2] != Py_None && !PyList_Check(args[2]))) {
    return PyErr_Format(PyExc_TypeError, "_gradient(targets, sources, output_gradients, zero, again=False)");
  }
  // Copies: gradient functions may change the lists.
  const Ref targets(PyList_AsTuple(args[0])), sources(PyList_AsTuple(args[1]));
  const Ref seeds = args[2] == Py_None ? Ref::share(Py_None) : Ref(PyList_AsTuple(args[2]));
  for (const Ref* all : {&targets, &sources}) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all->get()); ++i) {
      PyObject* o = PyTuple_GET_ITEM(all->get(), i);
      if (is_tensor(o) || is_variable(o)) continue;
      return PyErr_Format(PyExc_TypeError, "%s must be tensors or variables, not %R", all == &sources ? "sources" : "targets", o);
    }
  }
  if (seeds.get() != Py_None && PyTuple_GET_SIZE(seeds.get()) != PyTuple_GET_SIZE(targets.get())) {
    return PyErr_Format(PyExc_ValueError, "output_gradients must have one element for each target");
  }
  if (tape->in_gradient) return PyErr_Format(PyExc_RuntimeError, "The tape is computing a gradient already.");
  struct Busy {
    Tape* t;
    explicit Busy(Tape* tape) : t(tape) { t->in_gradient = true; Py_INCREF(t); }
    ~Busy() { t->in_gradient = false; Py_DECREF(t); }
  } busy(tape);
  const bool again = tape->persistent || (n == 5 && args[4] == Py_True);
  return play_backwards(tape, targets.get(), sources.get(), seeds.get(), args[3] == Py_True, again);
}

PyObject* release_all(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  if (!t->in_gradient) {
    clear_tape(t);
    if (!t->recording) t->entered = false;  // entered again it starts anew
  }
  Py_RETURN_NONE;
}

Ref ids_list(const int64_t* ids, int n) {
  Ref l(PyList_New(0));
  for (int i = 0; i < n; ++i) if (ids[i]) append_to(l, Ref(PyLong_FromLongLong(ids[i])));
  return l;
}

void append_call(const Ref& list, const char* name, const int64_t* in, int n_in, const int64_t* out, int n_out) {
  const Ref inputs = ids_list(in, n_in), outputs = ids_list(out, n_out);
  append_to(list, Ref(Py_BuildValue("(sOO)", name, inputs.get(), outputs.get())));
}

PyObject* tape_entries(PyObject* self, PyObject*) {
  Tape* t = as_tape(self);
  Ref out(PyList_New(0));
  for (size_t i = 0; i < t->entries->size(); ++i) {
    const Entry e = (*t->entries)[i];
    std::vector<int64_t> ids;
    for (int k = 0; k < e.n_in + e.n_out; ++k) ids.push_back((*t->slots)[e.first_slot + static_cast<uint32_t>(k)].id);
    append_call(out, label_of(e), ids.data(), e.n_in, ids.data() + e.n_in, e.n_out);
  }
  for (size_t i = 0; i < t->aliases->size(); ++i) {
    const Alias a = (*t->aliases)[i];
    append_call(out, "ReadVariableOp", &a.variable_id, 1, &a.tensor_id, 1);
  }
  return out.release();
}

PyObject* tape_breaks(PyObject* self, PyObject*) {
  Ref out(PyList_New(0));
  const auto& breaks = *as_tape(self)->breaks;
  for (size_t i = 0; i < breaks.size(); ++i) {
    const Break b = breaks[i];
    append_call(out, b.op->name->c_str(), b.in, 3, &b.out, 1);
  }
  return out.release();
}

int tape_traverse(PyObject* self, visitproc visit, void* arg) {
  Tape* t = as_tape(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(t->dict);
  if (t->entries) {
    for (const Entry& e : *t->entries) {
      Py_VISIT(e.attrs);
      Py_VISIT(e.backward);
    }
  }
  if (t->variables) {
    for (PyObject* v : *t->variables) Py_VISIT(v);
  }
  return 0;
}

int tape_clear(PyObject* self) {
  Py_CLEAR(as_tape(self)->dict);
  if (as_tape(self)->breaks) clear_tape(as_tape(self));  // else it was never finished
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
    {"__enter__", entry<locked<tape_enter>>, METH_NOARGS, nullptr},
    {"__exit__", method(entry<locked<tape_exit>>), METH_FASTCALL, nullptr},
    {"_watch", entry<locked<tape_watch>>, METH_O, nullptr},
    {"_pause", entry<locked<tape_pause>>, METH_NOARGS, nullptr},
    {"_resume", entry<locked<tape_resume>>, METH_NOARGS, nullptr},
    {"watched_variables", entry<locked<tape_variables>>, METH_NOARGS, "Variables watched by this tape, in order of first use."},
    {"reset", entry<locked<tape_reset>>, METH_NOARGS, "Forgets everything recorded so far."},
    {"_gradient", method(entry<locked<tape_gradient>>), METH_FASTCALL, nullptr},
    {"_release", entry<locked<release_all>>, METH_NOARGS, nullptr},
    {"_entries", entry<locked<tape_entries>>, METH_NOARGS, nullptr},
    {"_breaks", entry<locked<tape_breaks>>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef tape_members[] = {
    {"_persistent", T_BOOL, offsetof(Tape, persistent), READONLY, nullptr},
    {"_recording", T_BOOL, offsetof(Tape, recording), READONLY, nullptr},
    {"_watches_accessed", T_BOOL, offsetof(Tape, watch_accessed), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Tape, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tape, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot tape_slots[] = {{Py_tp_new, slot(entry<tape_new>)},
                            {Py_tp_init, slot(entry<tape_init>)},
                            {Py_tp_dealloc, slot(tape_dealloc)},
                            {Py_tp_traverse, slot(tape_traverse)},
                            {Py_tp_clear, slot(tape_clear)},
                            {Py_tp_methods, tape_methods},
                            {Py_tp_members, tape_members},
                            {Py_tp_doc, const_cast<char*>("Records calls and plays them backwards.")},
                            {0, nullptr}};
PyType_Spec tape_spec = {"tapeflow._native.Tape", sizeof(Tape), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tape_slots};

// are_sources(list): whether all are tensors, or variables with values of their own, which a tape knows.
PyObject* are_sources(PyObject*, PyObject* list) {
  if (!PyList_Check(list)) return PyErr_Format(PyExc_TypeError, "expected a list, got %.100s", Py_TYPE(list)->tp_name);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const Ref owned(element_of(list, i));
    PyObject* o = owned.get();
    const bool symbolic = PyObject_TypeCheck(o, TensorBaseType);
    if (!symbolic && !(is_variable(o) && variable_at(o)->dtype != DType::kInvalid)) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

// record_custom(name, outputs, inputs, backward)
PyObject* record_custom(PyObject*, PyObject* args) {
  PyObject *name, *outputs, *inputs, *backward;
  if (!PyArg_ParseTuple(args, "UO!O!O", &name, &PyList_Type, &outputs, &PyList_Type, &inputs, &backward)) return nullptr;
  std::vector<OwnedTensor> in, out;  // a variable's may have to be waited for, and the lists change meanwhile
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); ++i) {
    const Ref owned(element_of(outputs, i));
    PyObject* o = owned.get();
    if (!is_tensor(o)) return PyErr_Format(PyExc_TypeError, "outputs must be tensors, not %R", o);
    out.push_back(OwnedTensor::share(reinterpret_cast<Tensor*>(o)));
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) {
    const Ref owned(element_of(inputs, i));
    PyObject* o = owned.get();
    if (!is_tensor(o) && !is_variable(o)) return PyErr_Format(PyExc_TypeError, "inputs must be tensors or variables, not %R", o);
    in.push_back(is_variable(o) ? read_variable(variable_at(o)) : OwnedTensor::share(reinterpret_cast<Tensor*>(o)));
  }
  const auto n_in = static_cast<int>(in.size()), n_out = static_cast<int>(out.size());
  for (Tape* tape : active_tapes()) {  // no Python code runs from here on
    const Critical alone(reinterpret_cast<PyObject*>(tape));
    bool watched = false;
    for (const OwnedTensor& t : in) watched = watched || (trainable(t->dtype) && watches(tape, t.get()));
    if (!watched) continue;
    Recording entry(tape);
    for (const OwnedTensor& t : in) add_slot(tape, t.get(), false);
    for (const OwnedTensor& t : out) {
      add_slot(tape, t.get(), false);
      if (trainable(t->dtype)) mark(tape, t.get());
    }
    entry.finish(Entry{nullptr, nullptr, backward, name, entry.first_slot(), n_in, n_out, -1});
    Py_INCREF(backward);
    Py_INCREF(name);
  }
  Py_RETURN_NONE;
}

PyObject* recording_tapes(PyObject*, PyObject*) { return PyLong_FromLong(thread_state.n_tapes); }

PyObject* recording_persistent(PyObject*, PyObject*) {
  for (int k = 0; k < thread_state.n_tapes; ++k) if (thread_state.tapes[k]->persistent) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}

PyObject* is_watched(PyObject*, PyObject* o) {
  if (is_tensor(o)) return PyBool_FromLong(watched_by_any(reinterpret_cast<Tensor*>(o)));
  if (is_variable(o)) return PyBool_FromLong(thread_state.n_tapes > 0 && variable_at(o)->trainable);
  Py_RETURN_FALSE;
}

PyMethodDef module_methods[] = {
    {"record_custom", entry<record_custom>, METH_VARARGS, nullptr},
    {"are_sources", entry<are_sources>, METH_O, nullptr},
    {"recording_tapes", entry<recording_tapes>, METH_NOARGS, "How many tapes record in this thread."},
    {"recording_persistent", entry<recording_persistent>, METH_NOARGS, "Whether one of them may be asked again."},
    {"is_watched", entry<is_watched>, METH_O, "Whether a tape that records in this thread watches the tensor."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_tape(PyObject* module) {
  TapeType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&tape_spec));
  return TapeType && init_recorded_call() && PyModule_AddObjectRef(module, "Tape", reinterpret_cast<PyObject*>(TapeType)) == 0 &&
         PyModule_AddFunctions(module, module_methods) == 0;
}

}  // namespace tapeflow
