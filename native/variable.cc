#include "variable.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "arrays.h"
#include "op.h"
#include "tape.h"
#include "tensor_type.h"
#include "threads.h"
#include "variable_type.h"
#include "weak.h"

namespace tapeflow {

PyTypeObject* VariableType;

namespace {

PyObject* make_payload;  // (weak reference) -> 0-d object array of it

// What an assignment to a variable of one of `unread_of` returns; see set_unread_type.
PyTypeObject* unread_type;
PyObject* unread_of;  // tuple

Variable* self_of(PyObject* o) { return reinterpret_cast<Variable*>(o); }

// A tensor of its own over the same memory: the cell never holds an op's output, which tapes know.
Tensor* fresh_view(Tensor* t) {
  if (t->buffer) return view_tensor(t, t->shape);
  Tensor* view = object_tensor(t->dtype, t->shape, Py_XNewRef(t->payload));
  view->device = t->device;
  return view;
}

template <typename U>
void add_rows(char* x, const char* y, int64_t n, bool subtract) {
  U* a = reinterpret_cast<U*>(x);
  const U* b = reinterpret_cast<const U*>(y);
  if (subtract) {
    for (int64_t i = 0; i < n; ++i) a[i] -= b[i];
  } else {
    for (int64_t i = 0; i < n; ++i) a[i] += b[i];
  }
}

using AddRows = void (*)(char*, const char*, int64_t, bool);

AddRows rows_of(DType d) {
  switch (d) {
    case DType::kFloat32: return add_rows<float>;
    case DType::kFloat64: return add_rows<double>;
    case DType::kInt32: return add_rows<uint32_t>;  // integers wrap around
    case DType::kInt64: return add_rows<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace

Tensor* handle_of(Variable* v) {
  if (Tensor* known = v->handle) return known;
  const Ref weak(PyWeakref_NewRef(reinterpret_cast<PyObject*>(v), nullptr));
  Ref payload(PyObject_CallOneArg(make_payload, weak.get()));
  ShapeRef s(Shape::scalar());
  OwnedTensor made(object_tensor(DType::kResource, s.get(), payload.release()));
  return publish(&v->handle, made.leak());  // Python ran: another thread may have been here
}

OwnedVariable variable_behind(const Tensor* handle) {
  PyObject* found = element_object(handle);
  if (!found || !PyWeakref_Check(found)) return {};
  Ref v = referent(found);
  return v && is_variable(v.get()) ? OwnedVariable(self_of(v.release())) : OwnedVariable();
}

OwnedVariable variable_of(const Tensor* handle) {
  OwnedVariable v = variable_behind(handle);
  if (!v) throw Error(Code::kFailedPrecondition, "The variable of this handle is gone: it was deleted.");
  return v;
}

namespace {

// For what runs in the midst of an update, such as a handler of signals, and in a process that was forked there.
Error taken_here() {
  return Error(Code::kFailedPrecondition, "The variable has no value now: the update that took it is not finished.");
}

void check_set(const Variable* v) {
  if (!v->value.is_set()) throw Error(Code::kFailedPrecondition, "The variable is not initialized.");
  if (v->value.is_taken_here()) throw taken_here();
}

}  // namespace

OwnedTensor awaited_snapshot(Variable* v) {
  const Ref owned = Ref::share(reinterpret_cast<PyObject*>(v));
  for (;;) {
    const bool locked = v->value.lock_.acquire_to_read();
    OwnedTensor value;
    bool readable;
    {
      const std::lock_guard hold(v->value.leaf_);
      readable = v->value.lock_.readable();  // without a GIL, another thread may have begun to write
      if (readable) value = OwnedTensor::share(v->value.tensor_);
    }
    if (locked) v->value.lock_.release();
    if (readable) return value;
    if (locked) throw taken_here();
  }
}

OwnedTensor value_of(const Tensor* handle) {
  const OwnedVariable v = variable_of(handle);
  check_set(v.get());
  return snapshot(v.get());
}

// -- the value ---------------------------------------------------------------------------------------

Tensor* VariableValue::writable() {
  // Dropping the old value may run code that looks at the new one.
  for (;;) {
    {
      const std::lock_guard hold(leaf_);
      Tensor* t = tensor_;
      if (t->unshared() && !t->dict && !t->weakrefs) {
        // The elements change, so for tapes it is another tensor.
        t->id = next_tensor_id();
        t->watch = 0;
        lock_.set_writing(true);
        return t;
      }
    }
    if (!tensor_->on_host()) throw unimplemented("An update in place of a variable that is not on the host.");
    OwnedTensor copy(new_tensor(tensor_->dtype, tensor_->shape));
    {
      const int64_t bytes = tensor_->bytes();
      const char* from = tensor_->data;
      char* to = copy->data;
      ReleaseGil unlock(bytes / 10);
      parallel_for(bytes, 0.05, [=](int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      });
    }
    exchange(std::move(copy));
  }
}

WritableValue::WritableValue(OwnedVariable v) : v_(std::move(v)) { v_->value.lock_.acquire(); }

WritableValue::WritableValue(const Tensor* handle) : WritableValue(variable_of(handle)) { check_set(v_.get()); }

OwnedTensor WritableValue::take(OwnedTensor instead) noexcept {
  const std::lock_guard hold(v_->value.leaf_);
  OwnedTensor taken(v_->value.tensor_);
  v_->value.tensor_ = instead.leak();
  v_->value.lock_.set_taken(true);
  return taken;
}

OwnedTensor WritableValue::exchange(OwnedTensor t) noexcept {
  OwnedTensor old = v_->value.exchange(std::move(t));
  if (v_->value.lock_.taken()) v_->value.lock_.set_taken(false);
  return old;
}

WritableValue::~WritableValue() {
  v_->value.lock_.set_writing(false);
  v_->value.lock_.release();
}

void VariableLocks::lock() {
  const auto before = [](const Variable* a, const Variable* b) { return a->id < b->id; };
  Variable** const end = given_ + n_;
  distinct_ = std::adjacent_find(given_, end, [&](Variable* a, Variable* b) { return !before(a, b); }) == end;
  if (!distinct_) {
    ordered_ = end;
    std::copy(given_, end, ordered_);
    std::sort(ordered_, ordered_ + n_, before);
    distinct_ = std::adjacent_find(ordered_, ordered_ + n_) == ordered_ + n_;
  }
  for (; n_locked_ < n_; ++n_locked_) ordered_[n_locked_]->value.lock_.acquire();
}

void VariableLocks::unlock() noexcept {
  while (n_locked_ > 0) {
    UpdateLock& lock = ordered_[--n_locked_]->value.lock_;
    lock.set_writing(false);
    lock.release();
  }
}

VariableLocks::~VariableLocks() {
  unlock();
  for (int64_t i = 0; i < n_; ++i) Py_DECREF(given_[i]);
  if (given_ != space_) delete[] given_;
}

WritableValues::WritableValues(Tensor* const* handles, int64_t n)
    : VariableLocks(n, [handles](int64_t i) {
        OwnedVariable v = variable_of(handles[i]);
        check_set(v.get());  // once set, for ever
        return v;
      }) {
  // A fork may have left variables without values, whose locks are free.
  for (int64_t i = 0; i < n; ++i) check_set(given_[i]);
}

bool update_in_place(WritableValue& v, const Tensor* x, bool subtract) {
  const Tensor* now = v.now();
  AddRows rows = now ? rows_of(now->dtype) : nullptr;
  if (!rows || x->dtype != now->dtype || !x->on_host() || !now->on_host() || !x->shape->same(now->shape)) return false;
  const int64_t n = now->size(), item = item_size(now->dtype);
  Tensor* value = v.writable();
  if (n < 4096) {
    rows(value->data, x->data, n, subtract);
    return true;
  }
  ReleaseGil unlock(n / 4);
  parallel_for(n, 0.25, [=](int64_t begin, int64_t end) {
    rows(value->data + begin * item, x->data + begin * item, end - begin, subtract);
  });
  return true;
}

bool replace_value(Variable* v, Tensor* t) {
  OwnedTensor value(fresh_view(t));
  WritableValue held(v);
  const Tensor* now = held.now();
  if (!now || v->dtype != t->dtype || now->device != t->device || !now->shape->same(t->shape)) return false;
  value = held.exchange(std::move(value));
  return true;
}

namespace {

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  Variable* v = self_of(o);
  new (&v->value) VariableValue;
  v->id = next_tensor_id();
  v->dtype = DType::kInvalid;
  v->trainable = true;
  v->of = nullptr;
  const Ref by_class = Ref::or_null(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "_reads_by_class"));
  if (!by_class) PyErr_Clear();  // no class of Python code
  v->by_class = by_class.get() == Py_True;
  return o;
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self_of(o)->dict);
  Py_VISIT(self_of(o)->of);
  return 0;
}

int clear(PyObject* o) {
  Py_CLEAR(self_of(o)->dict);
  Py_CLEAR(self_of(o)->of);
  return 0;
}

void destroy(PyObject* o) {
  Variable* v = self_of(o);
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (v->weakrefs) PyObject_ClearWeakRefs(o);
  Py_CLEAR(v->dict);
  Py_CLEAR(v->of);
  v->value.~VariableValue();
  Py_XDECREF(v->handle.value);
  type->tp_free(o);
  Py_DECREF(type);
}

bool shows_unread(PyTypeObject* type) {
  for (Py_ssize_t i = 0; unread_of && i < PyTuple_GET_SIZE(unread_of); ++i) {
    if (PyTuple_GET_ITEM(unread_of, i) == reinterpret_cast<PyObject*>(type)) return true;
  }
  return false;
}

// The variable that an assignment returns: of `unread_type` where programs see one, else o.
PyObject* after_assignment(PyObject* o) {
  if (!shows_unread(Py_TYPE(o))) return Py_NewRef(o);
  Variable* of = variable_at(o);
  const Ref attributes(PyObject_GenericGetDict(reinterpret_cast<PyObject*>(of), nullptr));
  PyObject* made = unread_type->tp_alloc(unread_type, 0);
  if (!made) throw PythonError();
  Variable* v = self_of(made);
  new (&v->value) VariableValue;
  v->id = of->id;
  v->dtype = of->dtype;
  v->trainable = of->trainable;
  v->of = reinterpret_cast<Variable*>(Py_NewRef(reinterpret_cast<PyObject*>(of)));
  v->dict = Py_NewRef(attributes.get());
  return made;
}

PyObject* cell_value(PyObject* o) {
  if (thread_state.graph_scope > 0 && hooks.graph_read) return PyObject_CallOneArg(hooks.graph_read, o);
  return guarded([&] { return object(read_variable(variable_at(o)).leak()); });
}

PyObject* new_value(PyObject* o) { return is_cell(o) ? cell_value(o) : PyObject_CallMethod(o, "value", nullptr); }

PyObject* read_value(PyObject* o, PyObject*) { return cell_value(o); }

// f(value), which no tape sees.
template <typename F>
PyObject* with_value(PyObject* o, F&& f) {
  return guarded([&]() -> PyObject* {
    const OwnedTensor value = snapshot(variable_at(o));
    return value ? f(object(value.get())) : cell_value(o);  // which raises
  });
}

PyObject* numpy(PyObject* o, PyObject*) {
  if (thread_state.graph_scope > 0) {
    PyErr_SetString(PyExc_NotImplementedError, "numpy() is only available when eager execution is enabled.");
    return nullptr;
  }
  return with_value(o, [](PyObject* value) { return PyObject_CallMethod(value, "numpy", nullptr); });
}

PyObject* init(PyObject* o, PyObject* args) {
  PyObject* dtype;
  int trainable;
  if (!PyArg_ParseTuple(args, "Op:_init", &dtype, &trainable)) return nullptr;
  return guarded([&] {
    variable_at(o)->dtype = parse_dtype(dtype);
    variable_at(o)->trainable = trainable;
    Py_RETURN_NONE;
  });
}

PyObject* set(PyObject* o, PyObject* value) {
  Variable* v = variable_at(o);
  if (!is_tensor(value)) {
    PyErr_Format(PyExc_TypeError, "Expected a tensor, got %.100s", Py_TYPE(value)->tp_name);
    return nullptr;
  }
  Tensor* t = reinterpret_cast<Tensor*>(value);
  if (t->dtype != v->dtype) {
    PyErr_Format(PyExc_ValueError, "Cannot assign a value of dtype %s to a variable of dtype %s",
                 dtype_name(t->dtype), dtype_name(v->dtype));
    return nullptr;
  }
  return guarded([&] {
    OwnedTensor near = OwnedTensor::share(t);
    const OwnedTensor now = hooks.device_call ? snapshot(v) : OwnedTensor();
    if (now) near = OwnedTensor(reinterpret_cast<Tensor*>(beside(near.leak(), now.get())));  // it stays where it began
    OwnedTensor value(fresh_view(near.get()));
    WritableValue held(v);
    value = held.exchange(std::move(value));
    Py_RETURN_NONE;
  });
}

// The three below: what the assignment returns where the value fits at a glance; None leaves the call to Python.
PyObject* try_assign(PyObject* o, PyObject* value) {
  if (!is_tensor(value) || thread_state.graph_scope > 0) Py_RETURN_NONE;
  return guarded([&] {
    if (!replace_value(variable_at(o), reinterpret_cast<Tensor*>(value))) Py_RETURN_NONE;
    return after_assignment(o);
  });
}

template <bool subtract>
PyObject* try_update(PyObject* o, PyObject* value) {
  if (thread_state.graph_scope > 0 || !(is_tensor(value) || is_cell(value))) Py_RETURN_NONE;
  return guarded([&] {
    const OwnedTensor x = is_tensor(value) ? OwnedTensor::share(reinterpret_cast<Tensor*>(value))
                                           : snapshot(variable_at(value));
    if (!x) Py_RETURN_NONE;
    {
      WritableValue v(variable_at(o));
      if (!update_in_place(v, x.get(), subtract)) Py_RETURN_NONE;
    }
    return after_assignment(o);
  });
}

PyObject* assigned(PyObject* o, PyObject*) {
  return guarded([&] { return after_assignment(o); });
}

PyObject* get_id(PyObject* o, void*) { return PyLong_FromLongLong(variable_at(o)->id); }
PyObject* get_dtype(PyObject* o, void*) {
  const DType d = variable_at(o)->dtype;
  if (d == DType::kInvalid) {
    PyErr_SetString(PyExc_AttributeError, "the variable has no dtype yet");
    return nullptr;
  }
  return Py_NewRef(dtype_object(d));
}
PyObject* get_trainable(PyObject* o, void*) { return PyBool_FromLong(variable_at(o)->trainable); }
PyObject* get_initialized(PyObject* o, void*) { return PyBool_FromLong(variable_at(o)->value.is_set()); }

// The value's shape; that of a variable declared with another one is Python's to know.
PyObject* get_value_shape(PyObject* o, void*) {
  return with_value(o, [](PyObject* value) { return PyObject_GetAttrString(value, "shape"); });
}

PyObject* get_is_cell(PyObject* o, void*) { return PyBool_FromLong(is_cell(o)); }

PyObject* get_has_cell(PyObject* o, void*) { return PyBool_FromLong(variable_at(o)->dtype != DType::kInvalid); }

PyObject* get_handle(PyObject* o, void*) {
  if (variable_at(o)->dtype == DType::kInvalid) {
    PyErr_SetString(PyExc_AttributeError, "the variable has no cell of its own");
    return nullptr;
  }
  return guarded([&] { return Py_NewRef(object(handle_of(variable_at(o)))); });
}

template <PyObject* (*f)(PyObject*)>
PyObject* by_value(PyObject* o) {
  return f(Ref(new_value(o)).get());
}

int truth(PyObject* o) {
  return PyObject_IsTrue(Ref(new_value(o)).get());
}

PyMethodDef methods[] = {
    {"read_value", entry<read_value>, METH_NOARGS, "The value, as a tensor that later assignments do not change."},
    {"value", entry<read_value>, METH_NOARGS, "The value, as a tensor that later assignments do not change."},
    {"numpy", entry<numpy>, METH_NOARGS, "The value as a NumPy array."},
    {"_init", entry<init>, METH_VARARGS, nullptr},
    {"_set", entry<set>, METH_O, nullptr},
    {"_try_assign", entry<try_assign>, METH_O, nullptr},
    {"_assign_add", entry<try_update<false>>, METH_O, nullptr},
    {"_assign_sub", entry<try_update<true>>, METH_O, nullptr},
    {"_assigned", entry<assigned>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef getset[] = {
    {"_id", entry<get_id>, nullptr, nullptr, nullptr},
    {"dtype", entry<get_dtype>, nullptr, "The dtype of the elements.", nullptr},
    {"trainable", entry<get_trainable>, nullptr, "Whether tapes watch the variable by themselves.", nullptr},
    {"handle", entry<get_handle>, nullptr, "A scalar resource tensor that stands for the variable.", nullptr},
    {"_is_cell", entry<get_is_cell>, nullptr, "Whether reading gives what the cell holds, not what methods of the class say.", nullptr},
    {"_has_cell", entry<get_has_cell>, nullptr, "Whether it holds a value of its own; one that wraps another does not.", nullptr},
    {"_is_set", entry<get_initialized>, nullptr, nullptr, nullptr},
    {"_value_shape", entry<get_value_shape>, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Variable, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Variable, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

bool add_payload_function() {
  const Ref dict = Ref::or_null(PyDict_New());
  PyObject* scope = dict.get();
  Ref done;
  if (scope && PyDict_SetItemString(scope, "__builtins__", PyEval_GetBuiltins()) == 0) {
    done = Ref::or_null(PyRun_String(
        "from numpy import empty\n"
        "def make(x):\n"
        "    array = empty((), object)\n"
        "    array[()] = x\n"
        "    return array\n",
        Py_file_input, scope, scope));
  }
  if (done) make_payload = Py_XNewRef(PyDict_GetItemString(scope, "make"));
  return make_payload != nullptr;
}

}  // namespace

namespace {

// fresh(tensor): a tensor over the same memory that no tape knows.
PyObject* fresh(PyObject*, PyObject* o) {
  if (!is_tensor(o)) return PyErr_Format(PyExc_TypeError, "expected an EagerTensor, got %.100s", Py_TYPE(o)->tp_name);
  return guarded([&] { return object(fresh_view(reinterpret_cast<Tensor*>(o))); });
}

// Locks of the variables of a tuple.
VariableLocks locks_of(PyObject* variables) {
  const Py_ssize_t n = PyTuple_GET_SIZE(variables);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* v = PyTuple_GET_ITEM(variables, i);
    if (is_variable(v)) continue;
    PyErr_Format(PyExc_TypeError, "expected a Variable, got %.100s", Py_TYPE(v)->tp_name);
    throw PythonError();
  }
  return {n, [variables](int64_t i) { return OwnedVariable::share(variable_at(PyTuple_GET_ITEM(variables, i))); }};
}

// update_locked(variables, function): what function() returns, during which no other thread changes the variables.
PyObject* update_locked(PyObject*, PyObject* args) {
  PyObject *variables, *function;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &variables, &function)) return nullptr;
  const VariableLocks locks = locks_of(variables);
  return PyObject_CallNoArgs(function);
}

// The values of variables, out of them until the end of the scope, which puts back what is still in the list.
class TakenValues {
 public:
  explicit TakenValues(PyObject* variables) : TakenValues(PyTuple_GET_SIZE(variables)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list_.get()); ++i) {
      auto held = std::make_unique<WritableValue>(variable_at(PyTuple_GET_ITEM(variables, i)));
      OwnedTensor placeholder = without_elements(held->now());
      held_.push_back(std::move(held));
      PyList_SET_ITEM(list_.get(), i, object(held_.back()->take(std::move(placeholder)).leak()));
    }
    PyObject_GC_Track(list_.get());
  }
  TakenValues(const TakenValues&) = delete;
  TakenValues& operator=(const TakenValues&) = delete;
  // What is gone from the list leaves a variable that is not initialized. Runs no code while a placeholder can be seen.
  ~TakenValues() {
    for (size_t i = 0; i < held_.size(); ++i) {
      const auto at = static_cast<Py_ssize_t>(i);
      PyObject* value = at < PyList_GET_SIZE(list_.get()) ? PyList_GET_ITEM(list_.get(), at) : Py_None;
      held_[i]->exchange(is_tensor(value) ? OwnedTensor::share(reinterpret_cast<Tensor*>(value)) : OwnedTensor());
    }
  }

  PyObject* list() const { return list_.get(); }

 private:
  // Whole before values are taken, so that those are put back where not all can be.
  explicit TakenValues(Py_ssize_t n) : list_(unfinished_list(n)) { held_.reserve(static_cast<size_t>(n)); }

  // What an assignment looks at.
  static OwnedTensor without_elements(const Tensor* value) {
    OwnedTensor t(object_tensor(value->dtype, value->shape, nullptr));
    t->device = value->device;
    return t;
  }

  const Ref list_;
  std::vector<std::unique_ptr<WritableValue>> held_;
};

// update_taken(variables, function): what function(values) returns, which finds the only reference to the values of
// distinct, initialized variables in a list, and leaves their new ones there. Readers wait meanwhile.
PyObject* update_taken(PyObject*, PyObject* args) {
  PyObject *variables, *function;
  if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &variables, &function)) return nullptr;
  const VariableLocks locks = locks_of(variables);
  if (!locks.distinct()) throw invalid("update_taken: a variable comes twice");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(variables); ++i) check_set(variable_at(PyTuple_GET_ITEM(variables, i)));
  const TakenValues taken(variables);
  return PyObject_CallOneArg(function, taken.list());
}

// set_unread_type(type, classes): assignments to variables of exactly these classes return variables of the type, a
// subclass without a state of its own, that share cell and attributes with the assigned one.
PyObject* set_unread_type(PyObject*, PyObject* args) {
  PyObject *type, *classes;
  if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &type, &PyTuple_Type, &classes)) return nullptr;
  if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), VariableType)) {
    return PyErr_Format(PyExc_TypeError, "expected a class of variables, got %R", type);
  }
  // Those before stay: they may be in use.
  unread_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  unread_of = Py_NewRef(classes);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {{"set_unread_type", entry<set_unread_type>, METH_VARARGS,
                            "set_unread_type(type, classes): what assignments to variables of these classes return"},
                           {"update_taken", entry<update_taken>, METH_VARARGS,
                            "update_taken(variables, function): what function(list of their values) returns, which changes the list"},
                           {"fresh", entry<fresh>, METH_O, "fresh(tensor): one over the same memory that no tape knows"},
                           {"update_locked", entry<update_locked>, METH_VARARGS,
                            "update_locked(variables, function): what function() returns, a read-modify-write of the variables"},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_variable(PyObject* module) {
  if (!add_payload_function()) return false;
  const PyNumberMethods& n = tensor_number_methods;
  PyType_Slot slots[] = {
      {Py_tp_new, slot(entry<create>)},
      {Py_tp_dealloc, slot(destroy)},
      {Py_tp_traverse, slot(traverse)},
      {Py_tp_clear, slot(clear)},
      {Py_tp_methods, methods},
      {Py_tp_getset, getset},
      {Py_tp_members, members},
      {Py_tp_richcompare, slot(entry<tensor_richcompare>)},
      {Py_tp_hash, slot(PyObject_HashNotImplemented)},
      {Py_nb_negative, slot(entry<by_value<PyNumber_Negative>>)},
      {Py_nb_positive, slot(entry<by_value<PyNumber_Positive>>)},
      {Py_nb_absolute, slot(entry<by_value<PyNumber_Absolute>>)},
      {Py_nb_invert, slot(entry<by_value<PyNumber_Invert>>)},
      {Py_nb_int, slot(entry<by_value<PyNumber_Long>>)},
      {Py_nb_float, slot(entry<by_value<PyNumber_Float>>)},
      {Py_nb_index, slot(entry<by_value<PyNumber_Index>>)},
      {Py_nb_bool, slot(entry<truth>)},
      // The operators of two operands take whatever converts to a tensor on either side.
      {Py_nb_add, slot(n.nb_add)},
      {Py_nb_subtract, slot(n.nb_subtract)},
      {Py_nb_multiply, slot(n.nb_multiply)},
      {Py_nb_remainder, slot(n.nb_remainder)},
      {Py_nb_power, slot(n.nb_power)},
      {Py_nb_and, slot(n.nb_and)},
      {Py_nb_or, slot(n.nb_or)},
      {Py_nb_xor, slot(n.nb_xor)},
      {Py_nb_floor_divide, slot(n.nb_floor_divide)},
      {Py_nb_true_divide, slot(n.nb_true_divide)},
      {Py_nb_matrix_multiply, slot(n.nb_matrix_multiply)},
      {0, nullptr}};
  PyType_Spec spec = {"tapeflow._native.Variable", sizeof(Variable), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  VariableType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return VariableType && PyModule_AddFunctions(module, functions) == 0 &&
         PyModule_AddObjectRef(module, "Variable", reinterpret_cast<PyObject*>(VariableType)) == 0;
}

}  // namespace tapeflow
