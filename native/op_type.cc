// The Python type of rows, and the registry of native kernels that they take theirs from.
#include <Python.h>
#include <structmember.h>

#include <map>

#include "attrs.h"
#include "eternal.h"
#include "guard.h"
#include "op.h"
#include "ref.h"
#include "widened.h"

namespace tapeflow {

PyTypeObject* OpType = nullptr;

namespace {

// Kernels register themselves before the rows exist.
std::map<std::string, NativeKernel[kDTypeCount]>& kernels() {
  static std::map<std::string, NativeKernel[kDTypeCount]> all;
  return all;
}

template <typename T>
std::string listed(const std::vector<T>& items) {
  std::string all;
  for (const T& item : items) all += (all.empty() ? "" : ", ") + py_str(item.name);
  return all;
}

// Takes the row's native kernels. Throws ValueError where one reads inputs or attrs by names that the row does not have.
void take_kernels(OpDef* op) {
  const auto found = kernels().find(*op->name);
  if (found == kernels().end()) return;
  const std::string attrs = listed(*op->attrs), inputs = listed(*op->inputs);
  for (int d = 0; d < kDTypeCount; ++d) {
    const NativeKernel& k = found->second[d];
    if (!k.run) continue;
    op->native[d] = k.run;
    const bool same_attrs = attrs == k.attrs;
    if (same_attrs && (!k.inputs || inputs == k.inputs)) continue;
    PyErr_Format(PyExc_ValueError, "the native kernel of %s for %s reads the %s (%s), but the row has (%s)",
                 op->name->c_str(), dtype_name(static_cast<DType>(d)), same_attrs ? "inputs" : "attrs",
                 same_attrs ? k.inputs : k.attrs, (same_attrs ? inputs : attrs).c_str());
    throw PythonError();
  }
}

PyObject* intern(PyObject* s) {
  Py_INCREF(s);
  PyUnicode_InternInPlace(&s);
  return s;
}

bool parse_args(PyObject* list, std::vector<Arg>* out, bool outputs) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* name;
    int var, attr = -1, fixed, is_list, count = -1;
    unsigned char least;
    PyObject* t = PyList_GET_ITEM(list, i);
    if (outputs ? !PyArg_ParseTuple(t, "Uiiipbi", &name, &var, &attr, &fixed, &is_list, &least, &count)
                : !PyArg_ParseTuple(t, "Uiipb", &name, &var, &fixed, &is_list, &least)) return false;
    out->push_back(Arg{intern(name), var, attr, static_cast<DType>(fixed), is_list != 0, least, count});
  }
  return true;
}

bool parse_attr_specs(OpDef* op, PyObject* list) {
  if (PyList_GET_SIZE(list) > kMaxAttrs) {
    PyErr_Format(PyExc_ValueError, "%s: at most %d attrs", op->name->c_str(), kMaxAttrs);
    return false;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject *name, *def, *choices;
    int kind, required;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "UipOO", &name, &kind, &required, &def, &choices)) return false;
    AttrSpec s{};
    s.name = intern(name);
    s.kind = static_cast<AttrKind>(kind);
    s.required = required != 0;
    s.object = Py_NewRef(def);
    s.choices = choices == Py_None ? nullptr : PySequence_Tuple(choices);
    if (!s.required && !(def == Py_None && s.kind != AttrKind::kShape)) {
      Arena arena;
      parse_attr(def, op, s, &s.value, &arena);
      if (s.value.n > 0) s.ints.assign(s.value.ints, s.value.ints + s.value.n);
    }
    s.value.object = s.object;
    op->attrs->push_back(std::move(s));
  }
  op->defaults = new Attr[kMaxAttrs];
  for (size_t i = 0; i < op->attrs->size(); ++i) {
    AttrSpec& s = (*op->attrs)[i];
    if (!s.ints.empty()) s.value.ints = s.ints.data();
    op->defaults[i] = s.value;
  }
  return true;
}

PyObject* op_new(PyTypeObject* type, PyObject* args, PyObject*) {
  const char* name;
  PyObject *vars, *inputs, *outputs, *attrs;
  int broadcasts = 0, rounds = 0;
  if (!PyArg_ParseTuple(args, "sO!O!O!O!|pp", &name, &PyList_Type, &vars, &PyList_Type, &inputs, &PyList_Type, &outputs,
                        &PyList_Type, &attrs, &broadcasts, &rounds)) return nullptr;
  Ref made(type->tp_alloc(type, 0));
  PyObject_GC_UnTrack(made.get());  // parsing may run code, which must not find it before it is whole
  auto* op = reinterpret_cast<OpDef*>(made.get());
  op->vectorcall = op_vectorcall;
  op->name = new std::string(name);
  op->type_vars = new std::vector<TypeVar>;
  op->inputs = new std::vector<Arg>;
  op->outputs = new std::vector<Arg>;
  op->attrs = new std::vector<AttrSpec>;
  op->broadcasts = broadcasts != 0;
  op->needs_in = op->needs_out = ~uint64_t{0};
  bool ok = PyList_GET_SIZE(vars) <= 8;
  if (!ok) PyErr_SetString(PyExc_ValueError, "at most 8 type variables");
  for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(vars); ++i) {
    const char* n;
    unsigned long long mask;
    int first, preferred;
    ok = PyArg_ParseTuple(PyList_GET_ITEM(vars, i), "sKip", &n, &mask, &first, &preferred);
    if (ok) op->type_vars->push_back(TypeVar{n, mask, static_cast<DType>(first), preferred != 0});
  }
  ok = ok && parse_args(inputs, op->inputs, false) && parse_args(outputs, op->outputs, true) && parse_attr_specs(op, attrs);
  if (!ok) return nullptr;
  op->key_var = op->key_attr = -1;
  for (const Arg& a : *op->inputs) {
    op->has_list = op->has_list || a.list;
    if (op->key_var < 0 && a.type_var >= 0) op->key_var = a.type_var;
  }
  for (size_t i = 0; i < op->attrs->size() && op->key_attr < 0; ++i) {
    if ((*op->attrs)[i].kind == AttrKind::kType) op->key_attr = static_cast<int>(i);
  }
  op->simple = !op->has_list && op->outputs->size() == 1 && !(*op->outputs)[0].list;
  take_kernels(op);
  if (!rounds) widen_kernels(op);
  PyObject* row = whole(std::move(made));
  keep_for_ever(row);  // counted with every call on a tape
  return row;
}

int op_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* op = reinterpret_cast<OpDef*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(op->kernel.value);
  Py_VISIT(op->gradient.value);
  Py_VISIT(op->result_type.value);
  Py_VISIT(op->dict);
  return 0;
}

int op_clear(PyObject* self) {
  auto* op = reinterpret_cast<OpDef*>(self);
  Py_CLEAR(op->kernel.value);
  Py_CLEAR(op->gradient.value);
  Py_CLEAR(op->result_type.value);
  Py_CLEAR(op->dict);
  return 0;
}

void op_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  op_clear(self);
  auto* op = reinterpret_cast<OpDef*>(self);
  delete op->name;
  delete op->type_vars;
  delete op->inputs;
  delete op->outputs;
  delete op->attrs;
  delete[] op->defaults;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* op_repr(PyObject* self) {
  return PyUnicode_FromFormat("<op %s>", reinterpret_cast<OpDef*>(self)->name->c_str());
}

PyObject* op_name(PyObject* self, void*) { return PyUnicode_FromString(reinterpret_cast<OpDef*>(self)->name->c_str()); }

template <Shared<PyObject*> OpDef::*Field>
PyObject* get_field(PyObject* self, void*) {
  PyObject* o = reinterpret_cast<OpDef*>(self)->*Field;
  return Py_NewRef(o ? o : Py_None);
}
template <Shared<PyObject*> OpDef::*Field>
int set_field(PyObject* self, PyObject* value, void*) {
  replace(&(reinterpret_cast<OpDef*>(self)->*Field), value == Py_None ? nullptr : Py_XNewRef(value));
  return 0;
}

PyObject* set_gradient(PyObject* self, PyObject* args) {
  auto* op = reinterpret_cast<OpDef*>(self);
  PyObject* fn;
  unsigned long long in = ~0ULL, out = ~0ULL;
  int none_grads = 0;
  if (!PyArg_ParseTuple(args, "O|KKp", &fn, &in, &out, &none_grads)) return nullptr;
  op->needs_in = in;
  op->needs_out = out;
  op->none_grads = none_grads != 0;
  replace(&op->gradient, Py_NewRef(fn));
  Py_RETURN_NONE;
}

PyObject* native_dtypes(PyObject* self, PyObject*) {
  auto* op = reinterpret_cast<OpDef*>(self);
  Ref l(PyList_New(0));
  for (int i = 0; i < kDTypeCount; ++i) {
    if (op->native[i] && PyList_Append(l.get(), Ref(PyLong_FromLong(i)).get()) < 0) return nullptr;
  }
  return l.release();
}

PyObject* with_kernels(PyObject*, PyObject*) {
  Ref l(PyList_New(0));
  for (const auto& [name, _] : kernels()) {
    if (PyList_Append(l.get(), Ref(PyUnicode_FromString(name.c_str())).get()) < 0) return nullptr;
  }
  return l.release();
}

PyMethodDef op_methods[] = {
    {"_with_kernels", entry<with_kernels>, METH_NOARGS | METH_STATIC, "Names of the ops that have native kernels."},
    {"_set_gradient", entry<set_gradient>, METH_VARARGS, nullptr},
    {"native_dtypes", entry<native_dtypes>, METH_NOARGS, "Numbers of the dtypes that have a native kernel."},
    {"call_python", method(entry<op_call_python>), METH_FASTCALL | METH_KEYWORDS,
     "Runs the Python kernel, also where a native one exists."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef op_getset[] = {
    {"name", entry<op_name>, nullptr, nullptr, nullptr},
    {"_kernel", entry<get_field<&OpDef::kernel>>, entry<set_field<&OpDef::kernel>>, nullptr, nullptr},
    {"_gradient", entry<get_field<&OpDef::gradient>>, nullptr, nullptr, nullptr},
    {"result_type", entry<get_field<&OpDef::result_type>>, entry<set_field<&OpDef::result_type>>, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef op_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpDef, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OpDef, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot op_slots[] = {
    {Py_tp_new, slot(entry<op_new>)},
    {Py_tp_dealloc, slot(op_dealloc)},
    {Py_tp_traverse, slot(op_traverse)},
    {Py_tp_clear, slot(op_clear)},
    {Py_tp_repr, slot(entry<op_repr>)},
    {Py_tp_call, slot(PyVectorcall_Call)},
    {Py_tp_methods, op_methods},
    {Py_tp_getset, op_getset},
    {Py_tp_members, op_members},
    {Py_tp_doc, const_cast<char*>("A row of the op table.")},
    {0, nullptr}};
PyType_Spec op_spec = {"tapeflow._native.Op", sizeof(OpDef), 0,
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, op_slots};

}  // namespace

void register_kernel(const char* op, std::initializer_list<DType> dtypes, NativeKernel kernel) {
  for (DType d : dtypes) kernels()[op][static_cast<int>(d)] = kernel;
}

bool init_op_type(PyObject* module) {
  OpType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&op_spec));
  return OpType && PyModule_AddObjectRef(module, "Op", reinterpret_cast<PyObject*>(OpType)) == 0;
}

}  // namespace tapeflow
