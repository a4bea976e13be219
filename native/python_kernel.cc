#include "python_kernel.h"

#include <string>
#include <vector>

#include "attrs.h"
#include "arrays.h"
#include "guard.h"
#include "ref.h"
#include "variable.h"
#include "weak.h"

namespace tapeflow {

namespace {

PyObject* numpy_module = nullptr;
PyObject* errstate_type = nullptr;
PyObject* errstate_kwnames = nullptr;   // ("all",)
PyObject* ignore = nullptr;

class PythonKernel {
 public:
  explicit PythonKernel(const PythonCall& c) : c_(c) {}

  void run() {
    if (!c_.op->kernel) throw unimplemented(*c_.op->name, " has no kernel for these inputs");
    const size_t n_attrs = c_.op->attrs->size();
    std::vector<OwnedVariable> variables;  // those that the schema names as resources: what the kernel reads, computes and assigns
    std::vector<Ref> inputs;
    inputs.reserve(c_.op->inputs->size());
    size_t at = 0, list = 0;
    for (const Arg& spec : *c_.op->inputs) {
      if (!spec.list) {
        see_variable(spec, c_.in[at], &variables);
        inputs.emplace_back(argument(spec, c_.in[at++]));
        continue;
      }
      const int n = c_.list_sizes[list++];
      Ref l = unfinished_list(n);
      for (int k = 0; k < n; ++k) {
        see_variable(spec, c_.in[at], &variables);
        PyList_SET_ITEM(l.get(), k, argument(spec, c_.in[at++]));
      }
      inputs.emplace_back(whole(std::move(l)));
    }
    VariableLocks locks(static_cast<int64_t>(variables.size()), [&](int64_t i) { return std::move(variables[static_cast<size_t>(i)]); });
    std::vector<PyObject*> args{numpy_module};
    args.reserve(1 + inputs.size() + n_attrs);
    for (const Ref& input : inputs) args.push_back(input.get());
    const Ref names(PyTuple_New(static_cast<Py_ssize_t>(n_attrs)));
    for (size_t i = 0; i < n_attrs; ++i) {
      PyTuple_SET_ITEM(names.get(), i, Py_NewRef((*c_.op->attrs)[i].name));
      args.push_back(attr_value(i));
    }
    const Ref kernel = Ref::share(c_.op->kernel);  // a call may replace it
    const Ref quiet(PyObject_Vectorcall(errstate_type, &ignore, 0, errstate_kwnames));
    Ref(PyObject_CallMethod(quiet.get(), "__enter__", nullptr));
    bool taken = false;
    try {
      const Ref results(PyObject_Vectorcall(kernel.get(), args.data(), 1 + inputs.size(), n_attrs ? names.get() : nullptr));
      take_results(results.get());  // NumPy's casts of the results are as quiet as its arithmetic
      taken = true;
    } catch (const std::exception&) {
      set_current_error(c_.op);
      rename_error();
    }
    {
      Raised raised;
      Ref::or_null(PyObject_CallMethod(quiet.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
      raised.restore();
    }
    if (!taken) throw PythonError();
  }

 private:
  static void see_variable(const Arg& spec, const Tensor* t, std::vector<OwnedVariable>* variables) {
    if (spec.type_var >= 0 || spec.fixed != DType::kResource) return;
    if (OwnedVariable v = variable_behind(t)) variables->push_back(std::move(v));
  }

  // New reference: what the Python kernel sees of an input: the object behind a handle, but the handle itself where the
  // op takes tensors of any dtype and hands them on.
  PyObject* argument(const Arg& spec, Tensor* t) {
    if (t->dtype != DType::kResource || spec.type_var >= 0) return to_array(t, false);
    if (!t->payload) return Py_NewRef(reinterpret_cast<PyObject*>(t));
    if (OwnedVariable v = variable_behind(t)) return reinterpret_cast<PyObject*>(v.leak());
    PyObject* found = element_object(t);
    if (found && PyWeakref_Check(found) && !referent(found)) {
      throw Error(Code::kFailedPrecondition, "The resource of this handle is gone: it was deleted.");
    }
    return to_array(t, false);
  }

  DType output_dtype(const Arg& o) const {
    return o.type_var >= 0 ? c_.types[o.type_var] : o.type_attr >= 0 ? c_.attrs[o.type_attr].type() : o.fixed;
  }

  PyObject* attr_value(size_t i) {
    if ((*c_.op->attrs)[i].kind == AttrKind::kType) return dtype_object(c_.attrs[i].type());
    return c_.attr_objects[i] ? c_.attr_objects[i] : (*c_.op->attrs)[i].object;
  }

  // Errors of NumPy and of the kernel become tf.errors.*, naming the op.
  void rename_error() {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return;  // KeyboardInterrupt and the like
    Raised raised;
    raised.normalize();
    PyObject* value = raised.value;
    const Ref code = Ref::or_null(PyObject_GetAttrString(value, "error_code"));
    PyErr_Clear();
    int number = -1;
    std::string text;
    const bool coded = code && PyLong_Check(code.get());
    if (coded) {
      number = static_cast<int>(PyLong_AsLong(code.get()));
      const Ref message = Ref::or_null(PyObject_GetAttrString(value, "message"));
      text = py_str(message ? message.get() : value);
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
    if (number < 0) return raised.restore();
    set_python_error(Error(static_cast<Code>(number), text), c_.op);
    if (coded) return;
    Raised named;
    named.normalize();
    PyException_SetCause(named.value, Py_NewRef(value));
    named.restore();
  }

  void take_results(PyObject* r) {
    const auto& specs = *c_.op->outputs;
    if (specs.empty()) return;
    if (specs.size() == 1) { take_one(specs[0], r, 0, 0); return; }
    const Ref results = elements(r, specs.size(), "results");
    size_t at = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      take_one(specs[i], PyTuple_GET_ITEM(results.get(), i), i, at);
      at += static_cast<size_t>(c_.out_sizes[i]);
    }
  }

  void take_one(const Arg& spec, PyObject* r, size_t i, size_t at) {
    const DType d = output_dtype(spec);
    if (!spec.list) { c_.out[at] = from_array(r, d); return; }
    const auto n = static_cast<size_t>(c_.out_sizes[i]);
    const Ref list = elements(r, n, "elements of an output list");
    for (size_t k = 0; k < n; ++k) c_.out[at + k] = from_array(PyTuple_GET_ITEM(list.get(), k), d);
  }

  // A copy of what the kernel returned, which may be somebody's list.
  static Ref elements(PyObject* r, size_t n, const char* what) {
    Ref all(PySequence_Tuple(r));
    if (PyTuple_GET_SIZE(all.get()) != static_cast<Py_ssize_t>(n)) {
      throw Error(Code::kInternal, text("the kernel returned ", PyTuple_GET_SIZE(all.get()), " ", what, " instead of ", n));
    }
    return all;
  }

  const PythonCall& c_;
};

}  // namespace

void run_python_kernel(const PythonCall& call) { PythonKernel(call).run(); }

bool init_python_kernel() {
  numpy_module = PyImport_ImportModule("numpy");
  if (!numpy_module) return false;
  errstate_type = PyObject_GetAttrString(numpy_module, "errstate");
  errstate_kwnames = Py_BuildValue("(s)", "all");
  ignore = PyUnicode_InternFromString("ignore");
  return errstate_type && errstate_kwnames && ignore;
}

}  // namespace tapeflow
