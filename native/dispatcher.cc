#include "dispatcher.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "plan.h"
#include "ref.h"
#include "stack.h"
#include "tensor_type.h"

namespace tapeflow {

namespace {

Shared<bool> functions_fast{true};

// What one positional argument must be.
struct Spec {
  enum Kind { kTensor, kValue, kIs } kind;
  DType dtype;
  int rank;                   // -1: any
  std::vector<int64_t> dims;  // -1: any
  PyObject* object;           // owned
};

struct Entry {
  std::vector<Spec> specs;
  Plan* plan = nullptr;       // owned
  enum Result { kSingle, kNone, kTuple, kCallable } result = kTuple;
  PyObject* make = nullptr;   // owned: (list of tensors) -> result

  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    for (Spec& s : specs) Py_XDECREF(s.object);
    Py_XDECREF(plan);
    Py_XDECREF(make);
  }
};

struct Entries {
  std::vector<std::unique_ptr<Entry>> all;
  std::unordered_multimap<size_t, size_t> exact;  // by the hash of the shapes: those that fit one shape of each tensor
  std::vector<size_t> open;                       // the others
};

struct Dispatcher {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* slow;
  Entries* entries;
  size_t last;                // the entry that fitted last
  unsigned long long served;  // calls that an entry served
  PyObject* dict;
  PyObject* weakrefs;
};

Dispatcher* self_of(PyObject* o) { return reinterpret_cast<Dispatcher*>(o); }

// -- matching: runs no Python code, so that the entries stay as they are meanwhile -------------------

constexpr int kMaxNesting = 50;  // of tuples in tuples that are compared

// Whether comparing values of o's type stays native.
bool plain_value(PyObject* o, int depth = 0) {
  if (PyTuple_Check(o)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) {
      if (depth == kMaxNesting || !plain_value(PyTuple_GET_ITEM(o, i), depth + 1)) return false;
    }
    return true;
  }
  return o == Py_None || o == Py_Ellipsis || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
         PyComplex_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o);
}

bool same_value(PyObject* x, PyObject* y) {
  if (x == y) return true;
  if (Py_TYPE(x) != Py_TYPE(y)) return false;
  if (PyFloat_CheckExact(x)) {  // by bits: 0.0 is not -0.0, and one nan is like another
    const double a = PyFloat_AS_DOUBLE(x), b = PyFloat_AS_DOUBLE(y);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  if (PyTuple_Check(x)) {
    const Py_ssize_t n = PyTuple_GET_SIZE(x);
    if (n != PyTuple_GET_SIZE(y)) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!same_value(PyTuple_GET_ITEM(x, i), PyTuple_GET_ITEM(y, i))) return false;
    }
    return true;
  }
  if (!plain_value(x)) return false;
  const int equal = PyObject_RichCompareBool(x, y, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

bool fits(const Spec& spec, PyObject* o) {
  if (spec.kind == Spec::kIs) return o == spec.object;
  if (spec.kind == Spec::kValue) return same_value(spec.object, o);
  if (!is_tensor(o)) return false;
  const Tensor* t = tensor(o);
  if (t->dtype != spec.dtype || t->device != 0 || (t->dict && promotion.ops)) return false;
  if (spec.rank < 0) return true;
  if (t->rank() != spec.rank) return false;
  for (int i = 0; i < spec.rank; ++i) {
    const int64_t d = spec.dims[static_cast<size_t>(i)];
    if (d >= 0 && d != t->dim(i)) return false;
  }
  return true;
}

bool fits(const Entry& e, PyObject* const* args, size_t n) {
  if (e.specs.size() != n) return false;
  for (size_t i = 0; i < n; ++i) {
    if (!fits(e.specs[i], args[i])) return false;
  }
  return true;
}

void mix(size_t& hash, uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); }

void mix_tensor(size_t& hash, DType dtype, int rank) { mix(hash, static_cast<uint64_t>(dtype) << 8 | static_cast<uint64_t>(rank)); }

size_t hash_of(PyObject* const* args, size_t n) {
  size_t hash = n;
  for (size_t i = 0; i < n; ++i) {
    if (!is_tensor(args[i])) {
      mix(hash, 1);
      continue;
    }
    const Tensor* t = tensor(args[i]);
    mix_tensor(hash, t->dtype, t->rank());
    for (int k = 0; k < t->rank(); ++k) mix(hash, static_cast<uint64_t>(t->dim(k)));
  }
  return hash;
}

// The hash of all arguments that fit an entry; false if they may have several.
bool hash_of(const Entry& e, size_t* result) {
  size_t hash = e.specs.size();
  for (const Spec& s : e.specs) {
    if (s.kind != Spec::kTensor) {
      if (is_tensor(s.object)) return false;
      mix(hash, 1);
      continue;
    }
    if (s.rank < 0) return false;
    mix_tensor(hash, s.dtype, s.rank);
    for (const int64_t d : s.dims) {
      if (d < 0) return false;
      mix(hash, static_cast<uint64_t>(d));
    }
  }
  *result = hash;
  return true;
}

constexpr size_t kFew = 4;  // entries that are compared one by one sooner than hashed

Entry* find(Dispatcher* d, PyObject* const* args, size_t n) {
  const auto& entries = d->entries->all;
  if (d->last < entries.size() && fits(*entries[d->last], args, n)) return entries[d->last].get();
  auto fitting = [&](size_t i) -> Entry* {
    if (i == d->last || !fits(*entries[i], args, n)) return nullptr;
    d->last = i;
    return entries[i].get();
  };
  if (entries.size() <= kFew) {
    for (size_t i = 0; i < entries.size(); ++i) if (Entry* e = fitting(i)) return e;
    return nullptr;
  }
  const auto [first, end] = d->entries->exact.equal_range(hash_of(args, n));
  for (auto at = first; at != end; ++at) if (Entry* e = fitting(at->second)) return e;
  for (const size_t i : d->entries->open) if (Entry* e = fitting(i)) return e;
  return nullptr;
}

// -- the call --------------------------------------------------------------------------------------

Ref list_of(Tensor** results, int n) {
  PyObject* l = PyList_New(n);
  for (int i = 0; i < n; ++i) {
    if (l) PyList_SET_ITEM(l, i, object(results[i]));
    else Py_DECREF(results[i]);
  }
  return Ref(l);
}

// What a call needs of its entry, which the call, or another thread, may take away.
struct Chosen {
  static constexpr size_t kInline = 16;

  // False: no entry fits.
  bool choose(Dispatcher* d, PyObject* const* args, size_t n) {
    const Critical alone(reinterpret_cast<PyObject*>(d));
    const Entry* e = find(d, args, n);
    if (!e) return false;
    ++d->served;
    result = e->result;
    plan = Ref::share(reinterpret_cast<PyObject*>(e->plan));
    make = Ref::or_null(Py_XNewRef(e->make));
    n_out = e->plan->n_out;
    const auto n_in = static_cast<size_t>(e->plan->n_in), slots = n_in + static_cast<size_t>(n_out);
    if (slots > 2 * kInline) {
      more.reset(new Tensor*[slots]);
      in = more.get();
    }
    results = in + n_in;
    for (size_t i = 0, k = 0; i < n; ++i) {
      if (e->specs[i].kind == Spec::kTensor) in[k++] = tensor(args[i]);
    }
    return true;
  }

  Entry::Result result;
  Ref plan, make;
  int n_out;
  std::unique_ptr<Tensor*[]> more;
  Tensor* space[2 * kInline];
  Tensor** in = space;  // borrowed from the arguments
  Tensor** results;
};

PyObject* run(const Chosen& c) {
  run_plan(reinterpret_cast<Plan*>(c.plan.get()), c.in, c.results);
  if (c.result == Entry::kSingle) return object(c.results[0]);
  const Ref l = list_of(c.results, c.n_out);
  if (c.result == Entry::kNone) Py_RETURN_NONE;
  return c.result == Entry::kTuple ? PyList_AsTuple(l.get()) : PyObject_CallOneArg(c.make.get(), l.get());
}

PyObject* vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  Dispatcher* d = self_of(o);
  const ThreadState& here = thread_state;
  if (functions_fast && !kwnames && here.graph_scope == 0 && here.n_tapes == 0 && here.device == 0 &&
      here.replica_scope == 0) {
    Chosen chosen;
    if (chosen.choose(d, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)))) {
      return guarded([&] { return run(chosen); });
    }
  }
  if (!d->slow) return PyErr_Format(PyExc_RuntimeError, "the function was cleared");
  check_stack("a function");
  const Ref slow = Ref::share(d->slow);
  return PyObject_Vectorcall(slow.get(), args, nargsf, kwnames);
}

// -- the Python type -------------------------------------------------------------------------------

bool parse_tensor_spec(PyObject* o, Spec* spec) {
  const char* kind;
  int dtype;
  PyObject* dims;
  if (!PyArg_ParseTuple(o, "siO", &kind, &dtype, &dims)) return false;
  if (dtype <= 0 || dtype >= kDTypeCount) {
    PyErr_Format(PyExc_ValueError, "%d is no dtype's number", dtype);
    return false;
  }
  spec->dtype = static_cast<DType>(dtype);
  spec->rank = -1;
  if (dims == Py_None) return true;
  if (!PyTuple_Check(dims) || PyTuple_GET_SIZE(dims) > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "%R are no dimensions", dims);
    return false;
  }
  spec->rank = static_cast<int>(PyTuple_GET_SIZE(dims));
  for (int i = 0; i < spec->rank; ++i) {
    const long long v = PyLong_AsLongLong(PyTuple_GET_ITEM(dims, i));
    if (v == -1 && PyErr_Occurred()) return false;
    spec->dims.push_back(v);
  }
  return true;
}

// Whether o was a spec; if not, with an exception set. The spec's object is the caller's to free either way.
bool parse_spec(PyObject* o, Spec* spec) {
  if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) < 2 || !PyUnicode_Check(PyTuple_GET_ITEM(o, 0))) {
    PyErr_Format(PyExc_ValueError, "%R is not the spec of an argument", o);
    return false;
  }
  PyObject* kind = PyTuple_GET_ITEM(o, 0);
  if (PyUnicode_CompareWithASCIIString(kind, "tensor") == 0) {
    spec->kind = Spec::kTensor;
    return parse_tensor_spec(o, spec);
  }
  PyObject* value = PyTuple_GET_ITEM(o, 1);
  if (PyUnicode_CompareWithASCIIString(kind, "is") == 0) {
    spec->kind = Spec::kIs;
  } else if (PyUnicode_CompareWithASCIIString(kind, "value") == 0) {
    spec->kind = Spec::kValue;
    if (!plain_value(value)) {
      PyErr_Format(PyExc_ValueError, "%R is not None, a number, text or a tuple of these", value);
      return false;
    }
  } else {
    PyErr_Format(PyExc_ValueError, "%R is no kind of spec", kind);
    return false;
  }
  spec->object = Py_NewRef(value);
  return true;
}

PyObject* add(PyObject* o, PyObject* args) {
  PyObject *specs, *plan, *result;
  if (!PyArg_ParseTuple(args, "OO!O:add", &specs, PlanType, &plan, &result)) return nullptr;
  const Ref all(PySequence_Tuple(specs));
  auto e = std::make_unique<Entry>();
  int tensors = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
    e->specs.push_back(Spec{});
    if (!parse_spec(PyTuple_GET_ITEM(all.get(), i), &e->specs.back())) return nullptr;
    tensors += e->specs.back().kind == Spec::kTensor;
  }
  e->plan = reinterpret_cast<Plan*>(Py_NewRef(plan));
  if (tensors != e->plan->n_in) {
    return PyErr_Format(PyExc_ValueError, "%R takes %d tensors, the specs have %d", plan, e->plan->n_in, tensors);
  }
  auto is = [&](const char* name) { return PyUnicode_Check(result) && PyUnicode_CompareWithASCIIString(result, name) == 0; };
  if (is("single")) e->result = Entry::kSingle;
  else if (is("none")) e->result = Entry::kNone;
  else if (is("tuple")) e->result = Entry::kTuple;
  else if (PyCallable_Check(result)) e->result = Entry::kCallable;
  else return PyErr_Format(PyExc_ValueError, "%R is not single, none, tuple or a callable", result);
  if (e->result == Entry::kSingle && e->plan->n_out != 1) {
    return PyErr_Format(PyExc_ValueError, "%R does not return a single tensor", plan);
  }
  if (e->result == Entry::kCallable) e->make = Py_NewRef(result);
  const Critical alone(o);
  Entries& entries = *self_of(o)->entries;
  size_t hash;
  const size_t number = entries.all.size();
  const bool exact = hash_of(*e, &hash);
  entries.all.push_back(std::move(e));
  if (exact) entries.exact.emplace(hash, number);
  else entries.open.push_back(number);
  Py_RETURN_NONE;
}

// What an entry held is freed only when the list is whole again: freeing runs code.
void drop_entries(Dispatcher* d) {
  Entries dropped;
  const Critical alone(reinterpret_cast<PyObject*>(d));
  std::swap(dropped, *d->entries);
  d->last = 0;
}

PyObject* clear_entries(PyObject* o, PyObject*) {
  drop_entries(self_of(o));
  Py_RETURN_NONE;
}

Py_ssize_t length(PyObject* o) {
  const Critical alone(o);
  return static_cast<Py_ssize_t>(self_of(o)->entries->all.size());
}
int always(PyObject*) { return 1; }

PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* slow;
  if (!PyArg_ParseTuple(args, "O:Dispatcher", &slow)) return nullptr;
  if (!PyCallable_Check(slow)) return PyErr_Format(PyExc_TypeError, "%R is not callable", slow);
  Ref made(type->tp_alloc(type, 0));
  Dispatcher* d = self_of(made.get());
  d->vectorcall = entry<vectorcall>;
  d->slow = Py_NewRef(slow);
  d->entries = new Entries;
  return made.release();
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Dispatcher* d = self_of(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(d->slow);
  Py_VISIT(d->dict);
  if (!d->entries) return 0;
  for (const auto& e : d->entries->all) {
    for (const Spec& s : e->specs) Py_VISIT(s.object);
    Py_VISIT(e->plan);
    Py_VISIT(e->make);
  }
  return 0;
}

int clear(PyObject* o) {
  Dispatcher* d = self_of(o);
  Py_CLEAR(d->slow);
  Py_CLEAR(d->dict);
  if (d->entries) drop_entries(d);
  return 0;
}

void destroy(PyObject* o) {
  PyObject_GC_UnTrack(o);
  Py_TRASHCAN_BEGIN(o, destroy)
  if (self_of(o)->weakrefs) PyObject_ClearWeakRefs(o);
  clear(o);
  delete self_of(o)->entries;
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyMethodDef methods[] = {
    {"add", entry<add>, METH_VARARGS,
     "add(specs, plan, result): calls whose arguments are as the specs say run the plan. specs: one for each positional "
     "argument: (\"tensor\", dtype number, dims or None), (\"value\", object) or (\"is\", object); result: \"single\", "
     "\"none\", \"tuple\" or a callable that gets the list of tensors."},
    {"clear", entry<clear_entries>, METH_NOARGS, "Forgets all plans."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"served", T_ULONGLONG, offsetof(Dispatcher, served), READONLY, "How many calls the plans served."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Dispatcher, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Dispatcher, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Dispatcher, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_new, slot(entry<create>)},
    {Py_tp_dealloc, slot(destroy)},
    {Py_tp_traverse, slot(traverse)},
    {Py_tp_clear, slot(clear)},
    {Py_tp_call, slot(PyVectorcall_Call)},
    {Py_sq_length, slot(entry<length>)},
    {Py_nb_bool, slot(entry<always>)},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("Dispatcher(slow): calls run the plan that fits their arguments, or slow(*args, **kwargs).")},
    {0, nullptr}};
PyType_Spec spec = {"tapeflow._native.Dispatcher", sizeof(Dispatcher), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

PyObject* set_functions_fast(PyObject*, PyObject* value) {
  const int on = PyObject_IsTrue(value);
  if (on < 0) return nullptr;
  functions_fast = on != 0;
  Py_RETURN_NONE;
}
PyObject* get_functions_fast(PyObject*, PyObject*) { return PyBool_FromLong(functions_fast); }

PyMethodDef module_methods[] = {
    {"set_functions_fast", entry<set_functions_fast>, METH_O, "Whether Dispatchers run plans; if not, every call is slow."},
    {"functions_fast", entry<get_functions_fast>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_dispatcher(PyObject* module) {
  PyObject* type = PyType_FromSpec(&spec);
  return type && PyModule_AddObjectRef(module, "Dispatcher", type) == 0 && PyModule_AddFunctions(module, module_methods) == 0;
}

}  // namespace tapeflow
