#include "recorded_call.h"

#include <memory>

#include "arrays.h"
#include "guard.h"
#include "ref.h"
#include "tensor_type.h"

namespace tapeflow {

namespace {

PyTypeObject* CallType = nullptr;

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

void require_name(PyObject* name) {
  if (PyUnicode_Check(name)) return;
  PyErr_Format(PyExc_TypeError, "inputs, outputs and attrs are known by their names, not by %R", name);
  throw PythonError();
}

// The flat positions [first, first + count) of a named input or output; count < 0: no such name. list: as a list.
struct Range { int first, count; bool list; };
Range find(const CallView* c, PyObject* name) {
  require_name(name);
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

const Slot& slot_at(const CallView* c, int i) {
  if (static_cast<size_t>(i) < c->slots->size()) return (*c->slots)[static_cast<size_t>(i)];
  throw Error(Code::kInternal, text("the call of ", *c->op->name, " has no input or output ", i));
}

Ref kept_tensor(const CallView* c, int i, PyObject* name) {
  Tensor* t = slot_at(c, i).kept;
  if (t) return Ref::share(object(t));
  PyErr_Format(PyExc_AttributeError, "the gradient of %s reads '%U', which its needs= does not name",
               c->op->name->c_str(), name);
  throw PythonError();
}

template <typename F>
PyObject* list_of(const Range& r, F&& f) {
  Ref l = unfinished_list(r.count);
  for (int i = 0; i < r.count; ++i) PyList_SET_ITEM(l.get(), i, f(r.first + i));
  return whole(std::move(l));
}

PyObject* named(PyObject* self, PyObject* name) {
  auto* c = reinterpret_cast<CallView*>(self);
  require_name(name);
  for (size_t i = 0; i < c->op->attrs->size(); ++i) {
    const AttrSpec& s = (*c->op->attrs)[i];
    if (s.name != name && PyUnicode_Compare(s.name, name) != 0) continue;
    PyObject* v = c->attrs ? PyTuple_GET_ITEM(c->attrs, static_cast<Py_ssize_t>(i)) : s.object;
    if (s.kind == AttrKind::kType && v != Py_None) v = dtype_object(parse_dtype(v));
    return Py_NewRef(v);
  }
  const Range r = find(c, name);
  if (r.count < 0) {
    PyErr_Format(PyExc_AttributeError, "%s has no input, output or attr '%U'", c->op->name->c_str(), name);
    return nullptr;
  }
  if (!r.list) return kept_tensor(c, r.first, name).release();
  return list_of(r, [&](int i) { return kept_tensor(c, i, name).release(); });
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
  return guarded(c->op, [&] {
    if (!r.list) return f(slot_at(c, r.first));
    return list_of(r, [&](int i) { return f(slot_at(c, i)); });
  });
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

PyObject* call_static_shape(PyObject* self, PyObject* name) {
  return per_slot(self, name, [](const Slot& s) { return Ref(tensor_shape_object(s.shape)).release(); });
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
    {"shape", entry<call_shape>, METH_O, "The shape of a named input or output, as an int32 vector."},
    {"static_shape", entry<call_static_shape>, METH_O, "The same as a TensorShape."},
    {"dtype", entry<call_dtype>, METH_O, "The dtype of a named input or output."},
    {"wants", entry<call_wants>, METH_O, "Whether the gradient for this input will be used."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef call_getset[] = {{"op_name", entry<call_op_name>, nullptr, nullptr, nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot call_slots[] = {{Py_tp_dealloc, slot(call_dealloc)},
                            {Py_tp_getattro, slot(entry<call_getattro>)},
                            {Py_mp_subscript, slot(entry<named>)},
                            {Py_tp_methods, call_methods},
                            {Py_tp_getset, call_getset},
                            {Py_tp_doc, const_cast<char*>("A recorded call, as its gradient function sees it.")},
                            {0, nullptr}};
PyType_Spec call_spec = {"tapeflow._native.Call", sizeof(CallView), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, call_slots};

}  // namespace

PyObject* recorded_call(Tape* tape, const Entry& e, uint64_t wanted) {
  auto slots = std::make_unique<std::vector<Slot>>(tape->slots->begin() + e.first_slot,
                                                   tape->slots->begin() + e.first_slot + e.n_in + e.n_out);
  auto* c = PyObject_New(CallView, CallType);
  if (!c) throw PythonError();
  Py_INCREF(e.op);
  c->op = e.op;
  c->attrs = Py_XNewRef(e.attrs);
  c->slots = slots.release();
  for (Slot& s : *c->slots) {
    s.shape->retain();
    Py_XINCREF(s.kept);
  }
  c->n_in = e.n_in;
  c->list_size = e.list_size;
  c->wanted = wanted;
  return reinterpret_cast<PyObject*>(c);
}

bool init_recorded_call() {
  CallType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&call_spec));
  return CallType != nullptr;
}

}  // namespace tapeflow
