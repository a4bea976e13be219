// The public functions as users see them: an error's traceback ends in their code, not in ours.
#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "ref.h"
#include "stack.h"
#include "tensor_type.h"

namespace tapeflow {

namespace {

struct PublicFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* inner;
  Py_ssize_t name_index;  // position of the parameter `name`; -1: none, or keyword only
  Shared<bool> scoped, asked;  // whether it has a scope of its own in a graph; whether that is known
  bool passes_tensors;    // what it makes of a tensor alone is that tensor
  bool internal;          // called by the package: neither named nor dispatched, it only keeps tracebacks short
  PyObject* dict;
  PyObject* weakrefs;
};

PyTypeObject* PublicFunctionType;
Shared<PyObject*> package_directory;  // str, ends in a separator

PublicFunction* self_of(PyObject* o) { return reinterpret_cast<PublicFunction*>(o); }

bool ours(PyTracebackObject* tb) {
  const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(tb->tb_frame)));
  const Py_ssize_t r = PyUnicode_Tailmatch(reinterpret_cast<PyCodeObject*>(code.get())->co_filename, package_directory, 0,
                                           PY_SSIZE_T_MAX, -1);
  if (r < 0) PyErr_Clear();
  return r > 0;
}

// New reference to the chain without our frames, or null when nothing is left. Takes over tb. Frames are freed when the
// walk is over: what they hold may run code.
PyObject* without_ours(PyObject* tb) {
  std::vector<Ref> dropped;
  auto* head = reinterpret_cast<PyTracebackObject*>(tb);
  while (head && ours(head)) {
    dropped.emplace_back(reinterpret_cast<PyObject*>(head));
    head = reinterpret_cast<PyTracebackObject*>(Py_XNewRef(reinterpret_cast<PyObject*>(head->tb_next)));
  }
  for (PyTracebackObject* at = head; at;) {
    PyTracebackObject* next = at->tb_next;
    if (!next || !ours(next)) {
      at = next;
      continue;
    }
    at->tb_next = reinterpret_cast<PyTracebackObject*>(Py_XNewRef(reinterpret_cast<PyObject*>(next->tb_next)));
    dropped.emplace_back(reinterpret_cast<PyObject*>(next));
  }
  return reinterpret_cast<PyObject*>(head);
}

void trim_traceback() {
  const char* full = std::getenv("TAPEFLOW_FULL_TRACEBACK");
  if (!package_directory || (full && *full)) return;
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* e = PyErr_GetRaisedException();
  if (!e) return;
  PyObject* tb = PyException_GetTraceback(e);
  if (tb) {
    tb = without_ours(tb);
    PyException_SetTraceback(e, tb ? tb : Py_None);
    Py_XDECREF(tb);
  }
  PyErr_SetRaisedException(e);
#else
  PyObject *type, *value, *tb;
  PyErr_Fetch(&type, &value, &tb);
  if (tb) tb = without_ours(tb);
  PyErr_Restore(type, value, tb);
#endif
}

// Where the inner function takes `name`.
Py_ssize_t find_name(PyObject* inner) {
  if (!PyFunction_Check(inner)) return -1;
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(inner));
  const Ref names = Ref::or_null(PyCode_GetVarnames(code));
  Py_ssize_t found = -1;
  for (Py_ssize_t i = 0; names && i < code->co_argcount && found < 0; ++i) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names.get(), i), "name") == 0) found = i;
  }
  PyErr_Clear();
  return found;
}

// While a graph is built, a `name` names what the function adds to it.
bool names_nodes(const PublicFunction* f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  if (!hooks.graph_named) return false;
  if (f->name_index > 0 && n > f->name_index && args[f->name_index] != Py_None) return true;
  if (!names) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "name") == 0) return true;
  }
  return false;
}

// Whether what the function adds to a graph stands below a name of its own when none is given.
bool has_scope(PublicFunction* f) {
  if (f->asked || !hooks.graph_scoped) return f->scoped;
  const Ref r = Ref::or_null(PyObject_CallOneArg(hooks.graph_scoped, f->inner));
  f->scoped = r.get() == Py_True;
  f->asked = true;
  PyErr_Clear();
  return f->scoped;
}

// hook(function, args, kwargs)
PyObject* call_hook(PyObject* hook, PyObject* function, PyObject* const* args, size_t nargsf, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf), k = names ? PyTuple_GET_SIZE(names) : 0;
  const Ref positional(PyTuple_New(n)), keywords(PyDict_New());
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; i < k; ++i) {
    if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), args[n + i]) < 0) return nullptr;
  }
  return PyObject_CallFunctionObjArgs(hook, function, positional.get(), keywords.get(), nullptr);
}

// A function that fails to take ragged or sparse tensors may have something that stands in for it. New reference, or null with
// the exception that was set.
PyObject* dispatched(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* names) {
  if (!hooks.dispatch || !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError))) return nullptr;
  Raised raised;
  Ref r = Ref::or_null(call_hook(hooks.dispatch, o, args, nargsf, names));
  if (r.get() == Py_NotImplemented) {
    raised.restore();
    return nullptr;
  }
  return r.release();
}

PyObject* call(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* names) {
  if (self_of(o)->passes_tensors && !names && PyVectorcall_NARGS(nargsf) == 1 &&
      PyObject_TypeCheck(args[0], TensorBaseType)) {
    return Py_NewRef(args[0]);
  }
  check_stack("a public function");
  PyObject* r = thread_state.graph_scope > 0 && !self_of(o)->internal &&
                        (names_nodes(self_of(o), args, PyVectorcall_NARGS(nargsf), names) || has_scope(self_of(o)))
                    ? call_hook(hooks.graph_named, self_of(o)->inner, args, nargsf, names)
                    : PyObject_Vectorcall(self_of(o)->inner, args, nargsf, names);
  if (!r && !self_of(o)->internal) r = dispatched(o, args, nargsf, names);
  if (!r) {
    name_exhausted_memory(nullptr);
    trim_traceback();
  }
  return r;
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  const char* keywords[] = {"function", "internal", "passes_tensors", nullptr};
  PyObject* inner;
  int internal = 0, passes_tensors = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pp", const_cast<char**>(keywords), &inner, &internal,
                                   &passes_tensors)) return nullptr;
  if (!PyCallable_Check(inner)) return PyErr_Format(PyExc_TypeError, "%R is not callable", inner);
  Ref made(type->tp_alloc(type, 0));
  auto* f = self_of(made.get());
  f->vectorcall = entry<call>;
  f->inner = Py_NewRef(inner);
  f->internal = internal;
  f->passes_tensors = passes_tensors;
  f->name_index = find_name(inner);
  f->dict = PyDict_New();
  bool ok = f->dict != nullptr;
  const Ref theirs = Ref::or_null(ok ? PyObject_GetAttrString(inner, "__dict__") : nullptr);
  if (theirs) ok = PyDict_Update(f->dict, theirs.get()) == 0;
  else PyErr_Clear();
  for (const char* name : {"__module__", "__name__", "__qualname__", "__doc__"}) {
    if (!ok) break;
    const Ref value = Ref::or_null(PyObject_GetAttrString(inner, name));
    if (value) ok = PyDict_SetItemString(f->dict, name, value.get()) == 0;
    else PyErr_Clear();
  }
  if (!ok || PyDict_SetItemString(f->dict, "__wrapped__", inner) < 0) return nullptr;
  return made.release();
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self_of(o)->inner);
  Py_VISIT(self_of(o)->dict);
  return 0;
}

int clear(PyObject* o) {
  Py_CLEAR(self_of(o)->dict);
  return 0;
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  Py_TRASHCAN_BEGIN(o, dealloc)  // functions may hold functions, as deep as a program likes
  if (self_of(o)->weakrefs) PyObject_ClearWeakRefs(o);
  Py_CLEAR(self_of(o)->dict);
  Py_CLEAR(self_of(o)->inner);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyObject* bind(PyObject* o, PyObject* instance, PyObject*) {
  return instance && instance != Py_None ? PyMethod_New(o, instance) : Py_NewRef(o);
}

PyObject* repr(PyObject* o) {
  const Ref module(PyObject_GetAttrString(o, "__module__")), name(PyObject_GetAttrString(o, "__qualname__"));
  return PyUnicode_FromFormat("<function %S.%S>", module.get(), name.get());
}

PyObject* reduce(PyObject* o, PyObject*) { return PyObject_GetAttrString(o, "__qualname__"); }

// What inspection asks a function for.
PyObject* from_inner(PyObject* o, void* name) {
  return PyObject_GetAttrString(self_of(o)->inner, static_cast<const char*>(name));
}

PyMethodDef methods[] = {{"__reduce__", entry<reduce>, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyGetSetDef getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__annotations__", entry<from_inner>, nullptr, nullptr, const_cast<char*>("__annotations__")},
    {"__defaults__", entry<from_inner>, nullptr, nullptr, const_cast<char*>("__defaults__")},
    {"__kwdefaults__", entry<from_inner>, nullptr, nullptr, const_cast<char*>("__kwdefaults__")},
    {"__code__", entry<from_inner>, nullptr, nullptr, const_cast<char*>("__code__")},
    {"__globals__", entry<from_inner>, nullptr, nullptr, const_cast<char*>("__globals__")},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PublicFunction, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PublicFunction, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PublicFunction, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, slot(entry<create>)},
                       {Py_tp_call, slot(PyVectorcall_Call)},
                       {Py_tp_descr_get, slot(entry<bind>)},
                       {Py_tp_repr, slot(entry<repr>)},
                       {Py_tp_traverse, slot(traverse)},
                       {Py_tp_clear, slot(clear)},
                       {Py_tp_dealloc, slot(dealloc)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, getset},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"tapeflow._native.PublicFunction", sizeof(PublicFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

// An operator of a class that libraries can read and put into classes of their own, while `a + b` keeps to the slot.
PyObject* set_class_entry(PyObject*, PyObject* args) {
  PyTypeObject* type;
  PyObject *name, *value;
  if (!PyArg_ParseTuple(args, "O!UO", &PyType_Type, &type, &name, &value)) return nullptr;
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return PyErr_Format(PyExc_TypeError, "%R cannot be changed", type);
  if (PyDict_SetItem(type->tp_dict, name, value) < 0) return nullptr;
  PyType_Modified(type);
  Py_RETURN_NONE;
}

PyObject* set_package_directory(PyObject*, PyObject* directory) {
  if (!PyUnicode_Check(directory)) return PyErr_Format(PyExc_TypeError, "expected a str, got %R", directory);
#ifdef _WIN32
  PyObject* ended = PyUnicode_FromFormat("%U\\", directory);
#else
  PyObject* ended = PyUnicode_FromFormat("%U/", directory);
#endif
  if (!ended) return nullptr;
  replace(&package_directory, ended);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_class_entry", entry<set_class_entry>, METH_VARARGS,
     "set_class_entry(cls, name, value): what reading the attribute gives; the slots of the class stay as they are"},
    {"set_package_directory", entry<set_package_directory>, METH_O,
     "set_package_directory(path): frames of files below it are left out of tracebacks"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_public(PyObject* module) {
  PublicFunctionType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return PublicFunctionType && PyModule_AddFunctions(module, functions) == 0 &&
         PyModule_AddObjectRef(module, "PublicFunction", reinterpret_cast<PyObject*>(PublicFunctionType)) == 0;
}

}  // namespace tapeflow
