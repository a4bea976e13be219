// Blocks that change what a thread does: the graph that it builds, the tapes that record. They are entered and left in
// one step each, which no exception of a signal handler can come between: a `with` of Python code can be left half.
#include "scopes.h"

#include <vector>

#include "guard.h"
#include "op.h"
#include "ref.h"
#include "tape.h"

namespace tapeflow {
namespace {

struct GraphScope {
  PyObject_HEAD
  PyObject* state;   // of threads, with `graphs`, a tuple, `name_scope`, and the innermost `entry`
  PyObject* graph;   // what the block gives
  PyObject* graphs;  // all graphs in the block; null: those around and `graph`
  PyObject* names;   // the name scope in the block
  int building;      // whether operations in the block build a graph
  PyObject* entries;  // of the blocks that were entered, innermost last
};
// An entry is what there was before: (graphs, name_scope, graph scope of the native core, entry of the block around).

GraphScope* as_scope(PyObject* o) { return reinterpret_cast<GraphScope*>(o); }

int scope_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"state", "graph", "graphs", "name_scope", "building", nullptr};
  PyObject *state, *graph, *graphs = nullptr, *scope = nullptr;
  int building = -1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O!Up", const_cast<char**>(names), &state, &graph, &PyTuple_Type, &graphs,
                                   &scope, &building))
    return -1;
  GraphScope* s = as_scope(self);
  Ref name = scope ? Ref::share(scope) : Ref(PyUnicode_FromString(""));
  Ref entries(PyList_New(0));
  Py_XSETREF(s->state, Py_NewRef(state));
  Py_XSETREF(s->graph, Py_NewRef(graph));
  Py_XSETREF(s->graphs, Py_XNewRef(graphs));
  Py_XSETREF(s->names, name.release());
  Py_XSETREF(s->entries, entries.release());
  s->building = building < 0 ? graph != Py_None : building;
  return 0;
}

void change(PyObject* state, PyObject* graphs, PyObject* names, int building, PyObject* entry) {
  if (PyObject_SetAttrString(state, "graphs", graphs) < 0 || PyObject_SetAttrString(state, "name_scope", names) < 0 ||
      PyObject_SetAttrString(state, "entry", entry) < 0) {
    throw PythonError();
  }
  thread_state.graph_scope = building;
}

PyObject* scope_enter(PyObject* self, PyObject*) {
  GraphScope* s = as_scope(self);
  if (!s->entries) return PyErr_Format(PyExc_RuntimeError, "the block has not been initialized");
  const Ref graphs(PyObject_GetAttrString(s->state, "graphs")), names(PyObject_GetAttrString(s->state, "name_scope"));
  const Ref around(PyObject_GetAttrString(s->state, "entry"));
  Ref inside;
  if (s->graphs) {
    inside = Ref::share(s->graphs);
  } else {
    const Ref last(PyTuple_Pack(1, s->graph));
    inside = Ref(PySequence_Concat(graphs.get(), last.get()));
  }
  const Ref entry(Py_BuildValue("(OOiO)", graphs.get(), names.get(), thread_state.graph_scope, around.get()));
  if (PyList_Append(s->entries, entry.get()) < 0) throw PythonError();
  change(s->state, inside.get(), s->names, s->building, entry.get());
  return Py_NewRef(s->graph);
}

// Leaves blocks inside of this one, too, that were left half. Nothing is to do if that happened to this one: a generator
// that was left half ends late.
PyObject* scope_exit(PyObject* self, PyObject*) {
  GraphScope* s = as_scope(self);
  const Py_ssize_t depth = s->entries ? PyList_GET_SIZE(s->entries) : 0;
  if (depth == 0) return PyErr_Format(PyExc_RuntimeError, "the block has not been entered");
  const Ref entry = Ref::share(PyList_GET_ITEM(s->entries, depth - 1));
  if (PyList_SetSlice(s->entries, depth - 1, depth, nullptr) < 0) throw PythonError();
  const Ref innermost(PyObject_GetAttrString(s->state, "entry"));
  for (PyObject* at = innermost.get(); PyTuple_Check(at); at = PyTuple_GET_ITEM(at, 3)) {
    if (at != entry.get()) continue;
    change(s->state, PyTuple_GET_ITEM(at, 0), PyTuple_GET_ITEM(at, 1),
           static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(at, 2))), PyTuple_GET_ITEM(at, 3));
    break;
  }
  Py_RETURN_FALSE;
}

int scope_traverse(PyObject* self, visitproc visit, void* arg) {
  GraphScope* s = as_scope(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(s->state);
  Py_VISIT(s->graph);
  Py_VISIT(s->graphs);
  Py_VISIT(s->names);
  Py_VISIT(s->entries);
  return 0;
}

int scope_clear(PyObject* self) {
  GraphScope* s = as_scope(self);
  Py_CLEAR(s->state);
  Py_CLEAR(s->graph);
  Py_CLEAR(s->graphs);
  Py_CLEAR(s->names);
  Py_CLEAR(s->entries);
  return 0;
}

// The tapes that a block keeps from recording. They record again after it, but those that were left in it.
struct PausedTapes {
  PyObject_HEAD
  std::vector<std::vector<Tape*>>* paused;  // innermost block last; references are owned
};

PausedTapes* as_paused(PyObject* o) { return reinterpret_cast<PausedTapes*>(o); }

int paused_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "", const_cast<char**>(names))) return -1;
  if (!as_paused(self)->paused) as_paused(self)->paused = new std::vector<std::vector<Tape*>>;
  return 0;
}

PyObject* paused_enter(PyObject* self, PyObject*) {
  auto* paused = as_paused(self)->paused;
  if (!paused) return PyErr_Format(PyExc_RuntimeError, "the block has not been initialized");
  paused->emplace_back().swap(active_tapes());
  publish_active_tapes();
  Py_RETURN_NONE;
}

PyObject* paused_exit(PyObject* self, PyObject*) {
  auto* paused = as_paused(self)->paused;
  if (!paused || paused->empty()) return PyErr_Format(PyExc_RuntimeError, "the block has not been entered");
  auto& active = active_tapes();
  active.reserve(active.size() + paused->back().size());
  std::vector<Tape*> back = std::move(paused->back()), ended;
  paused->pop_back();
  auto at = active.begin();
  for (Tape* tape : back) {
    if (tape->recording) at = active.insert(at, tape) + 1;
    else ended.push_back(tape);
  }
  publish_active_tapes();
  for (Tape* tape : ended) Py_DECREF(tape);
  Py_RETURN_FALSE;
}

int paused_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (as_paused(self)->paused) {
    for (const auto& tapes : *as_paused(self)->paused) {
      for (Tape* tape : tapes) Py_VISIT(tape);
    }
  }
  return 0;
}

int paused_clear(PyObject* self) {
  std::vector<std::vector<Tape*>> all;
  if (as_paused(self)->paused) all.swap(*as_paused(self)->paused);
  for (const auto& tapes : all) {
    for (Tape* tape : tapes) Py_DECREF(tape);
  }
  return 0;
}

template <int (*clear)(PyObject*)>
void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  if constexpr (clear == paused_clear) delete as_paused(self)->paused;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef scope_methods[] = {{"__enter__", entry<locked<scope_enter>>, METH_NOARGS, nullptr},
                               {"__exit__", entry<locked<scope_exit>>, METH_VARARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot scope_slots[] = {{Py_tp_init, slot(entry<scope_init>)},
                             {Py_tp_dealloc, slot(dealloc<scope_clear>)},
                             {Py_tp_traverse, slot(scope_traverse)},
                             {Py_tp_clear, slot(scope_clear)},
                             {Py_tp_methods, scope_methods},
                             {Py_tp_doc, const_cast<char*>("A block whose operations go to a graph, or run at once.")},
                             {0, nullptr}};
PyType_Spec scope_spec = {"tapeflow._native.GraphScope", sizeof(GraphScope), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, scope_slots};

PyMethodDef paused_methods[] = {{"__enter__", entry<locked<paused_enter>>, METH_NOARGS, nullptr},
                                {"__exit__", entry<locked<paused_exit>>, METH_VARARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyType_Slot paused_slots[] = {{Py_tp_init, slot(entry<paused_init>)},
                              {Py_tp_dealloc, slot(dealloc<paused_clear>)},
                              {Py_tp_traverse, slot(paused_traverse)},
                              {Py_tp_clear, slot(paused_clear)},
                              {Py_tp_methods, paused_methods},
                              {Py_tp_doc, const_cast<char*>("A block in which no tape of this thread records.")},
                              {0, nullptr}};
PyType_Spec paused_spec = {"tapeflow._native.PausedTapes", sizeof(PausedTapes), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           paused_slots};

bool add_type(PyObject* module, PyType_Spec* spec) {
  const Ref type = Ref::or_null(PyType_FromSpec(spec));
  return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())) == 0;
}

}  // namespace

bool init_scopes(PyObject* module) { return add_type(module, &scope_spec) && add_type(module, &paused_spec); }

}  // namespace tapeflow
