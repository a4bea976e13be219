#define PY_SSIZE_T_CLEAN  // lengths in call formats are Py_ssize_t
#include "op.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "convert.h"
#include "tape.h"
#include "threads.h"
#include "variable.h"

namespace tapeflow {

PyTypeObject* OpType = nullptr;
Hooks hooks = {};
Promotion promotion = {};
thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

namespace {

// Kernels register themselves before the rows exist.
std::map<std::string, Kernel[kDTypeCount]>& kernels() {
  static std::map<std::string, Kernel[kDTypeCount]> all;
  return all;
}

PyObject* numpy_module = nullptr;
PyObject* errstate_type = nullptr;
PyObject* errstate_kwnames = nullptr;   // ("all",)
PyObject* ignore = nullptr;

std::string py_str(PyObject* o) {
  PyObject* s = PyObject_Str(o);
  const char* c = s ? PyUnicode_AsUTF8(s) : nullptr;
  std::string out = c ? c : "?";
  if (!c) PyErr_Clear();
  Py_XDECREF(s);
  return out;
}

std::string py_repr(PyObject* o) {
  PyObject* s = PyObject_Repr(o);
  const char* c = s ? PyUnicode_AsUTF8(s) : nullptr;
  std::string out = c ? c : "?";
  if (!c) PyErr_Clear();
  Py_XDECREF(s);
  return out;
}

[[noreturn]] void type_error(const std::string& m) {
  PyErr_SetString(PyExc_TypeError, m.c_str());
  throw PythonError();
}

std::string allowed_names(uint64_t mask) {
  std::string out;
  for (int i = 1; i < kDTypeCount; ++i) {
    if (mask >> i & 1) out += (out.empty() ? "" : ", ") + std::string(dtype_short_name(static_cast<DType>(i)));
  }
  return out;
}

// -- attrs -----------------------------------------------------------------------------------------

// Memory for the lists of one call.
class Arena {
 public:
  int64_t* take(int n) {
    if (used_ + n <= kInline) {
      int64_t* p = inline_ + used_;
      used_ += n;
      return p;
    }
    more_.emplace_back(new int64_t[static_cast<size_t>(n)]);
    return more_.back().get();
  }

 private:
  static constexpr int kInline = 32;
  int64_t inline_[kInline];
  int used_ = 0;
  std::vector<std::unique_ptr<int64_t[]>> more_;
};

int64_t int_of(PyObject* o, const OpDef* op, const AttrSpec& spec) {
  if (PyLong_Check(o) || PyIndex_Check(o)) {
    PyObject* i = PyNumber_Index(o);
    if (i) {
      const int64_t v = PyLong_AsLongLong(i);
      Py_DECREF(i);
      if (v != -1 || !PyErr_Occurred()) return v;
      PyErr_Clear();
      throw invalid("Value for attr '", py_str(spec.name), "' of ", py_str(o), " does not fit in 64 bits");
    }
    PyErr_Clear();
  }
  type_error("Expected int for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
}

void parse_list(PyObject* o, const OpDef* op, const AttrSpec& spec, bool unknown_ok, Attr* out, Arena* arena) {
  // A copy: __index__ of an element may run code that changes the list.
  PyObject* fast = PyUnicode_Check(o) || PyBytes_Check(o) ? nullptr : PySequence_Tuple(o);
  if (!fast) {
    PyErr_Clear();
    type_error("Expected list for attr '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
  }
  const auto n = PySequence_Fast_GET_SIZE(fast);
  if (n > 100000) {
    Py_DECREF(fast);
    throw invalid("attr '", py_str(spec.name), "' has ", n, " elements");
  }
  int64_t* at = arena->take(static_cast<int>(n));
  try {
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* e = PySequence_Fast_GET_ITEM(fast, i);
      if (unknown_ok && e == Py_None) { at[i] = -1; continue; }
      at[i] = int_of(e, op, spec);
    }
  } catch (...) {
    Py_DECREF(fast);
    throw;
  }
  Py_DECREF(fast);
  out->ints = at;
  out->n = static_cast<int>(n);
}

void parse_attr(PyObject* o, const OpDef* op, const AttrSpec& spec, Attr* out, Arena* arena) {
  out->object = o;
  switch (spec.kind) {
    case AttrKind::kBool:
      if (PyBool_Check(o)) { out->i = o == Py_True; return; }
      if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0) { out->i = PyObject_IsTrue(o); return; }
      type_error("Expected bool for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
    case AttrKind::kInt:
      out->i = int_of(o, op, spec);
      return;
    case AttrKind::kFloat: {
      // TensorFlow keeps float attrs in single precision, which shows in ops on doubles.
      out->f = static_cast<float>(PyFloat_AsDouble(o));
      if (out->f == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        type_error("Expected float for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
      }
      return;
    }
    case AttrKind::kType:
      out->i = static_cast<int64_t>(parse_dtype(o));
      return;
    case AttrKind::kString: {
      if (!PyUnicode_Check(o) && !PyBytes_Check(o)) {
        type_error("Expected string for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
      }
      if (!spec.choices) return;
      const std::string given = PyBytes_Check(o) ? PyBytes_AS_STRING(o) : py_str(o);
      std::string all;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(spec.choices); ++i) {
        const std::string choice = py_str(PyTuple_GET_ITEM(spec.choices, i));
        if (choice == given) return;
        all += (all.empty() ? "\"" : ", \"") + choice + "\"";
      }
      throw invalid("Value for attr '", py_str(spec.name), "' of \"", given, "\" is not in the list of allowed values: ", all);
    }
    case AttrKind::kShape: {
      if (o == Py_None) { out->n = -1; return; }
      if (PyLong_Check(o)) {
        int64_t* at = arena->take(1);
        at[0] = int_of(o, op, spec);
        out->ints = at;
        out->n = 1;
        return;
      }
      if (PyList_Check(o) || PyTuple_Check(o)) { parse_list(o, op, spec, true, out, arena); return; }
      PyObject* rank = PyObject_GetAttrString(o, "rank");
      if (!rank) { PyErr_Clear(); type_error("Expected a shape for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + "."); }
      Py_DECREF(rank);
      if (rank == Py_None) { out->n = -1; return; }
      PyObject* list = PyObject_CallMethod(o, "as_list", nullptr);
      if (!list) throw PythonError();
      try { parse_list(list, op, spec, true, out, arena); } catch (...) { Py_DECREF(list); throw; }
      Py_DECREF(list);
      return;
    }
    case AttrKind::kInts:
      parse_list(o, op, spec, false, out, arena);
      return;
    case AttrKind::kObject:
      return;
  }
}

// -- one call --------------------------------------------------------------------------------------

class Call {
 public:
  explicit Call(OpDef* op) : op_(op) {}
  ~Call() {
    Py_XDECREF(promoted_);
    for (Tensor* t : in_) Py_XDECREF(t);
    for (Tensor* t : out_) Py_XDECREF(t);
  }

  PyObject* run(PyObject* const* args, size_t nargs, PyObject* kwnames, bool python) {
    bind(args, nargs, kwnames);
    if (thread_state.graph_scope > 0 || symbolic_) return build_graph();
    if (promotion.ops) promote();
    convert();
    parse_attrs();
    count_outputs();
    bool off_host = thread_state.device != 0;
    for (Tensor* t : in_) off_host = off_host || t->device != 0;
    if (off_host && hooks.device_call) return device_call();
    Kernel k = python ? nullptr : kernel();
    bool done = false;
    if (k && host_memory()) {
      KernelCall c{op_, static_cast<int>(in_.size()), in_.data(), attrs_, static_cast<int>(out_.size()), out_.data()};
      done = k(c);
    }
    if (!done) run_python();
    if (thread_state.n_tapes > 0) {
      CallRecord r{op_, in_.data(), static_cast<int>(in_.size()), out_.data(), static_cast<int>(out_.size()),
                   attr_objects_, list_sizes_.empty() ? nullptr : list_sizes_.data()};
      record(r);
    }
    return weak_ ? mark_weak(result()) : result();
  }

 private:
  // Inputs of several dtypes become of one, where the program has switched that on.
  void promote() {
    PyObject* inputs = PyTuple_New(static_cast<Py_ssize_t>(values_.size()));
    if (!inputs) throw PythonError();
    for (size_t i = 0; i < values_.size(); ++i) PyTuple_SET_ITEM(inputs, i, Py_NewRef(values_[i]));
    promoted_ = PyObject_CallFunction(promotion.ops, "sN", op_->name->c_str(), inputs);
    if (!promoted_) throw PythonError();
    if (promoted_ == Py_None) return;
    PyObject* values;
    int weak;
    if (!PyArg_ParseTuple(promoted_, "O!p", &PyTuple_Type, &values, &weak)) throw PythonError();
    if (PyTuple_GET_SIZE(values) != static_cast<Py_ssize_t>(values_.size())) type_error("promotion of " + *op_->name + " lost an input");
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = PyTuple_GET_ITEM(values, i);
    weak_ = weak != 0;
  }

  // Which argument is which input or attr.
  void bind(PyObject* const* args, size_t nargs, PyObject* kwnames) {
    const size_t n_in = op_->inputs->size(), n_attr = op_->attrs->size();
    if (nargs > n_in + n_attr) {
      type_error(*op_->name + " takes at most " + std::to_string(n_in + n_attr) + " arguments (" +
                 std::to_string(nargs) + " given)");
    }
    values_.assign(n_in, nullptr);
    for (size_t i = 0; i < nargs; ++i) {
      if (i < n_in) values_[i] = args[i];
      else attr_objects_[i - n_in] = args[i] == Py_None && !(*op_->attrs)[i - n_in].required &&
                                             (*op_->attrs)[i - n_in].object != Py_None ? nullptr : args[i];
    }
    if (kwnames) {
      for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); ++k) bind_keyword(PyTuple_GET_ITEM(kwnames, k), args[nargs + static_cast<size_t>(k)]);
    }
    for (size_t i = 0; i < n_in; ++i) {
      if (!values_[i]) type_error(*op_->name + " missing required argument: '" + py_str((*op_->inputs)[i].name) + "'");
      look(values_[i], (*op_->inputs)[i].list);
    }
    for (size_t i = 0; i < n_attr; ++i) {
      if (!attr_objects_[i] && (*op_->attrs)[i].required) {
        type_error(*op_->name + " missing required argument: '" + py_str((*op_->attrs)[i].name) + "'");
      }
    }
  }

  void bind_keyword(PyObject* name, PyObject* value) {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (PyUnicode_Compare((*op_->inputs)[i].name, name) == 0) {
        if (values_[i]) type_error(*op_->name + " got multiple values for argument '" + py_str(name) + "'");
        values_[i] = value;
        return;
      }
    }
    for (size_t i = 0; i < op_->attrs->size(); ++i) {
      const AttrSpec& spec = (*op_->attrs)[i];
      if (PyUnicode_Compare(spec.name, name) == 0) {
        if (attr_objects_[i]) type_error(*op_->name + " got multiple values for argument '" + py_str(name) + "'");
        attr_objects_[i] = value == Py_None && !spec.required && spec.object != Py_None ? nullptr : value;
        return;
      }
    }
    if (PyUnicode_CompareWithASCIIString(name, "name") == 0) return;
    type_error(*op_->name + " got an unexpected keyword argument '" + py_str(name) + "'");
  }

  void look(PyObject* v, bool list) {
    if (is_tensor(v)) return;
    if (PyObject_TypeCheck(v, TensorBaseType)) { symbolic_ = true; return; }
    if (!list || !(PyList_Check(v) || PyTuple_Check(v))) return;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(v); ++i) {
      PyObject* e = PySequence_Fast_GET_ITEM(v, i);
      if (!is_tensor(e) && PyObject_TypeCheck(e, TensorBaseType)) symbolic_ = true;
    }
  }

  void see_dtype(const Arg& arg, PyObject* v) {
    if (arg.type_var < 0 || types_[arg.type_var] != DType::kInvalid) return;
    types_[arg.type_var] = declared_dtype(v);
  }

  void convert() {
    const auto& specs = *op_->inputs;
    // Tensors decide the type variables; Python and NumPy values follow.
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].list) {
        if (!PyList_Check(values_[i]) && !PyTuple_Check(values_[i])) {
          type_error("Expected list for '" + py_str(specs[i].name) + "' argument to '" + *op_->name + "' Op, not " + py_repr(values_[i]) + ".");
        }
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(values_[i]); ++k) see_dtype(specs[i], PySequence_Fast_GET_ITEM(values_[i], k));
      } else {
        see_dtype(specs[i], values_[i]);
      }
    }
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!specs[i].list) { convert_one(specs[i], values_[i]); continue; }
      int n = 0;
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(values_[i]); ++k, ++n) {
        PyObject* element = Py_NewRef(PySequence_Fast_GET_ITEM(values_[i], k));  // conversion may run code that drops it
        try {
          convert_one(specs[i], element);
        } catch (...) {
          Py_DECREF(element);
          throw;
        }
        Py_DECREF(element);
      }
      list_sizes_.push_back(n);
      if (n == 0 && specs[i].type_var >= 0 && types_[specs[i].type_var] == DType::kInvalid && specs.size() == 1) {
        throw invalid("List argument '", py_str(specs[i].name), "' to '", *op_->name, "' Op with length 0 shorter than minimum length 1.");
      }
    }
  }

  void convert_one(const Arg& arg, PyObject* v) {
    if (arg.type_var < 0) {
      if (arg.fixed == DType::kResource && is_variable(v)) {
        Tensor* h = handle_of(reinterpret_cast<Variable*>(v));
        if (thread_state.n_tapes) read_handle(reinterpret_cast<Variable*>(v));
        Py_INCREF(h);
        in_.push_back(h);
        return;
      }
      if (is_tensor(v) && reinterpret_cast<Tensor*>(v)->dtype != arg.fixed) wrong_dtype(arg.fixed, reinterpret_cast<Tensor*>(v)->dtype);
      in_.push_back(to_tensor(v, arg.fixed));
      return;
    }
    const TypeVar& var = (*op_->type_vars)[static_cast<size_t>(arg.type_var)];
    DType& resolved = types_[arg.type_var];
    if (resolved == DType::kInvalid) {
      Tensor* t = empty_list(v) ? to_tensor(v, var.fallback) : to_tensor(v, DType::kInvalid);
      // An int where only other ints or floats are allowed stays an error, as in TensorFlow.
      in_.push_back(t);
      resolved = t->dtype;
    } else if (is_tensor(v)) {
      auto* t = reinterpret_cast<Tensor*>(v);
      if (t->dtype != resolved) wrong_dtype(resolved, t->dtype);
      Py_INCREF(v);
      in_.push_back(t);
      return_checked(var, resolved);
      return;
    } else {
      const DType declared = declared_dtype(v);
      if (declared != DType::kInvalid && declared != resolved) wrong_dtype(resolved, declared);
      in_.push_back(to_tensor(v, resolved));
    }
    return_checked(var, resolved);
  }

  static bool empty_list(PyObject* v) {
    return (PyList_Check(v) || PyTuple_Check(v)) && PySequence_Fast_GET_SIZE(v) == 0;
  }

  void return_checked(const TypeVar& var, DType d) {
    if (var.allowed & bit(d)) return;
    throw invalid("Value for attr '", var.name, "' of ", dtype_short_name(d), " is not in the list of allowed values: ",
                  allowed_names(var.allowed));
  }

  [[noreturn]] void wrong_dtype(DType want, DType have) {
    throw invalid("cannot compute ", *op_->name, " as input #", in_.size(), "(zero-based) was expected to be a ",
                  dtype_short_name(want), " tensor but is a ", dtype_short_name(have), " tensor");
  }

  void parse_attrs() {
    const auto& specs = *op_->attrs;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (attr_objects_[i]) parse_attr(attr_objects_[i], op_, specs[i], &attrs_[i], &arena_);
      else attrs_[i] = op_->defaults[i];
    }
  }

  void count_outputs() {
    int64_t n = 0;
    for (const Arg& o : *op_->outputs) {
      const int64_t k = !o.list ? 1 : o.count_attr >= 0 ? attrs_[o.count_attr].i : list_sizes_.empty() ? 0 : list_sizes_[0];
      if (k < 0 || k > 1'000'000) throw invalid("Value for attr '", py_str((*op_->attrs)[static_cast<size_t>(o.count_attr)].name), "' of ", k, " must be at least minimum 0");
      n += k;
      out_sizes_.push_back(static_cast<int>(k));
    }
    out_.assign(static_cast<size_t>(n), nullptr);
  }

  Kernel kernel() const {
    const DType key = op_->key_var >= 0 ? types_[op_->key_var] : op_->key_attr >= 0 ? attrs_[op_->key_attr].type() : DType::kInvalid;
    return op_->native[static_cast<int>(key)];
  }

  bool host_memory() const {
    return std::all_of(in_.begin(), in_.end(), [](Tensor* t) { return t->data || t->dtype == DType::kResource; });
  }

  DType output_dtype(const Arg& o) const {
    return o.type_var >= 0 ? types_[o.type_var] : o.type_attr >= 0 ? attrs_[o.type_attr].type() : o.fixed;
  }

  // New reference: what the Python kernel sees of input i.
  PyObject* array(Tensor* t) {
    if (t->dtype == DType::kResource && t->payload == nullptr) return Py_NewRef(reinterpret_cast<PyObject*>(t));
    if (t->dtype == DType::kResource) {
      Variable* v = nullptr;
      try { v = variable_of(t); } catch (const Error&) { return to_array(t, false); }
      return Py_NewRef(reinterpret_cast<PyObject*>(v));
    }
    return to_array(t, false);
  }

  PyObject* attr_value(size_t i) {
    if ((*op_->attrs)[i].kind == AttrKind::kType) return dtype_object(attrs_[i].type());
    return attr_objects_[i] ? attr_objects_[i] : (*op_->attrs)[i].object;
  }

  void run_python() {
    if (!op_->kernel) throw unimplemented(*op_->name, " has no kernel for these inputs");
    std::vector<PyObject*> args{numpy_module};
    struct Release {
      std::vector<PyObject*>& a;
      size_t n = 0;
      PyObject* names = nullptr;
      ~Release() { for (size_t i = 1; i < 1 + n; ++i) Py_DECREF(a[i]); Py_XDECREF(names); }
    } release{args};
    size_t at = 0, list = 0;
    for (const Arg& spec : *op_->inputs) {
      if (!spec.list) {
        args.push_back(array(in_[at++]));
        ++release.n;
        continue;
      }
      const int n = list_sizes_[list++];
      PyObject* l = PyList_New(n);
      if (!l) throw PythonError();
      args.push_back(l);
      ++release.n;
      for (int k = 0; k < n; ++k) PyList_SET_ITEM(l, k, array(in_[at++]));
    }
    const size_t n_attrs = op_->attrs->size();
    release.names = PyTuple_New(static_cast<Py_ssize_t>(n_attrs));
    for (size_t i = 0; i < n_attrs; ++i) {
      PyTuple_SET_ITEM(release.names, i, Py_NewRef((*op_->attrs)[i].name));
      args.push_back(attr_value(i));
    }
    PyObject* quiet = PyObject_Vectorcall(errstate_type, &ignore, 0, errstate_kwnames);
    PyObject* entered = quiet ? PyObject_CallMethod(quiet, "__enter__", nullptr) : nullptr;
    if (!entered && quiet) { Py_DECREF(quiet); throw PythonError(); }
    if (!quiet) throw PythonError();
    Py_DECREF(entered);
    PyObject* r = PyObject_Vectorcall(op_->kernel, args.data(), args.size() - n_attrs, n_attrs ? release.names : nullptr);
    bool taken = false;
    if (r) {  // NumPy's casts of the results are as quiet as its arithmetic
      try {
        take_results(r);
        taken = true;
      } catch (const PythonError&) {
      } catch (const Error& e) {
        set_python_error(e, op_);
      }
      Py_DECREF(r);
    }
    if (!taken) rename_error();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject* left = PyObject_CallMethod(quiet, "__exit__", "OOO", Py_None, Py_None, Py_None);
    Py_XDECREF(left);
    Py_DECREF(quiet);
    PyErr_Restore(type, value, trace);
    if (!taken) throw PythonError();
  }

  // Errors of NumPy and of the kernel become tf.errors.*, naming the op.
  void rename_error() {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return;  // KeyboardInterrupt and the like
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject* code = PyObject_GetAttrString(value, "error_code");
    PyErr_Clear();
    int number = -1;
    std::string text;
    if (code && PyLong_Check(code)) {
      number = static_cast<int>(PyLong_AsLong(code));
      PyObject* m = PyObject_GetAttrString(value, "message");
      text = m ? py_str(m) : py_str(value);
      Py_XDECREF(m);
      PyErr_Clear();
      if (text.find("[Op:") != std::string::npos) number = -1;
    } else if (PyErr_GivenExceptionMatches(value, PyExc_ValueError) || PyErr_GivenExceptionMatches(value, PyExc_LookupError) ||
               PyErr_GivenExceptionMatches(value, PyExc_ArithmeticError)) {
      number = static_cast<int>(Code::kInvalidArgument);
      text = py_str(value);
    } else if (PyErr_GivenExceptionMatches(value, PyExc_MemoryError)) {
      number = static_cast<int>(Code::kResourceExhausted);
      text = py_str(value);
    }
    Py_XDECREF(code);
    if (number < 0) { PyErr_Restore(type, value, trace); return; }
    set_python_error(Error(static_cast<Code>(number), text), op_);
    if (code == nullptr || !PyLong_Check(code)) {
      PyObject *t2, *v2, *tb2;
      PyErr_Fetch(&t2, &v2, &tb2);
      PyErr_NormalizeException(&t2, &v2, &tb2);
      if (trace) PyException_SetTraceback(value, trace);
      PyException_SetCause(v2, Py_NewRef(value));
      PyErr_Restore(t2, v2, tb2);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }

  void take_results(PyObject* r) {
    const auto& specs = *op_->outputs;
    if (specs.empty()) return;
    if (specs.size() == 1) { take_one(specs[0], r, 0, 0); return; }
    PyObject* fast = PySequence_Fast(r, "a kernel of several outputs returns a tuple");
    if (!fast) throw PythonError();
    if (PySequence_Fast_GET_SIZE(fast) != static_cast<Py_ssize_t>(specs.size())) {
      Py_DECREF(fast);
      throw Error(Code::kInternal, text("the kernel returned ", PySequence_Size(r), " results for ", specs.size(), " outputs"));
    }
    try {
      size_t at = 0;
      for (size_t i = 0; i < specs.size(); ++i) {
        take_one(specs[i], PySequence_Fast_GET_ITEM(fast, i), i, at);
        at += static_cast<size_t>(out_sizes_[i]);
      }
    } catch (...) { Py_DECREF(fast); throw; }
    Py_DECREF(fast);
  }

  void take_one(const Arg& spec, PyObject* r, size_t i, size_t at) {
    const DType d = output_dtype(spec);
    if (!spec.list) { out_[at] = from_array(r, d); return; }
    PyObject* fast = PySequence_Fast(r, "a list output is a list");
    if (!fast) throw PythonError();
    try {
      if (PySequence_Fast_GET_SIZE(fast) != out_sizes_[i]) {
        throw Error(Code::kInternal, text("the kernel returned ", PySequence_Fast_GET_SIZE(fast), " elements for an output list of ", out_sizes_[i]));
      }
      for (int k = 0; k < out_sizes_[i]; ++k) out_[at + static_cast<size_t>(k)] = from_array(PySequence_Fast_GET_ITEM(fast, k), d);
    } catch (...) { Py_DECREF(fast); throw; }
    Py_DECREF(fast);
  }

  PyObject* result() {
    const auto& specs = *op_->outputs;
    if (specs.empty()) Py_RETURN_NONE;
    if (specs.size() == 1 && !specs[0].list) return take(0);
    if (specs.size() == 1) return take_list(0, out_sizes_[0]);
    PyObject* items = PyTuple_New(static_cast<Py_ssize_t>(specs.size()));
    if (!items) throw PythonError();
    size_t at = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      PyTuple_SET_ITEM(items, i, specs[i].list ? take_list(at, out_sizes_[i]) : take(at));
      at += static_cast<size_t>(out_sizes_[i]);
    }
    if (!op_->result_type) return items;
    PyObject* args = PyTuple_Pack(1, items);
    Py_DECREF(items);
    PyObject* named = args ? PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(op_->result_type), args, nullptr) : nullptr;
    Py_XDECREF(args);
    if (!named) throw PythonError();
    return named;
  }

  PyObject* take(size_t i) {
    Tensor* t = out_[i];
    out_[i] = nullptr;
    return reinterpret_cast<PyObject*>(t);
  }

  PyObject* take_list(size_t at, int n) {
    PyObject* l = PyList_New(n);
    if (!l) throw PythonError();
    for (int k = 0; k < n; ++k) PyList_SET_ITEM(l, k, take(at + static_cast<size_t>(k)));
    return l;
  }

  PyObject* attrs_dict() {
    PyObject* d = PyDict_New();
    for (size_t i = 0; d && i < op_->attrs->size(); ++i) {
      PyObject* v = attr_objects_[i] ? attr_objects_[i] : (*op_->attrs)[i].object;
      if (v && PyDict_SetItem(d, (*op_->attrs)[i].name, v) < 0) Py_CLEAR(d);
    }
    if (!d) throw PythonError();
    return d;
  }

  PyObject* build_graph() {
    if (!hooks.build_graph) {
      PyErr_Format(PyExc_RuntimeError,
                   "%s was called in graph mode, but building graphs is not part of this version: "
                   "run eagerly (tf.enable_eager_execution() at the start of the program).", op_->name->c_str());
      throw PythonError();
    }
    PyObject* inputs = PyTuple_New(static_cast<Py_ssize_t>(values_.size()));
    for (size_t i = 0; inputs && i < values_.size(); ++i) PyTuple_SET_ITEM(inputs, i, Py_NewRef(values_[i]));
    PyObject* attrs = attrs_dict();
    PyObject* r = PyObject_CallFunctionObjArgs(hooks.build_graph, reinterpret_cast<PyObject*>(op_), inputs, attrs, nullptr);
    Py_XDECREF(inputs);
    Py_DECREF(attrs);
    if (!r) throw PythonError();
    return r;
  }

  PyObject* device_call() {
    PyObject* inputs = PyTuple_New(static_cast<Py_ssize_t>(in_.size()));
    for (size_t i = 0; inputs && i < in_.size(); ++i) PyTuple_SET_ITEM(inputs, i, Py_NewRef(reinterpret_cast<PyObject*>(in_[i])));
    PyObject* attrs = attrs_dict();
    PyObject* device = PyLong_FromLong(thread_state.device);
    PyObject* r = PyObject_CallFunctionObjArgs(hooks.device_call, reinterpret_cast<PyObject*>(op_), inputs, attrs, device, nullptr);
    Py_XDECREF(inputs);
    Py_DECREF(attrs);
    Py_XDECREF(device);
    if (!r) throw PythonError();
    return r;
  }

  OpDef* op_;
  std::vector<PyObject*> values_;            // borrowed, one an input
  PyObject* attr_objects_[kMaxAttrs] = {};   // borrowed; null: default
  bool symbolic_ = false;
  bool weak_ = false;
  PyObject* promoted_ = nullptr;             // owns values_ that promotion made
  DType types_[8] = {};
  std::vector<Tensor*> in_, out_;            // owned
  std::vector<int> list_sizes_, out_sizes_;
  Attr attrs_[kMaxAttrs];
  Arena arena_;
};

template <typename F>
PyObject* guarded(const OpDef* op, F&& f) {
  try {
    return f();
  } catch (const PythonError&) {
  } catch (const Error& e) {
    set_python_error(e, op);
  } catch (const std::bad_alloc&) {
    set_python_error(Error(Code::kResourceExhausted, "out of memory"), op);
  } catch (const std::exception& e) {
    set_python_error(Error(Code::kInternal, e.what()), op);
  }
  return nullptr;
}

constexpr size_t kFastInputs = 6;

// Ready tensors for a plain op, at most some attrs behind them: no conversion, no lists, no allocation but the
// output's. Null without an exception: not such a call.
PyObject* fast_call(OpDef* op, PyObject* const* args, size_t nargs) {
  const auto& specs = *op->inputs;
  const size_t n = specs.size();
  if (!op->simple || n == 0 || n > kFastInputs || nargs < n || thread_state.graph_scope > 0 || thread_state.device != 0) return nullptr;
  DType types[8] = {};
  for (size_t i = 0; i < n; ++i) {
    if (!is_tensor(args[i])) return nullptr;
    auto* t = reinterpret_cast<Tensor*>(args[i]);
    if (!t->data || (t->dict && promotion.ops)) return nullptr;  // a weak one is marked in its dict
    const Arg& a = specs[i];
    if (a.type_var < 0) {
      if (t->dtype != a.fixed) return nullptr;
    } else if (types[a.type_var] == DType::kInvalid) {
      if (!((*op->type_vars)[static_cast<size_t>(a.type_var)].allowed & bit(t->dtype))) return nullptr;
      types[a.type_var] = t->dtype;
    } else if (types[a.type_var] != t->dtype) {
      return nullptr;
    }
  }
  const size_t n_attrs = op->attrs->size(), given = nargs - n;
  if (given > n_attrs) return nullptr;
  Attr attrs[kMaxAttrs];
  const Attr* use = op->defaults;
  PyObject* attr_objects[kMaxAttrs] = {};
  Arena arena;
  if (given > 0) {
    for (size_t i = 0; i < n_attrs; ++i) {
      const AttrSpec& spec = (*op->attrs)[i];
      if (i < given && args[n + i] != Py_None) {
        attr_objects[i] = args[n + i];
        parse_attr(args[n + i], op, spec, &attrs[i], &arena);
      } else {
        if (spec.required) return nullptr;
        attrs[i] = op->defaults[i];
      }
    }
    use = attrs;
  } else {
    for (size_t i = 0; i < n_attrs; ++i) if ((*op->attrs)[i].required) return nullptr;
  }
  const DType key = op->key_var >= 0 ? types[op->key_var] : op->key_attr >= 0 ? use[op->key_attr].type() : DType::kInvalid;
  Kernel k = op->native[static_cast<int>(key)];
  if (!k) return nullptr;
  Tensor* out = nullptr;
  auto* const* in = reinterpret_cast<Tensor* const*>(args);
  KernelCall c{op, static_cast<int>(n), in, use, 1, &out};
  try {
    if (!k(c)) return nullptr;
    if (thread_state.n_tapes > 0) {
      CallRecord r{op, in, static_cast<int>(n), &out, 1, attr_objects, nullptr};
      record(r);
    }
  } catch (...) {
    Py_XDECREF(out);
    throw;
  }
  return reinterpret_cast<PyObject*>(out);
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return call_op(reinterpret_cast<OpDef*>(self), args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), kwnames);
}

// -- the type --------------------------------------------------------------------------------------

PyObject* intern(PyObject* s) {
  Py_INCREF(s);
  PyUnicode_InternInPlace(&s);
  return s;
}

bool parse_args(PyObject* list, std::vector<Arg>* out, bool outputs) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* name;
    int var, attr = -1, fixed, is_list, count = -1;
    PyObject* t = PyList_GET_ITEM(list, i);
    if (outputs ? !PyArg_ParseTuple(t, "Uiiipi", &name, &var, &attr, &fixed, &is_list, &count)
                : !PyArg_ParseTuple(t, "Uiip", &name, &var, &fixed, &is_list)) return false;
    out->push_back(Arg{intern(name), var, attr, static_cast<DType>(fixed), is_list != 0, count});
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
      try {
        parse_attr(def, op, s, &s.value, &arena);
      } catch (const PythonError&) {
        return false;
      } catch (const Error& e) {
        set_python_error(e, op);
        return false;
      }
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
  int broadcasts = 0;
  if (!PyArg_ParseTuple(args, "sO!O!O!O!|p", &name, &PyList_Type, &vars, &PyList_Type, &inputs, &PyList_Type, &outputs,
                        &PyList_Type, &attrs, &broadcasts)) return nullptr;
  auto* op = reinterpret_cast<OpDef*>(type->tp_alloc(type, 0));
  if (!op) return nullptr;
  op->vectorcall = vectorcall;
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
    int fallback;
    ok = PyArg_ParseTuple(PyList_GET_ITEM(vars, i), "sKi", &n, &mask, &fallback);
    if (ok) op->type_vars->push_back(TypeVar{n, mask, static_cast<DType>(fallback)});
  }
  ok = ok && parse_args(inputs, op->inputs, false) && parse_args(outputs, op->outputs, true) && parse_attr_specs(op, attrs);
  if (!ok) {
    Py_DECREF(op);
    return nullptr;
  }
  op->key_var = op->key_attr = -1;
  for (const Arg& a : *op->inputs) {
    op->has_list = op->has_list || a.list;
    if (op->key_var < 0 && a.type_var >= 0) op->key_var = a.type_var;
  }
  for (size_t i = 0; i < op->attrs->size() && op->key_attr < 0; ++i) {
    if ((*op->attrs)[i].kind == AttrKind::kType) op->key_attr = static_cast<int>(i);
  }
  op->simple = !op->has_list && op->outputs->size() == 1 && !(*op->outputs)[0].list;
  auto found = kernels().find(*op->name);
  if (found != kernels().end()) std::memcpy(op->native, found->second, sizeof(op->native));
  return reinterpret_cast<PyObject*>(op);
}

int op_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* op = reinterpret_cast<OpDef*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(op->kernel);
  Py_VISIT(op->gradient);
  Py_VISIT(op->result_type);
  Py_VISIT(op->dict);
  return 0;
}

int op_clear(PyObject* self) {
  auto* op = reinterpret_cast<OpDef*>(self);
  Py_CLEAR(op->kernel);
  Py_CLEAR(op->gradient);
  Py_CLEAR(op->result_type);
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

template <PyObject* OpDef::*Field>
PyObject* get_field(PyObject* self, void*) {
  PyObject* o = reinterpret_cast<OpDef*>(self)->*Field;
  return Py_NewRef(o ? o : Py_None);
}
template <PyObject* OpDef::*Field>
int set_field(PyObject* self, PyObject* value, void*) {
  Py_XINCREF(value);
  Py_XSETREF(reinterpret_cast<OpDef*>(self)->*Field, value == Py_None ? nullptr : value);
  return 0;
}

PyObject* set_gradient(PyObject* self, PyObject* args) {
  auto* op = reinterpret_cast<OpDef*>(self);
  PyObject* fn;
  unsigned long long in = ~0ULL, out = ~0ULL;
  int none_grads = 0;
  if (!PyArg_ParseTuple(args, "O|KKp", &fn, &in, &out, &none_grads)) return nullptr;
  Py_XSETREF(op->gradient, Py_NewRef(fn));
  op->needs_in = in;
  op->needs_out = out;
  op->none_grads = none_grads != 0;
  Py_RETURN_NONE;
}

PyObject* native_dtypes(PyObject* self, PyObject*) {
  auto* op = reinterpret_cast<OpDef*>(self);
  PyObject* l = PyList_New(0);
  for (int i = 0; l && i < kDTypeCount; ++i) {
    if (!op->native[i]) continue;
    PyObject* n = PyLong_FromLong(i);
    PyList_Append(l, n);
    Py_XDECREF(n);
  }
  return l;
}

PyObject* call_python(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  auto* op = reinterpret_cast<OpDef*>(self);
  return guarded(op, [&] { return Call(op).run(args, static_cast<size_t>(nargs), kwnames, true); });
}

PyMethodDef op_methods[] = {
    {"_set_gradient", set_gradient, METH_VARARGS, nullptr},
    {"native_dtypes", native_dtypes, METH_NOARGS, "Numbers of the dtypes that have a native kernel."},
    {"call_python", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_python)), METH_FASTCALL | METH_KEYWORDS,
     "Runs the Python kernel, also where a native one exists."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef op_getset[] = {
    {"name", op_name, nullptr, nullptr, nullptr},
    {"_kernel", get_field<&OpDef::kernel>, set_field<&OpDef::kernel>, nullptr, nullptr},
    {"_gradient", get_field<&OpDef::gradient>, nullptr, nullptr, nullptr},
    {"result_type", get_field<&OpDef::result_type>, set_field<&OpDef::result_type>, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef op_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpDef, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OpDef, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot op_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(op_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(op_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(op_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(op_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_methods, op_methods},
    {Py_tp_getset, op_getset},
    {Py_tp_members, op_members},
    {Py_tp_doc, const_cast<char*>("A row of the op table.")},
    {0, nullptr}};
PyType_Spec op_spec = {"tapeflow._native.Op", sizeof(OpDef), 0,
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, op_slots};

// -- module functions ------------------------------------------------------------------------------

PyObject* set_hook(PyObject*, PyObject* args) {
  const char* name;
  PyObject* f;
  if (!PyArg_ParseTuple(args, "sO", &name, &f)) return nullptr;
  const std::pair<const char*, PyObject**> all[] = {
      {"error_from_code", &hooks.error_from_code}, {"build_graph", &hooks.build_graph}, {"device_call", &hooks.device_call},
      {"convert", &hooks.convert}, {"sum_to", &hooks.sum_to}, {"accumulate", &hooks.accumulate},
      {"tensor_shape", &hooks.tensor_shape}, {"to_str", &hooks.to_str}, {"to_repr", &hooks.to_repr},
      {"to_format", &hooks.to_format}, {"getitem", &hooks.getitem}, {"setup", &hooks.setup}};
  for (const auto& [n, at] : all) {
    if (std::strcmp(n, name) == 0) {
      Py_XSETREF(*at, Py_NewRef(f));
      Py_RETURN_NONE;
    }
  }
  return PyErr_Format(PyExc_ValueError, "no such hook: %s", name);
}

PyObject* py_convert(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n < 1 || n > 2) return PyErr_Format(PyExc_TypeError, "convert(value, dtype=None)");
  return guarded(nullptr, [&] {
    const DType want = n == 2 && args[1] != Py_None ? parse_dtype(args[1]) : DType::kInvalid;
    return reinterpret_cast<PyObject*>(to_tensor(args[0], want));
  });
}

PyObject* tensor_of(PyObject*, PyObject* args) {
  PyObject *array, *dtype;
  if (!PyArg_ParseTuple(args, "OO", &array, &dtype)) return nullptr;
  return guarded(nullptr, [&] { return reinterpret_cast<PyObject*>(from_array(array, parse_dtype(dtype))); });
}

PyObject* set_promotion(PyObject*, PyObject* args) {
  PyObject *operators, *ops;
  if (!PyArg_ParseTuple(args, "OO", &operators, &ops)) return nullptr;
  Py_XSETREF(promotion.operators, operators == Py_None ? nullptr : Py_NewRef(operators));
  Py_XSETREF(promotion.ops, ops == Py_None ? nullptr : Py_NewRef(ops));
  Py_RETURN_NONE;
}

PyObject* set_int(int* at, PyObject* v) {
  const long n = PyLong_AsLong(v);
  if (n == -1 && PyErr_Occurred()) return nullptr;
  *at = static_cast<int>(n);
  Py_RETURN_NONE;
}
PyObject* set_graph_scope(PyObject*, PyObject* v) { return set_int(&thread_state.graph_scope, v); }
PyObject* set_device_scope(PyObject*, PyObject* v) { return set_int(&thread_state.device, v); }
PyObject* set_threads(PyObject*, PyObject* v) {
  int n;
  PyObject* r = set_int(&n, v);
  if (r) set_intra_op_threads(n);
  return r;
}
PyObject* get_threads(PyObject*, PyObject*) { return PyLong_FromLong(intra_op_threads()); }
PyObject* py_stats(PyObject*, PyObject*) {
  const AllocatorStats s = allocator_stats();
  return Py_BuildValue("{s:L,s:L,s:L,s:L}", "live", s.live, "peak", s.peak, "cached", s.cached, "limit", s.limit);
}
PyObject* reset_peak(PyObject*, PyObject*) { allocator_reset_peak(); Py_RETURN_NONE; }
PyObject* trim(PyObject*, PyObject*) { allocator_trim(); Py_RETURN_NONE; }

PyMethodDef module_methods[] = {
    {"set_hook", set_hook, METH_VARARGS, nullptr},
    {"convert", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_convert)), METH_FASTCALL, nullptr},
    {"tensor_of", tensor_of, METH_VARARGS, nullptr},
    {"set_graph_scope", set_graph_scope, METH_O, nullptr},
    {"set_device_scope", set_device_scope, METH_O, nullptr},
    {"set_promotion", set_promotion, METH_VARARGS, "set_promotion(operators, ops): callables or None"},
    {"set_threads", set_threads, METH_O, nullptr},
    {"get_threads", get_threads, METH_NOARGS, nullptr},
    {"allocator_stats", py_stats, METH_NOARGS, nullptr},
    {"allocator_reset_peak", reset_peak, METH_NOARGS, nullptr},
    {"allocator_trim", trim, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

const char* Attr::str() const {
  if (object && PyUnicode_Check(object)) {
    const char* s = PyUnicode_AsUTF8(object);
    if (s) return s;
    PyErr_Clear();
  } else if (object && PyBytes_Check(object)) {
    return PyBytes_AS_STRING(object);
  }
  throw invalid("expected a string attr");
}

void register_kernel(const char* op, std::initializer_list<DType> dtypes, Kernel kernel) {
  for (DType d : dtypes) kernels()[op][static_cast<int>(d)] = kernel;
}

PyObject* call_op(OpDef* op, PyObject* const* args, size_t nargs, PyObject* kwnames) {
  return guarded(op, [&] {
    if (!kwnames) {
      if (PyObject* r = fast_call(op, args, nargs)) return r;
    }
    return Call(op).run(args, nargs, kwnames, false);
  });
}

PyObject* mark_weak(PyObject* result) {
  if (result && is_tensor(result) && PyObject_SetAttrString(result, "_weak", Py_True) < 0) Py_CLEAR(result);
  return result;
}

PyObject* call_binary(OpDef* op, PyObject* x, PyObject* y) {
  PyObject* args[] = {x, y};
  return call_op(op, args, 2, nullptr);
}

void set_python_error(const Error& e, const OpDef* op) {
  std::string message = e.message;
  if (op) message += " [Op:" + *op->name + "]";
  if (!hooks.error_from_code) {
    PyErr_SetString(PyExc_RuntimeError, message.c_str());
    return;
  }
  PyObject* error = PyObject_CallFunction(hooks.error_from_code, "is#", static_cast<int>(e.code), message.data(),
                                          static_cast<Py_ssize_t>(message.size()));
  if (!error) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  Py_DECREF(error);
}

bool init_op(PyObject* module) {
  OpType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&op_spec));
  if (!OpType || PyModule_AddObjectRef(module, "Op", reinterpret_cast<PyObject*>(OpType)) < 0) return false;
  numpy_module = PyImport_ImportModule("numpy");
  if (!numpy_module) return false;
  errstate_type = PyObject_GetAttrString(numpy_module, "errstate");
  errstate_kwnames = Py_BuildValue("(s)", "all");
  ignore = PyUnicode_InternFromString("ignore");
  if (!errstate_type || !errstate_kwnames || !ignore) return false;
  return PyModule_AddFunctions(module, module_methods) == 0;
}

}  // namespace tapeflow
