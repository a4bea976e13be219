#define PY_SSIZE_T_CLEAN  // lengths in call formats are Py_ssize_t
#include "op.h"

#include <algorithm>
#include <vector>

#include "attrs.h"
#include "convert.h"
#include "guard.h"
#include "python_kernel.h"
#include "ref.h"
#include "stack.h"
#include "tape.h"
#include "tensor_list.h"
#include "variable.h"

namespace tapeflow {

namespace {

bool is_list(PyObject* v) { return PyList_Check(v) || PyTuple_Check(v); }

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
    check_stack(op_->name->c_str());  // a fast call runs no Python code, and so nothing that calls it again
    bind(args, nargs, kwnames);
    if (thread_state.graph_scope > 0 || symbolic_) return build_graph();
    if (promotion.ops) promote();
    convert();
    parse_attrs();
    count_outputs();
    if (hooks.device_call && off_host()) return device_call();
    Kernel k = python ? nullptr : kernel();
    bool done = false;
    if (k && host_memory()) {
      KernelCall c{op_, static_cast<int>(in_.size()), in_.data(), attrs_, static_cast<int>(out_.size()), out_.data()};
      done = k(c);
    }
    if (!done) {
      run_python_kernel({op_, in_.data(), list_sizes_.data(), attrs_, attr_objects_, types_, out_sizes_.data(), out_.data()});
    }
    return recorded_result();
  }

 private:
  PyObject* recorded_result() {
    if (thread_state.n_tapes > 0) {
      CallRecord r{op_, in_.data(), static_cast<int>(in_.size()), out_.data(), static_cast<int>(out_.size()),
                   attr_objects_, list_sizes_.empty() ? nullptr : list_sizes_.data()};
      record(r);
    }
    return weak_ ? mark_weak(result()) : result();
  }

  // Whether an accelerator is asked for, or holds an input or the variable of a handle.
  bool off_host() const {
    if (thread_state.device != 0) return thread_state.device > 0;
    for (const Tensor* t : in_) {
      if (t->device != 0) return true;
      if (t->dtype != DType::kResource) continue;
      const OwnedVariable v = variable_behind(t);
      const OwnedTensor value = v ? snapshot(v.get()) : OwnedTensor();
      if (value && value->device != 0) return true;
    }
    return false;
  }

  // Inputs of several dtypes become of one, where the program has switched that on.
  void promote() {
    promoted_ = PyObject_CallFunction(promotion.ops, "sN", op_->name->c_str(), tuple_of(values_).release());
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
      if (attr_objects_[i]) truncate(i);
    }
  }

  // Numbers of NumPy and tensors become plain integers; those with a fraction lose it, as in TensorFlow.
  void truncate(size_t i) {
    const AttrKind kind = (*op_->attrs)[i].kind;
    if (is_whole(attr_objects_[i], kind)) return;
    Ref whole = kind == AttrKind::kInt ? truncated(attr_objects_[i]) : truncated_list(attr_objects_[i]);
    if (!whole.get()) return;
    attr_objects_[i] = whole.get();
    truncated_.push_back(std::move(whole));
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
    const Critical alone(v);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(v); ++i) {
      PyObject* e = PySequence_Fast_GET_ITEM(v, i);
      if (!is_tensor(e) && PyObject_TypeCheck(e, TensorBaseType)) symbolic_ = true;
    }
  }

  void see_dtype(const Arg& arg, PyObject* v) {
    if (arg.type_var < 0 || types_[arg.type_var] != DType::kInvalid) return;
    types_[arg.type_var] = declared_dtype(v);
  }

  // An element of a list of n. What conversion runs may change the list.
  Ref element(const Arg& arg, PyObject* list, Py_ssize_t n, Py_ssize_t k) {
    if (PySequence_Fast_GET_SIZE(list) != n) {
      PyErr_Format(PyExc_ValueError, "The list '%U' of %s changed its size while its elements were converted.",
                   arg.name, op_->name->c_str());
      throw PythonError();
    }
    return Ref(element_of(list, k));
  }

  void convert() {
    const auto& specs = *op_->inputs;
    // Tensors decide the type variables; Python and NumPy values follow.
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].list) {
        if (!PyList_Check(values_[i]) && !PyTuple_Check(values_[i])) {
          type_error("Expected list for '" + py_str(specs[i].name) + "' argument to '" + *op_->name + "' Op, not " + py_repr(values_[i]) + ".");
        }
        const Py_ssize_t n = PySequence_Fast_GET_SIZE(values_[i]);
        if (n < specs[i].least) {
          throw invalid("List argument '", py_str(specs[i].name), "' to '", *op_->name, "' Op with length ", n,
                        " shorter than minimum length ", int{specs[i].least}, ".");
        }
        list_sizes_.push_back(static_cast<int>(n));
        for (Py_ssize_t k = 0; k < n; ++k) see_dtype(specs[i], element(specs[i], values_[i], n, k).get());
      } else {
        see_dtype(specs[i], values_[i]);
      }
    }
    size_t list = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!specs[i].list) { convert_one(specs[i], values_[i]); continue; }
      const Py_ssize_t n = list_sizes_[list++];
      for (Py_ssize_t k = 0; k < n; ++k) convert_one(specs[i], element(specs[i], values_[i], n, k).get());
    }
  }

  void push_handle(Variable* v) {
    if (v->dtype == DType::kInvalid) {  // it wraps another variable, whose handle it shows
      const Ref handle(PyObject_GetAttrString(reinterpret_cast<PyObject*>(v), "handle"));
      OwnedVariable wrapped;
      if (is_tensor(handle.get())) wrapped = variable_behind(reinterpret_cast<Tensor*>(handle.get()));
      if (!wrapped || wrapped.get() == v) type_error("The variable " + py_repr(reinterpret_cast<PyObject*>(v)) + " has no handle.");
      push_handle(wrapped.get());
      return;
    }
    Tensor* h = handle_of(v);
    if (thread_state.n_tapes) read_handle(v);
    Py_INCREF(h);
    in_.push_back(h);
  }

  void convert_one(const Arg& arg, PyObject* v) {
    if (arg.type_var < 0) {
      if (arg.fixed == DType::kResource && is_variable(v)) {
        push_handle(variable_at(v));
        return;
      }
      if (is_tensor(v) && reinterpret_cast<Tensor*>(v)->dtype != arg.fixed) wrong_dtype(arg.fixed, reinterpret_cast<Tensor*>(v)->dtype);
      in_.push_back(to_tensor(v, arg.fixed));
      return;
    }
    const TypeVar& var = (*op_->type_vars)[static_cast<size_t>(arg.type_var)];
    DType& resolved = types_[arg.type_var];
    if (resolved == DType::kInvalid) {
      Tensor* t = empty_list(v)                     ? to_tensor(v, var.first)
                  : is_tensor(v) || !var.preferred ? to_tensor(v, DType::kInvalid)
                                                   : to_tensor_preferring(v, var.first, var.allowed, has_lists());
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

  static bool empty_list(PyObject* v) { return is_list(v) && PySequence_Fast_GET_SIZE(v) == 0; }
  bool has_lists() const { return std::any_of(values_.begin(), values_.end(), is_list); }

  void return_checked(const TypeVar& var, DType d) {
    if (var.allowed & bit(d)) return;
    throw invalid("Value for attr '", var.name, "' of ", dtype_short_name(d), " is not in the list of allowed values: ",
                  allowed_names(var));
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
      if (k > 1'000'000) {
        PyErr_SetString(PyExc_ValueError, text("Number of outputs is too big: ", k).c_str());
        throw PythonError();
      }
      if (k < o.least) {
        throw invalid("Value for attr '", py_str((*op_->attrs)[static_cast<size_t>(o.count_attr)].name), "' of ", k,
                      " must be at least minimum ", int{o.least});
      }
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
    return std::all_of(in_.begin(), in_.end(), [](Tensor* t) { return ready(t); });
  }

  PyObject* result() {
    const auto& specs = *op_->outputs;
    if (specs.empty()) Py_RETURN_NONE;
    if (specs.size() == 1 && !specs[0].list) return take(0);
    if (specs.size() == 1) return take_list(0, out_sizes_[0]);
    Ref items = unfinished_tuple(static_cast<Py_ssize_t>(specs.size()));
    size_t at = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      PyTuple_SET_ITEM(items.get(), i, specs[i].list ? take_list(at, out_sizes_[i]) : take(at));
      at += static_cast<size_t>(out_sizes_[i]);
    }
    const Ref all(whole(std::move(items)));
    if (!op_->result_type) return Py_NewRef(all.get());
    const Ref args(PyTuple_Pack(1, all.get()));
    const Ref type = Ref::share(op_->result_type);
    return Ref(PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(type.get()), args.get(), nullptr)).release();
  }

  PyObject* take(size_t i) {
    Tensor* t = out_[i];
    out_[i] = nullptr;
    return reinterpret_cast<PyObject*>(t);
  }

  PyObject* take_list(size_t at, int n) {
    Ref l(PyList_New(n));
    for (int k = 0; k < n; ++k) PyList_SET_ITEM(l.get(), k, take(at + static_cast<size_t>(k)));
    return l.release();
  }

  Ref attrs_dict() {
    Ref d(PyDict_New());
    for (size_t i = 0; i < op_->attrs->size(); ++i) {
      PyObject* v = attr_objects_[i] ? attr_objects_[i] : (*op_->attrs)[i].object;
      if (v && PyDict_SetItem(d.get(), (*op_->attrs)[i].name, v) < 0) throw PythonError();
    }
    return d;
  }

  template <typename T>
  static Ref tuple_of(const std::vector<T*>& items) {
    Ref t(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; i < items.size(); ++i) PyTuple_SET_ITEM(t.get(), i, Py_NewRef(reinterpret_cast<PyObject*>(items[i])));
    return t;
  }

  PyObject* build_graph() {
    if (!hooks.build_graph) {
      PyErr_Format(PyExc_RuntimeError,
                   "%s was called in graph mode, but building graphs is not part of this version: "
                   "run eagerly (tf.enable_eager_execution() at the start of the program).", op_->name->c_str());
      throw PythonError();
    }
    const Ref inputs = tuple_of(values_), attrs = attrs_dict();
    return Ref(PyObject_CallFunctionObjArgs(hooks.build_graph, op_, inputs.get(), attrs.get(), nullptr)).release();
  }

  PyObject* device_call() {
    const Ref inputs = tuple_of(in_), attrs = attrs_dict(), device(PyLong_FromLong(thread_state.device));
    const Ref sizes(PyTuple_New(static_cast<Py_ssize_t>(list_sizes_.size())));
    for (size_t i = 0; i < list_sizes_.size(); ++i) {
      PyTuple_SET_ITEM(sizes.get(), static_cast<Py_ssize_t>(i), Ref(PyLong_FromLong(list_sizes_[i])).release());
    }
    const Ref outputs(PyObject_CallFunctionObjArgs(hooks.device_call, op_, inputs.get(), attrs.get(), device.get(),
                                                   sizes.get(), nullptr));
    const Py_ssize_t n = PyTuple_CheckExact(outputs.get()) ? PyTuple_GET_SIZE(outputs.get()) : -1;
    bool whole = n == static_cast<Py_ssize_t>(out_.size());
    for (Py_ssize_t i = 0; whole && i < n; ++i) whole = is_tensor(PyTuple_GET_ITEM(outputs.get(), i));
    if (!whole) throw Error(Code::kInternal, text("a device returned ", py_repr(outputs.get()), " for ", out_.size(), " outputs"));
    for (Py_ssize_t i = 0; i < n; ++i) {
      out_[static_cast<size_t>(i)] = reinterpret_cast<Tensor*>(Py_NewRef(PyTuple_GET_ITEM(outputs.get(), i)));
    }
    return recorded_result();
  }

  OpDef* op_;
  std::vector<PyObject*> values_;            // borrowed, one an input
  PyObject* attr_objects_[kMaxAttrs] = {};   // borrowed, from the caller or from truncated_; null: default
  std::vector<Ref> truncated_;               // attrs that were given as numbers other than int
  bool symbolic_ = false;
  bool weak_ = false;
  PyObject* promoted_ = nullptr;             // owns values_ that promotion made
  DType types_[8] = {};
  std::vector<Tensor*> in_, out_;            // owned
  std::vector<int> list_sizes_, out_sizes_;
  Attr attrs_[kMaxAttrs];
  Arena arena_;
};

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
    if (!t->data && t->dtype != DType::kString && !is_tensor_list(t->payload)) return nullptr;
    if (t->dict && promotion.ops) return nullptr;  // a weak one is marked in its dict
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
        if (!is_whole(args[n + i], spec.kind)) return nullptr;
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

// The same where some inputs are variables, Python numbers or lists of them, each of which is made the tensor that
// Call::convert makes of it. Null without an exception: not such a call.
PyObject* fast_call_of_values(OpDef* op, PyObject* const* args, size_t nargs) {
  const auto& specs = *op->inputs;
  const size_t n = specs.size();
  if (!op->simple || n == 0 || n > kFastInputs || nargs < n || nargs > n + op->attrs->size()) return nullptr;
  if (thread_state.graph_scope > 0 || thread_state.device != 0 || promotion.ops) return nullptr;
  DType types[8] = {};
  bool all_tensors = true;
  for (size_t i = 0; i < n; ++i) {
    const Arg& a = specs[i];
    const DType have = dtype_at_hand(args[i]);
    all_tensors = all_tensors && is_tensor(args[i]);
    if (have == DType::kInvalid) continue;
    if (a.type_var < 0) {
      if (have != a.fixed) return nullptr;
    } else if (types[a.type_var] == DType::kInvalid) {
      types[a.type_var] = have;
    } else if (types[a.type_var] != have) {
      return nullptr;
    }
  }
  if (all_tensors) return nullptr;
  OwnedTensor made[kFastInputs];
  PyObject* ready[kFastInputs + kMaxAttrs];
  for (size_t i = 0; i < n; ++i) {  // numbers first: they are as good later, where reading a variable is seen by tapes
    const Arg& a = specs[i];
    ready[i] = args[i];
    if (dtype_at_hand(args[i]) != DType::kInvalid) continue;
    DType want = a.fixed;
    if (a.type_var >= 0) {
      const TypeVar& var = (*op->type_vars)[static_cast<size_t>(a.type_var)];
      want = types[a.type_var];
      if (want == DType::kInvalid && var.preferred && !is_list(args[i])) want = var.first;
    }
    made[i] = numbers_to_tensor(args[i], want);
    if (!made[i]) return nullptr;
    if (a.type_var >= 0) types[a.type_var] = made[i]->dtype;
    ready[i] = reinterpret_cast<PyObject*>(made[i].get());
  }
  for (size_t i = 0; i < n; ++i) {
    if (made[i] || is_tensor(args[i])) continue;
    made[i] = read_variable(variable_at(args[i]));
    ready[i] = reinterpret_cast<PyObject*>(made[i].get());
  }
  std::copy(args + n, args + nargs, ready + n);
  return fast_call(op, ready, nargs);
}

}  // namespace

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return call_op(reinterpret_cast<OpDef*>(self), args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), kwnames);
}

PyObject* op_call_python(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  auto* op = reinterpret_cast<OpDef*>(self);
  return guarded(op, [&] { return Call(op).run(args, static_cast<size_t>(nargs), kwnames, true); });
}

PyObject* call_op(OpDef* op, PyObject* const* args, size_t nargs, PyObject* kwnames) {
  return guarded(op, [&] {
    if (!kwnames) {
      if (PyObject* r = fast_call(op, args, nargs)) return r;
      if (PyObject* r = fast_call_of_values(op, args, nargs)) return r;
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

void set_current_error(const OpDef* op) {
  try {
    throw;
  } catch (const PythonError&) {
    name_exhausted_memory(op);
  } catch (const Error& e) {
    set_python_error(e, op);
  } catch (const std::bad_alloc&) {
    set_python_error(Error(Code::kResourceExhausted, "out of memory"), op);
  } catch (const std::exception& e) {
    set_python_error(Error(Code::kInternal, e.what()), op);
  }
}

void set_python_error(const Error& e, const OpDef* op) {
  std::string message = e.message;
  if (op) message += " [Op:" + *op->name + "]";
  if (!hooks.error_from_code) {
    PyErr_SetString(PyExc_RuntimeError, message.c_str());
    return;
  }
  const Ref error = Ref::or_null(PyObject_CallFunction(hooks.error_from_code, "is#", static_cast<int>(e.code), message.data(),
                                                       static_cast<Py_ssize_t>(message.size())));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

void name_exhausted_memory(const OpDef* op) {
  if (!PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_MemoryError)) return;
  Raised raised;
  raised.normalize();
  PyObject* cause = raised.value;
  if (cause && PyObject_HasAttrString(cause, "error_code")) return raised.restore();  // it is one already
  std::string message = "out of memory";
  if (const Ref written = Ref::or_null(cause ? PyObject_Str(cause) : nullptr)) {
    const char* text = PyUnicode_AsUTF8(written.get());
    if (text && *text) message = text;
  }
  PyErr_Clear();
  set_python_error(Error(Code::kResourceExhausted, message), op);
  Raised named;
  named.normalize();
  if (named.value && cause) PyException_SetCause(named.value, Py_NewRef(cause));
  Py_XSETREF(named.trace, Py_XNewRef(raised.trace));
  named.restore();
}

}  // namespace tapeflow
